"""What a user did that we cannot go on with."""

from __future__ import annotations

__all__ = ["MentorNetError"]


class MentorNetError(ValueError):
    """A mistake at one of the public doors.

    The message names the value, what was expected and the likely fix. The
    command line prints it without a stack trace; any other exception is a bug.
    """
