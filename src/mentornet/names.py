"""Look up names; errors suggest the closest known name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from mentornet.errors import MentorNetError, cut

__all__ = ["check_keys", "closest", "did_you_mean", "is_count", "pick"]

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the closest known name, and a list of all of them.

    >>> did_you_mean("linaer", ["focal", "linear"])
    "did you mean 'linear'? Known: focal, linear"
    """
    names = sorted(known)
    close = closest(name, names)
    hint = "" if close is None else f"did you mean {close!r}? "
    return f"{hint}Known: {cut(', '.join(map(cut, names)), 1_500)}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one, or None if none is like it."""
    return next(iter(difflib.get_close_matches(cut(name), list(known), n=1)), None)


def pick(table: Mapping[str, T], name: str, what: str) -> T:
    """Return the entry called `name`, or raise an error that lists the known names."""
    try:
        return table[name]
    except KeyError:
        raise MentorNetError(f"unknown {what} {cut(name)!r}; {did_you_mean(name, table)}") from None


def check_keys(given: Iterable[str], known: Iterable[str], complaint: str) -> None:
    """Raise if a key is not known; the message starts with `complaint` and the key."""
    known = set(known)
    for key in given:
        if key not in known:
            raise MentorNetError(f"{complaint} {cut(key)!r}; {did_you_mean(key, known)}")


def is_count(text: str) -> bool:
    """Whether the text is a whole number ≥ 0 in plain digits, and not too large for one.

    >>> is_count("12"), is_count("-1"), is_count("\u0661"), is_count("9" * 5000)
    (True, False, False, False)
    """
    return text.isascii() and text.isdecimal() and len(text) <= 18
