"""The exception for mistakes of the user."""

from __future__ import annotations

__all__ = ["MentorNetError", "cut", "first_line", "short"]


class MentorNetError(ValueError):
    """A mistake of the user, such as a value out of range or a file that is missing.

    The message names the value, what was expected and the likely fix. The command line prints it
    without a stack trace; any other exception is a bug.
    """


def first_line(error: BaseException, length: int = 200) -> str:
    r"""Return what an error of another library says, as one line that a message can quote.

    >>> first_line(ValueError("no such column\nat line 3 of reader.cc"))
    'no such column'
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).strip().splitlines()
    text = lines[0].strip() if lines else type(error).__name__
    return cut(text, length)


def short(number: float) -> str:
    """Return a number as an error message can quote it; files may hold any number of digits.

    >>> short(-3), short(10**400)
    ('-3', 'a number of many digits')
    """
    return f"{number}" if abs(number) < 1 << 64 else "a number of many digits"


def cut(text: str, length: int = 60) -> str:
    r"""Return the text so that an error message can quote it: short, and in one line.

    Line breaks and what else a terminal would obey become spaces.

    >>> cut("two\nlines"), cut("a very long name", 8)
    ('two lines', 'a very …')
    """
    shown = text if len(text) <= length else text[: length - 1] + "…"
    return "".join(letter if letter.isprintable() else " " for letter in shown)
