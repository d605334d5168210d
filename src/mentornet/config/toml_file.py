"""The config of a run as a TOML file, and what differs between two configs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from mentornet.config.groups import TrainConfig
from mentornet.errors import MentorNetError, cut, first_line
from mentornet.files import read_bytes, write_text
from mentornet.names import check_keys

__all__ = ["changed", "differences", "read_config", "to_toml", "write_config"]


_LARGEST = 1 << 15  # bytes of the largest file; TOML of very long keys takes long to read
_HUGE = 10**300  # larger whole numbers are no floats


def to_toml(config: TrainConfig) -> str:
    """Return the config as TOML: plain keys, then a table per group, without keys that are None."""
    tables = asdict(config)
    plain = {key: value for key, value in tables.items() if not isinstance(value, dict)}
    lines = [_line(key, value) for key, value in plain.items() if value is not None]
    for key, table in tables.items():
        if isinstance(table, dict):
            given = [_line(name, value) for name, value in table.items() if value is not None]
            lines += ["", f"[{key}]", *given]
    return "\n".join(lines) + "\n"


def changed(config: TrainConfig) -> dict[str, Any]:
    """Return the settings that differ from their defaults, as `group.name`.

    The result stays the same when later versions add settings.
    """
    defaults = dict(_flat(TrainConfig(config.data)))
    return {name: value for name, value in _flat(config) if value != defaults[name]}


def write_config(path: Path, config: TrainConfig) -> None:
    """Write the config to `path` atomically."""
    text = to_toml(config)
    if len(text.encode()) > _LARGEST:
        raise MentorNetError(f"the settings take more than {_LARGEST:,} bytes; use shorter paths")
    write_text(path, text)


def read_config(path: Path) -> TrainConfig:
    """Read the config from a TOML file; keys that are missing have their defaults."""
    try:
        content = tomllib.loads(read_bytes(path, _LARGEST).decode())
    except MentorNetError:
        raise
    except (ValueError, RecursionError) as error:  # also numbers of very many digits
        raise MentorNetError(f"{path} is not TOML: {first_line(error)}") from None
    if "data" not in content:
        raise MentorNetError(f'{path} must name the data, as in data = "digits"')
    try:
        return _build(TrainConfig, content, "the config")
    except MentorNetError as error:
        raise MentorNetError(f"{path}: {error}") from None


def differences(one: TrainConfig, other: TrainConfig) -> list[str]:
    """Return where two configs differ, one line per setting."""
    flat_one, flat_other = dict(_flat(one)), dict(_flat(other))
    return [
        f"{key} is {cut(repr(value), 200)}, not {cut(repr(flat_other[key]), 200)}"
        for key, value in flat_one.items()
        if flat_other[key] != value
    ]


def _flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for part in fields(config):
        value = getattr(config, part.name)
        if is_dataclass(value):
            yield from _flat(value, f"{prefix}{part.name}.")
        else:
            yield prefix + part.name, value


def _line(key: str, value: object) -> str:
    if isinstance(value, tuple):
        value = list(value)
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _build(kind: Any, content: Mapping[str, Any], where: str) -> Any:
    """Build a dataclass from a table; an unknown key or a value of a wrong type is an error."""
    hints = get_type_hints(kind)
    check_keys(content, hints, f"{where} has no key")
    values = {}
    for key, value in content.items():
        if is_dataclass(hints[key]):
            if not isinstance(value, dict):
                raise MentorNetError(f"{key} must be a table, [{key}], got {_told(value)}")
            values[key] = _build(hints[key], value, f"[{key}]")
        else:
            values[key] = _value(hints[key], value, key)
    return kind(**values)


def _value(hint: Any, value: Any, key: str) -> Any:
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    if len(kinds) == 1 and NoneType in get_args(hint):  # None is written by leaving the key out
        hint = kinds[0]
    origin, choices = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in choices:
            raise MentorNetError(f"{key} must be one of {', '.join(choices)}, got {_told(value)}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise MentorNetError(f"{key} must be a list, got {_told(value)}")
        return tuple(_value(choices[0], part, key) for part in value)
    kinds = list(choices or (hint,))
    expected = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    for kind in kinds:
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(min(max(value, -_HUGE), _HUGE)) if isinstance(value, int) else value
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
    raise MentorNetError(f"{key} must be {expected[kinds[0]]}, got {_told(value)}")


def _told(value: object) -> str:
    return cut(repr(value))
