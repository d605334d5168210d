"""Every table and figure of the paper that can be made, by name."""

from __future__ import annotations

from collections.abc import Callable

from mentornet.experiments.cells import Scale, Table, select
from mentornet.experiments.large_tables import table4, table5
from mentornet.experiments.paper_tables import table1, table2, table3
from mentornet.experiments.table6 import table6
from mentornet.names import pick

__all__ = ["FIGURES", "TABLES", "figure_student", "figure_table", "find_table"]

TABLES: dict[str, Callable[[Scale], Table]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "table5": table5,
    "table6": table6,
}

FIGURES = {
    "fig-objectives": "sample loss against objective: Huber, log-sum, self-paced, a learned mentor",
    "fig-errors": "training and test error over the steps",
    "fig-curricula": "the learned weight over loss and loss difference at the update points",
    "fig-architectures": "App. D: error of the architectures while they learn",
    "fig-training": "App. D: explicit against implicit training",
}

_DRAWN = {
    "fig-errors": ("table2", "column=cifar100 {student} 0.4"),
    "fig-curricula": ("table2", "row=mentornet-dd", "column=cifar10 {student} 0.4"),
    "fig-architectures": ("table6", "row=hard-negative-mining", "row=temporal-mixture"),
    "fig-training": ("table6", "row=self-paced", "row=linear", "column=bilstm*"),
}
"""The table whose jobs a figure draws, and which cells of it."""


def find_table(name: str, scale: Scale) -> Table:
    """The table of that name, at paper scale in float32, or an error that names the closest."""
    table = pick(TABLES, name, "table")(scale)
    return table.with_precision("32") if scale == "paper" else table


def figure_student(scale: Scale) -> str:
    """The student whose runs the figures draw."""
    return "resnet101" if scale == "paper" else "fast"


def figure_table(name: str, scale: Scale) -> Table | None:
    """The part of a table whose jobs a figure draws; None for a figure that needs none."""
    if name not in _DRAWN:
        return None
    table, *words = _DRAWN[name]
    words = [word.format(student=figure_student(scale)) for word in words]
    return select(find_table(table, scale), words)
