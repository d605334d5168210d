"""What a stored file must hold, as a dataclass: one check of every field, and one message.

A reader states the fields of its file with their types. `typed` compares them with what JSON gave,
and returns the dataclass, so that no code behind it meets a missing or mistyped field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from mentornet.errors import MentorNetError, short

__all__ = ["typed"]

T = TypeVar("T")

_WORDS: dict[Any, str] = {
    int: "a whole number", str: "text", bool: "true or false", float: "a number", NoneType: "null",
    list: "a list of", dict: "an object of",
}  # fmt: skip


def typed(kind: type[T], content: Mapping[str, Any], where: str) -> T:
    """Return the fields of `content` as an instance of a dataclass.

    Fields may be bool, int, float (finite), str, None, lists, dicts with text as keys, and unions
    of these. Other keys of `content` are ignored.

    Args:
        kind: the dataclass.
        content: what the file holds.
        where: the file, for messages.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int
    ...     names: list[str] | None = None
    >>> typed(Size, {"width": 3}, "size.json")
    Size(width=3, names=None)
    >>> typed(Size, {"width": 3, "names": ["a", 4]}, "size.json")
    Traceback (most recent call last):
    mentornet.errors.MentorNetError: size.json: names must be a list of text or null, got a list
    """
    hints, found = get_type_hints(kind), {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if field.name in content:
            value, wanted = content[field.name], hints[field.name]
            if not _fits(value, wanted):
                raise MentorNetError(
                    f"{where}: {field.name} must be {_words(wanted)}, got {_told(value)}"
                )
            found[field.name] = value
        elif field.default is MISSING and field.default_factory is MISSING:
            raise MentorNetError(f"{where} has no {field.name}; was it written by mentornet?")
    return kind(**found)


def _fits(value: Any, kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is list:
        return isinstance(value, list) and all(_fits(one, arguments[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(one, arguments[1]) for one in value.values())
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return kind is Any or type(value) is kind


def _words(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(_words, arguments))
    if origin is not None:
        return f"{_WORDS[origin]} {_words(arguments[-1])}"
    return _WORDS.get(kind, "anything")


def _told(value: Any) -> str:
    """A value in a few words; of a list or an object only that it is one."""
    names: dict[type, Callable[[Any], str]] = {
        list: lambda _: "a list", dict: lambda _: "an object", NoneType: lambda _: "null",
        int: short,
    }  # fmt: skip
    return names.get(type(value), lambda other: repr(other)[:60])(value)
