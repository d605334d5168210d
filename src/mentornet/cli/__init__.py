"""The command line: `mentornet COMMAND …`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mentornet.errors import MentorNetError

if TYPE_CHECKING:
    from mentornet.cli.commands import Command

__all__ = ["main"]

_EXTRAS = {
    "jinja2", "lightning_fabric", "matplotlib", "mpl_toolkits", "pandas", "PIL", "pyarrow", "rich",
    "scipy", "sklearn", "tensorboard", "tyro",
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line on standard error and exit code 2.

    A command that is stopped by a signal ends with 128 and the number of the signal.
    """
    flags: dict[str, str] = {}
    command: Command | None = None
    try:
        from mentornet.cli.signals import raised_signals

        with raised_signals():
            from mentornet.cli.commands import command_named, parse  # slow to import
            from mentornet.cli.flags import flags_of

            named = command_named(sys.argv[1:] if arguments is None else arguments)
            flags = {} if named is None else flags_of(named)
            command = parse(arguments)
            command.run()
            sys.stdout.flush()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in _EXTRAS:
            raise
        return _say(f"{error.name} is not installed; install mentornet with its extra [all]")
    except MentorNetError as error:
        _show_own_code(error.__cause__)
        return _say(_in_flags(f"{error}", flags))
    except KeyboardInterrupt as error:
        number = getattr(error, "signal", 2)  # that of Ctrl-C
        _say(f"{'interrupted' if number == 2 else 'terminated'}; {_go_on(command)}")
        return 128 + number
    except BrokenPipeError:  # as in `mentornet mentors | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except Exception as error:  # noqa: BLE001 - raised again there if it is a bug
        return _failed(error, command)
    return 0


def _failed(error: Exception, command: Command | None) -> int:
    """Report what is no mistake of the command line; raise it again if it is a bug of ours."""
    from mentornet.cli.own_code import report_of_own_code

    own = report_of_own_code(error)
    if own is not None:
        return _say(own)
    if isinstance(error, MemoryError):
        return _say(f"there is not enough memory; {_go_on(command)}")
    if not isinstance(error, OSError):
        raise error
    what = error.filename or "a file"
    return _say(f"{what}: {error.strerror or error}; {_go_on(command)}")


def _go_on(command: Command | None) -> str:
    if command is None:
        return "nothing was written; run the same command again"
    from mentornet.cli.going_on import how_to_go_on

    return how_to_go_on(command)


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
