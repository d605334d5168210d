"""Messages name settings; the command line adds the flags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from mentornet.errors import MentorNetError, cut
from mentornet.names import closest

__all__ = ["check_options", "flags_of", "with_flags"]


def flags_of(command: Any) -> dict[str, str]:
    """The flag of every setting that a command has, those of its groups included."""
    return {name: f"--{name.replace('_', '-')}" for name in _settings(command)}


def _settings(kind: Any) -> Iterator[str]:
    hints = get_type_hints(kind)
    for part in fields(kind):
        if is_dataclass(hints[part.name]):
            yield from _settings(hints[part.name])
        else:
            yield part.name


def with_flags(message: str, flags: dict[str, str]) -> str:
    """The message with settings as flags.

    A name of two words is a setting wherever it stands. A name of one word is a setting at the
    start of the message and after "the setting".

    >>> flags = {"clean_count": "--clean-count", "limit": "--limit"}
    >>> with_flags("limit is 9, but there are 5 samples; leave out clean_count", flags)
    '--limit is 9, but there are 5 samples; leave out --clean-count'
    >>> with_flags("the setting limit has no meaning here, as there is no limit", flags)
    '--limit has no meaning here, as there is no limit'
    """
    for name, flag in flags.items():
        message = re.sub(rf"\bthe setting {name}(?!\w)", flag, message)
        if "_" in name:
            message = re.sub(rf"(?<![\w-]){name}(?!\w|=)", flag, message)
        else:
            message = re.sub(rf"^{name}(?= must| is )", flag, message)
    return message


def check_options(words: Iterable[str], flags: Iterable[str]) -> None:
    """Raise if a word is no option of a command, and name the option that was probably meant.

    >>> check_options(["--lr", "0.1"], ["--epochs", "--learning-rate"])
    Traceback (most recent call last):
    mentornet.errors.MentorNetError: unknown option --lr; did you mean --learning-rate?
    """
    known = [flag.removeprefix("--") for flag in (*flags, "--help")]
    by_initials = {"".join(part[0] for part in name.split("-")): name for name in known}
    for word in words:
        option = word.partition("=")[0]
        given = option.removeprefix("--").replace("_", "-")
        if not re.match("--[A-Za-z]", option) or {given, given.removeprefix("no-")} & {*known}:
            continue
        meant = by_initials.get(given) or closest(given, known)
        hint = f"did you mean --{meant}?" if meant else "--help shows all options"
        raise MentorNetError(f"unknown option {cut(option)}; {hint}")
