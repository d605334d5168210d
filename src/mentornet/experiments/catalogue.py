"""Every table that can be made, by name."""

from __future__ import annotations

from collections.abc import Callable

from mentornet.experiments.benchmark import benchmark, full_size, human, transfer
from mentornet.experiments.cells import Scale, Table, select
from mentornet.experiments.large_tables import table4, table5
from mentornet.experiments.paper_tables import table1, table2, table3
from mentornet.names import pick

__all__ = ["FIGURES", "PAPER_TABLES", "TABLES", "figure_student", "figure_table", "find_table"]

TABLES: dict[str, Callable[[Scale], Table]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "table5": table5,
    "benchmark": benchmark,
    "full-size": full_size,
    "transfer": transfer,
    "human": human,
}

PAPER_TABLES = ("table1", "table2", "table3", "table4", "table5")
"""Those that have a paper scale."""

FIGURES = {
    "fig-objectives": "sample loss against objective: Huber, log-sum, self-paced, a learned mentor",
    "fig-errors": "training and test error over the steps",
    "fig-curricula": "the learned weight over loss and loss difference at the update points",
    "fig-architectures": "App. D: error of the architectures while they learn",
    "fig-training": "App. D: explicit against implicit training",
}


def find_table(name: str, scale: Scale) -> Table:
    """The table of that name, or an error that names the closest."""
    return pick(TABLES, name, "table")(scale)


_DRAWN = {
    "fig-errors": ("column=cifar100 {student} 0.4",),
    "fig-curricula": ("row=mentornet-dd", "column=cifar10 {student} 0.4"),
}


def figure_student(scale: Scale) -> str:
    """Whose runs the figures draw."""
    return "resnet101" if scale == "paper" else "fast"


def figure_table(name: str, scale: Scale) -> Table | None:
    """The part of Table 2 whose runs a figure draws; None for a figure that needs none."""
    if name not in _DRAWN:
        return None
    words = [word.format(student=figure_student(scale)) for word in _DRAWN[name]]
    return select(find_table("table2", scale), words)
