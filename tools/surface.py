"""The surface that users may rely on, one name a line, so that growth shows in a diff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import mentornet
from mentornet.cli.commands import COMMANDS
from mentornet.cli.listing import sizes_of
from mentornet.config import TrainConfig
from mentornet.curricula import CURRICULA, make_curriculum
from mentornet.data import DATASETS
from mentornet.mentors import ARCHITECTURES
from mentornet.methods import METHODS, make_method
from mentornet.students import STUDENTS
from tools.tables import literal

__all__ = ["surface"]


def surface() -> str:
    """All public names, commands, options and settings."""
    parts = ["# What users may rely on. `make generate` writes this file; read its diff.\n"]
    parts += (
        "\n".join([head, *(f"  {line}" for line in lines)]) + "\n" for head, lines in _sections()
    )
    return "\n".join(parts)


def _sections() -> Iterator[tuple[str, list[str]]]:
    yield "mentornet", sorted(mentornet.__all__)
    for name, entry in COMMANDS.items():
        yield f"command {name}", _fields(entry.load())
    for name, kind in get_type_hints(TrainConfig).items():
        if hasattr(kind, "__dataclass_fields__"):
            yield f"config [{name}]", _fields(kind)
    for name in METHODS:
        yield f"method {name}", _values(make_method(name).settings)
    for name in CURRICULA:
        yield f"curriculum {name}", _values(make_curriculum(name).settings)
    for name, mentor in ARCHITECTURES.items():
        yield f"architecture {name}", _fields(mentor.config_type)
    for name, factory in STUDENTS.items():
        yield f"student {name}", _values(sizes_of(factory))
    for name, dataset in DATASETS.items():
        yield (
            f"dataset {name}",
            _values({part.name: getattr(dataset, part.name) for part in fields(dataset)[3:]}),
        )


def _fields(kind: Any) -> list[str]:
    """The fields of a dataclass, with their defaults where these are plain values."""
    plain = {part.name: part.default for part in fields(kind)}
    return [
        name if default is MISSING else f"{name} = {literal(default)}"
        for name, default in plain.items()
    ]


def _values(values: Mapping[str, object]) -> list[str]:
    return [f"{name} = {literal(value)}" for name, value in values.items()]
