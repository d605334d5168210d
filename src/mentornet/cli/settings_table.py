"""The complete configuration of a run as a table."""

from __future__ import annotations

from dataclasses import fields

from rich import box
from rich.console import Console
from rich.table import Table

from mentornet.config import TrainConfig
from mentornet.methods.settings import parse_settings
from mentornet.training.presets import PRESETS, Stated, deviations, stated

__all__ = ["show_settings"]

_CHOSEN = ("labels.noise", "method.method")
"""What a preset leaves to the user, such as a column and a row of a table."""

_GROUPS = ("files", "labels", "student", "method", "optimiser", "machine")


def show_settings(config: TrainConfig, console: Console) -> None:
    """Print every setting of a complete config, and what its preset says of it."""
    preset = None if config.preset is None else PRESETS[config.preset]
    table = Table(title=f"{config.data}, seed {config.seed}", title_justify="left", box=box.SIMPLE)
    for head in ("group", "setting", "value", *(() if preset is None else (preset.source,))):
        table.add_column(head, no_wrap=head in ("group", "setting"), overflow="fold")
    facts = stated(config)
    for group, name, value in _rows(config):
        cells = [group, name, _text(value)]
        if preset is not None:
            key = f"{group}.{name}"
            cells.append("your choice" if key in _CHOSEN else _said(value, facts.get(key)))
        table.add_row(*cells)
    console.print(table)
    tried = None if preset is None else preset.tried.get(config.method.method or "")
    if tried is not None:
        values = ", ".join(f"{value:g}" for value in tried.values)
        console.print(f"tuned over {tried.setting} = {values} ({tried.section})")
    for line in deviations(config):
        console.print(line)


def _rows(config: TrainConfig) -> list[tuple[str, str, object]]:
    """The settings that have a value, with their group; the method's own one by one."""
    rows: list[tuple[str, str, object]] = []
    for group in _GROUPS:
        settings = getattr(config, group)
        for part in fields(settings):
            value = getattr(settings, part.name)
            if (group, part.name) == ("method", "set"):
                rows += [(group, name, own) for name, own in parse_settings(value).items()]
            elif value is not None and value != ():
                rows.append((group, part.name, value))
    return rows


def _said(value: object, fact: Stated | None) -> str:
    """Where the preset states the value, or what it states instead."""
    if fact is None:
        return "not stated"
    return fact.section if fact.value == value else f"{fact.section}: {_text(fact.value)}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(f"{part:.6g}" if isinstance(part, float) else f"{part}" for part in value)
    return f"{value:g}" if isinstance(value, float) else f"{value}"
