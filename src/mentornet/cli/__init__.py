"""The command line: `mentornet COMMAND …`."""

from __future__ import annotations

import sys

from mentornet.errors import MentorNetError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line on standard error and exit code 2."""
    try:
        from mentornet.cli.commands import parse
    except ModuleNotFoundError as error:
        print(
            f"the command line needs {error.name}, which is not installed; "
            "pip install 'mentornet[all]'",
            file=sys.stderr,
        )
        return 2
    try:
        parse(arguments).run()
    except MentorNetError as error:
        print(f"mentornet: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mentornet: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    return 0
