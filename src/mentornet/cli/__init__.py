"""The command line: `mentornet COMMAND …`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mentornet.cli.commands import COMMANDS, overview, parse
from mentornet.cli.flags import flags_of, with_flags
from mentornet.cli.signals import raised_signals
from mentornet.errors import MentorNetError
from mentornet.names import pick
from mentornet.version import __version__

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
    words = sys.argv[1:] if arguments is None else arguments
    flags: dict[str, str] = {}
    command: Command | None = None
    if words in ([], ["-h"], ["--help"]):
        print(overview(), file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if words == ["--version"]:
        print(f"mentornet {__version__}")
        return 0
    try:
        with raised_signals():
            flags = flags_of(pick(COMMANDS, words[0], "command").load())
            command = parse(words[0], words[1:])
            command.run()
            sys.stdout.flush()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        extras = ",".join(COMMANDS[words[0]].extras)
        return _say(f"{missing} is not installed; pip install 'mentornet[{extras}]'")
    except MentorNetError as error:
        _show_own_code(error.__cause__)
        return _say(with_flags(f"{error}", flags))
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
    try:
        from mentornet.cli.going_on import how_to_go_on
    except ImportError:  # an extra is missing that this command does not need
        return "run the same command again"
    return how_to_go_on(command)


def _show_own_code(cause: BaseException | None) -> None:
    """Print the lines of the user's code, if the error comes from there."""
    if cause is not None:
        from mentornet.cli.own_code import lines_of_own_code

        for line in lines_of_own_code(cause):
            print(line, file=sys.stderr)


def _say(message: str) -> int:
    print(f"mentornet: {message}", file=sys.stderr)
    return 2
