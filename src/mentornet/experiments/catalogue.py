"""Every table that can be made, by name."""

from __future__ import annotations

from collections.abc import Callable

from mentornet.experiments.benchmark import benchmark, full_size, human, transfer
from mentornet.experiments.cells import Scale, Table
from mentornet.experiments.large_tables import table4, table5
from mentornet.experiments.paper_tables import table1, table2, table3
from mentornet.names import pick

__all__ = ["FIGURES", "PAPER_TABLES", "TABLES", "find_table"]

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
