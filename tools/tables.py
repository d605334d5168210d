"""The tables of the docs that list the members of a registry, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields

from mentornet.cli.listing import sizes_of, summary_of
from mentornet.config import StudentConfig
from mentornet.curricula import CURRICULA, make_curriculum
from mentornet.data import DATASETS, Dataset
from mentornet.mentors import ARCHITECTURES
from mentornet.methods import METHODS, Method, Needs, make_method
from mentornet.methods.weighted import WeightingMethod
from mentornet.students import STUDENTS

__all__ = ["TABLES", "literal"]

_PACE = {setting.name: setting.default for setting in fields(WeightingMethod)}


def literal(value: object) -> str:
    """A setting's value as `--set` takes it.

    >>> literal((0.2, 0.5)), literal(True), literal(""), literal(())
    ('0.2,0.5', 'true', '""', '()')
    """
    if isinstance(value, bool):
        return f"{value}".lower()
    if isinstance(value, tuple):
        return ",".join(f"{part}" for part in value) or "()"
    return '""' if value == "" else f"{value}"


def methods() -> str:
    """All methods: what they do, their settings with defaults, and what they need."""
    rows = (
        (f"`{name}`", method.summary, _method_settings(method), _needs(method.needs))
        for name, method in ((name, make_method(name)) for name in METHODS)
    )
    table = _table(("method", "what it does", "settings and their defaults", "needs"), rows)
    pace = ", ".join(_setting(name, value) for name, value in _PACE.items())
    return f"{table}\n\nThe **pace** is the settings that several methods share: {pace}."


def students() -> str:
    """All students: what they are for, and the sizes that options set."""
    options = {option.name for option in fields(StudentConfig)}
    rows = (
        (
            f"`{name}`",
            summary_of(factory),
            _settings({key: size for key, size in sizes_of(factory).items() if key in options}),
        )
        for name, factory in STUDENTS.items()
    )
    return _table(("student", "what it is", "sizes and their defaults"), rows)


def datasets() -> str:
    """All named datasets: what they are, where their files are, and how large they are."""
    rows = (
        (f"`{name}`", _about(dataset), f"{dataset.count:,}", f"{dataset.classes:,}")
        for name, dataset in DATASETS.items()
    )
    return _table(("DATA", "what it is", "training samples", "classes"), rows)


def curricula() -> str:
    """All curricula: their weights, and their settings with defaults."""
    rows = (
        (f"`{name}`", summary_of(kind), _settings(make_curriculum(name).settings))
        for name, kind in CURRICULA.items()
    )
    return _table(("curriculum", "weight v* of a sample with loss ℓ", "settings"), rows)


def architectures() -> str:
    """All networks that a mentor can be."""
    rows = ((f"`{name}`", summary_of(kind)) for name, kind in ARCHITECTURES.items())
    return _table(("mentor", "what it is"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "methods": methods,
    "students": students,
    "datasets": datasets,
    "curricula": curricula,
    "architectures": architectures,
}


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _setting(name: str, value: object) -> str:
    """A setting with its default; of a long list only the ends."""
    if isinstance(value, tuple) and len(value) > 4:
        return f"`{name}={literal(value[:2])},…,{literal(value[-1:])}`"
    return f"`{name}={literal(value)}`"


def _settings(values: Mapping[str, object]) -> str:
    return ", ".join(_setting(name, value) for name, value in values.items())


def _method_settings(method: Method) -> str:
    """Own settings first; of the pace only what differs from its usual default."""
    if not isinstance(method, WeightingMethod):
        return _settings(method.settings)
    own = {name: value for name, value in method.settings.items() if name not in _PACE}
    others = {
        name: value
        for name, value in method.settings.items()
        if name in _PACE and value != _PACE[name]
    }
    shown = [part for part in (_settings(own), "the pace") if part]
    if others:
        shown[-1] = f"the pace, but {_settings(others)}"
    return "; ".join(shown)


def _needs(needs: Needs) -> str:
    """What a method needs of a run, in words."""
    said = {
        "true labels": needs.true_labels,
        "verdicts": needs.verdicts == "required",
        "verdicts, if there are any": needs.verdicts == "optional",
        f"{needs.students} students": needs.students > 1,
        "a second view": needs.second_view,
        "an average of the student": needs.student_average is not None,
        "one process": needs.one_process,
        "the whole batch": needs.whole_batch,
    }
    return "; ".join(words for words, holds in said.items() if holds)


def _about(dataset: Dataset) -> str:
    """What is known of a dataset, with settings as flags."""
    text = dataset.about
    for option in dataset.options:
        text = text.replace(f"`{option}`", f"`--{option}`")
    return text
