"""Presets: settings of somebody's experiments that fill in what a config leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mentornet.config import TrainConfig
from mentornet.errors import MentorNetError
from mentornet.methods.method import Setting
from mentornet.methods.settings import in_words, overridden, parse_settings
from mentornet.names import pick
from mentornet.training.paper import METHODS_OF_THE_PAPER, PAPER, TRIED, Facts, Tried, Value

__all__ = ["PRESETS", "Preset", "Stated", "deviations", "stated", "with_preset"]

_LENGTH = ("optimiser.epochs", "optimiser.steps")  # a run has one of the two


@dataclass(frozen=True)
class Preset:
    """The settings of somebody's experiments.

    Attributes:
        facts: what is known of them; of two facts on one setting, the later one counts.
        methods: the methods in them.
        tried: what they tune, by method.
        source: who says so, in words.
    """

    facts: tuple[Facts, ...]
    methods: tuple[str, ...]
    tried: Mapping[str, Tried]
    source: str

    @property
    def data(self) -> tuple[str, ...]:
        """The datasets that it knows."""
        return tuple(dict.fromkeys(name for facts in self.facts for name in facts.data))


PRESETS = {"paper": Preset(PAPER, METHODS_OF_THE_PAPER, TRIED, "the paper")}
"""The presets by name."""


@dataclass(frozen=True)
class Stated:
    """The value of one setting, and where it is stated."""

    value: Value
    section: str


def stated(config: TrainConfig) -> dict[str, Stated]:
    """Return what the preset of a config says, by setting, for its data, student and method.

    >>> found = stated(TrainConfig("cifar10", preset="paper"))
    >>> found["optimiser.batch_size"]
    Stated(value=128, section='App. E.1')
    """
    if config.preset is None:
        return {}
    preset = pick(PRESETS, config.preset, "preset")
    if config.data not in preset.data:
        raise MentorNetError(
            f"preset {config.preset!r} knows {', '.join(preset.data)}, got {config.data!r}; "
            "leave out preset, or set what you need of it yourself"
        )
    method, transfer = _method(config), bool(_settings(config).get("mentor"))
    found: dict[str, Stated] = {}
    for facts in preset.facts:
        if (
            _covers(facts.data, config.data)
            and _covers(facts.students, config.student.student)
            and _covers(facts.methods, method)
            and facts.transfer in (None, transfer)
        ):
            found |= {key: Stated(value, facts.section) for key, value in facts.values.items()}
    if config.labels.verdicts:
        found.pop("labels.clean_count", None)  # they name the verified samples
    return {key: fact for key, fact in found.items() if fact.value is not None}


def with_preset(config: TrainConfig) -> TrainConfig:
    """Return the config with everything filled in that it leaves open and its preset states.

    >>> config = with_preset(TrainConfig("cifar100", preset="paper"))
    >>> config.student.student, config.method.method, config.optimiser.steps
    ('resnet101', 'mentornet-pd', 39000)
    """
    facts = stated(config)
    if not facts:
        return config
    given = _flat(config)
    own = {key.removeprefix("method."): fact.value for key, fact in facts.items() if _own(key)}
    words: dict[str, Any] = own
    groups: dict[str, dict[str, Value]] = {}
    for key, fact in facts.items():
        group, _, name = key.partition(".")
        rivals = _LENGTH if key in _LENGTH else (key,)
        if not _own(key) and all(given.get(rival) is None for rival in rivals):
            groups.setdefault(group, {})[name] = fact.value
    method = replace(
        config.method, method=_method(config), set=overridden(in_words(words), config.method.set)
    )
    changes: dict[str, Any] = {
        group: replace(getattr(config, group), **values) for group, values in groups.items()
    }
    return replace(config, **changes, method=method)


def deviations(config: TrainConfig) -> list[str]:
    """Return where a complete config differs from its preset, one line for each setting.

    >>> config = with_preset(TrainConfig("cifar10", preset="paper"))
    >>> deviations(replace(config, optimiser=replace(config.optimiser, batch_size=64)))
    ['differs from the paper: batch_size is 64, not 128 (App. E.1)']
    """
    if config.preset is None:
        return []
    preset, given = pick(PRESETS, config.preset, "preset"), _flat(config)
    found = [
        f"{_shown(key, given)}, not {_other(key, fact, given)} ({fact.section})"
        for key, fact in stated(config).items()
        if given.get(key) != fact.value
    ]
    if config.method.method not in preset.methods:
        found.append(f"{config.method.method} is no method of it, and has its own settings")
    return [f"differs from {preset.source}: {line}" for line in found]


def _shown(key: str, given: Mapping[str, Any]) -> str:
    """A setting with its value; of the two lengths of a run, the one that is set."""
    if key in _LENGTH:
        key = next(rival for rival in _LENGTH if given[rival] is not None)
    return f"{key.partition('.')[2]} is {_text(given.get(key))}"


def _other(key: str, fact: Stated, given: Mapping[str, Any]) -> str:
    """The value of the preset; a length in other units has its unit."""
    unit = f" {key.partition('.')[2]}" if key in _LENGTH and given[key] is None else ""
    return f"{_text(fact.value)}{unit}"


def _covers(names: tuple[str, ...], name: str | None) -> bool:
    return not names or name in names


def _own(key: str) -> bool:
    """Whether a setting is one of the method's own."""
    return key.startswith("method.")


def _method(config: TrainConfig) -> str:
    """The method of a config; by default DD if there are verified samples, else PD."""
    labels = config.labels
    verified = labels.clean_count is not None or bool(labels.verdicts)
    return config.method.method or ("mentornet-dd" if verified else "mentornet-pd")


def _settings(config: TrainConfig) -> dict[str, Setting]:
    return parse_settings(config.method.set)


def _flat(config: TrainConfig) -> dict[str, Any]:
    """The settings by `group.name`; the method's own are `method.name`."""
    groups = ("files", "labels", "student", "optimiser")
    plain = {
        f"{group}.{name}": value
        for group in groups
        for name, value in vars(getattr(config, group)).items()
    }
    return plain | {f"method.{name}": value for name, value in _settings(config).items()}


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{part:.4g}" for part in value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else f"{value}"
