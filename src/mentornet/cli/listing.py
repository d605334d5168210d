"""Help texts that list the members of a registry."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping

__all__ = ["listed", "sizes_of", "summary_of"]

_WIDTH = 53  # of a help text in a terminal of 80 columns


def summary_of(thing: object) -> str:
    """The first line of the docstring, without its full stop.

    >>> summary_of(summary_of)
    'The first line of the docstring, without its full stop'
    """
    return (inspect.getdoc(thing) or "").partition("\n")[0].removesuffix(".")


def sizes_of(factory: Callable[..., object]) -> dict[str, object]:
    """The sizes that a student's factory takes, beside the shape of its data, with defaults."""
    parameters = inspect.signature(factory).parameters
    return {
        name: parameter.default
        for name, parameter in parameters.items()
        if name not in ("channels", "classes")
    }


def listed(before: str, members: Mapping[str, str], after: str) -> str:
    """A help text with one member a line, and its summary.

    >>> print(listed("The fruit:", {"apple": "red", "pear": "green"}, "By default apple."))
    The fruit:
      apple: red
      pear: green
    By default apple.
    """
    lines = [
        textwrap.fill(
            f"{name}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="      ",
            break_on_hyphens=False,
        )
        for name, text in members.items()
    ]  # fmt: skip
    return "\n".join([before, *lines, after])
