"""The exception for mistakes of the user."""

from __future__ import annotations

__all__ = ["MentorNetError"]


class MentorNetError(ValueError):
    """A mistake of the user, such as a value out of range or a file that is missing.

    The message names the value, what was expected and the likely fix. The command line prints it
    without a stack trace; any other exception is a bug.
    """
