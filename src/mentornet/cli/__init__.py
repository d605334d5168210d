"""The command line: `mentornet COMMAND …`."""

from __future__ import annotations

import sys

from mentornet.errors import MentorNetError

__all__ = ["main"]

_EXTRAS = {
    "jinja2", "lightning_fabric", "matplotlib", "mpl_toolkits", "pandas", "PIL", "pyarrow", "rich",
    "scipy", "sklearn", "tensorboard", "tyro",
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line on standard error and exit code 2."""
    flags: dict[str, str] = {}
    try:
        from mentornet.cli.commands import command_named, parse
        from mentornet.cli.flags import flags_of

        named = command_named(sys.argv[1:] if arguments is None else arguments)
        flags = {} if named is None else flags_of(named)
        parse(arguments).run()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in _EXTRAS:
            raise
        return _say(f"{error.name} is not installed; install mentornet with its extra [all]")
    except MentorNetError as error:
        _show_own_code(error.__cause__)
        return _say(_in_flags(f"{error}", flags))
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except Exception as error:
        from mentornet.cli.own_code import report_of_own_code

        own = report_of_own_code(error)
        if own is not None:
            return _say(own)
        if not isinstance(error, OSError):
            raise
        return _say(f"{error.filename or 'a file'}: {error.strerror or error}")
    return 0


def _show_own_code(cause: BaseException | None) -> None:
    """Print the lines of the user's code, if the error comes from there."""
    if cause is not None:
        from mentornet.cli.own_code import lines_of_own_code

        for line in lines_of_own_code(cause):
            print(line, file=sys.stderr)


def _in_flags(message: str, flags: dict[str, str]) -> str:
    from mentornet.cli.flags import with_flags

    return with_flags(message, flags)


def _say(message: str) -> int:
    print(f"mentornet: {message}", file=sys.stderr)
    return 2
