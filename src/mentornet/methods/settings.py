"""Read the `key=value` settings of a curriculum or a method."""

from __future__ import annotations

from collections.abc import Mapping

from mentornet.errors import MentorNetError
from mentornet.methods.method import Setting

__all__ = ["in_words", "overridden", "parse_numbers", "parse_settings"]

_WORDS = {"true": True, "false": False, "on": True, "off": False}


def parse_settings(words: tuple[str, ...]) -> dict[str, Setting]:
    """Return the settings in words like `beta=0.9`: numbers, lists, true or false, or names.

    >>> parse_settings(("percentile=0.6", "updates=0.21,0.5", "mentor=pd", "reads_label=true"))
    {'percentile': 0.6, 'updates': (0.21, 0.5), 'mentor': 'pd', 'reads_label': True}
    """
    settings: dict[str, Setting] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not key or not equals:
            raise MentorNetError(f"a setting must look like lambda1=0.5, got {word!r}")
        if key in settings:
            raise MentorNetError(f"setting {key!r} is given twice")
        settings[key] = _value(text)
    return settings


def parse_numbers(words: tuple[str, ...]) -> dict[str, float | bool]:
    """Return the settings of a curriculum, which are numbers, true or false.

    >>> parse_numbers(("lambda1=0.5", "relative=true"))
    {'lambda1': 0.5, 'relative': True}
    """
    numbers: dict[str, float | bool] = {}
    for key, value in parse_settings(words).items():
        if isinstance(value, str | tuple):
            text = next(word for word in words if word.startswith(f"{key}=")).partition("=")[2]
            raise MentorNetError(f"{key} must be a number, true or false, got {text!r}")
        numbers[key] = value
    return numbers


def in_words(settings: Mapping[str, Setting]) -> tuple[str, ...]:
    """Return the words that `parse_settings` reads these settings from.

    >>> in_words({"percentile": 0.6, "updates": (0.21, 0.5), "reads_label": True})
    ('percentile=0.6', 'updates=0.21,0.5', 'reads_label=true')
    """
    return tuple(f"{key}={_text(value)}" for key, value in settings.items())


def overridden(words: tuple[str, ...], by: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words, those with a key of `by` replaced, and then the other words of `by`.

    >>> overridden(("beta=0.9", "steps=3"), ("steps=5", "burn_in=0"))
    ('beta=0.9', 'steps=5', 'burn_in=0')
    """
    return in_words(parse_settings(words) | parse_settings(by))


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return f"{value}".lower()
    return ",".join(map(repr, value)) if isinstance(value, tuple) else f"{value}"


def _value(text: str) -> Setting:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        numbers = tuple(_number(part) for part in text.split(","))
    except ValueError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() and "." not in text else number
