"""Reading `key=value` settings of a curriculum."""

from __future__ import annotations

from mentornet.errors import MentorNetError

__all__ = ["parse_settings"]

_WORDS = {"true": True, "false": False}


def parse_settings(words: tuple[str, ...]) -> dict[str, float | bool]:
    """Settings from words like `lambda1=0.5`.

    >>> parse_settings(("lambda1=0.5", "relative=true"))
    {'lambda1': 0.5, 'relative': True}
    """
    settings: dict[str, float | bool] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not key or not equals:
            raise MentorNetError(f"a setting must look like lambda1=0.5, got {word!r}")
        if key in settings:
            raise MentorNetError(f"setting {key!r} is given twice")
        settings[key] = _value(key, text)
    return settings


def _value(key: str, text: str) -> float | bool:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        raise MentorNetError(f"{key} must be a number, true or false, got {text!r}") from None
    return int(number) if number.is_integer() and "." not in text else number
