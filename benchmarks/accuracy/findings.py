"""What we make of the results, in words: each number in them is looked up when the page is made.

The text is a Jinja template. `{{ last("elr", "0.4", seed=0) }}` becomes the accuracy of that run at
its last epoch; a number whose run is not there reads "(not run yet)".
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError

from benchmarks.accuracy.tables import TABLES
from mentornet.errors import MentorNetError
from mentornet.experiments.cells import Cell
from mentornet.experiments.comparison import compare, gap_closed, read_cell
from mentornet.experiments.results import Results

__all__ = ["UNKNOWN", "render_findings"]

UNKNOWN = "(not run yet)"
_TABLES = {name: make() for name, make in TABLES.items()}
_SHARES: dict[str, Callable[[Cell, Mapping[str, Any]], float]] = {
    "last": read_cell,
    "best": lambda cell, result: result["run"]["accuracy_best"],  # noqa: ARG005
    "fitted": lambda cell, result: result["train_accuracy"],  # noqa: ARG005
    "right": lambda cell, result: 1 - result["run"]["noise_rate_actual"],  # noqa: ARG005
}
"""The accuracy of the last epoch and of the best; of how many training samples the student predicts
the given label at the end; how many of the given labels are right."""


def render_findings(text: str, results: Results) -> str:
    """The text with its numbers, accuracies and shares in percent.

    Args:
        text: a template, which may call `last`, `best`, `fitted`, `right`, and what `_Numbers` has.
        results: where the numbers are.
    """
    numbers = _Numbers(results)
    jinja = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    called = {name: partial(numbers.share, name) for name in _SHARES} | {
        "curve": numbers.curve, "tried": numbers.tried, "gap": numbers.gap,
        "earlier": numbers.earlier, "held_out_error": numbers.held_out_error,
    }  # fmt: skip
    try:
        return jinja.from_string(text).render(called)
    except TemplateError as error:
        raise MentorNetError(f"the findings cannot be read: {error}") from None


class _Numbers:
    def __init__(self, results: Results) -> None:
        self.results = results

    def share(
        self, name: str, row: str, column: str, seed: int | None = None, table: str = "benchmark"
    ) -> str:
        """One of `_SHARES`, with that seed or as the mean of all there are."""
        cell = _cell(table, row, column)
        found = self._found(cell, seed)
        if not found:
            return UNKNOWN
        return _percent(statistics.fmean(_SHARES[name](cell, result) for result in found))

    def curve(
        self, row: str, column: str, name: str, epoch: int, seed: int = 0, table: str = "benchmark"
    ) -> str:
        """A figure of the curve, such as `mean_weight`, after that epoch."""
        found = self._found(_cell(table, row, column), seed)
        if not found:
            return UNKNOWN
        values = found[0]["curve"].get(name, ())
        if not 0 < epoch <= len(values):
            raise MentorNetError(f"the findings name {name} at epoch {epoch}, which {row} has not")
        return f"{values[epoch - 1]:.2f}"

    def tried(self, row: str, column: str, settings: str, table: str = "benchmark") -> str:
        """What a trial of tuning came to on the labels held out."""
        found = self._found(_cell(table, row, column), 0)
        if not found:
            return UNKNOWN
        for trial in found[0]["tried"] or ():
            if " ".join(trial["set"]) == settings:
                return _percent(trial["validation_accuracy"])
        raise MentorNetError(f"the findings name {settings}, which was not tried for {row}")

    def gap(self, row: str, column: str, table: str = "benchmark") -> str:
        """The share of the gap to the oracle that a method closes."""
        closed = gap_closed(compare(_TABLES[table], self.results), row, column)
        return UNKNOWN if closed is None else f"{100 * closed:.0f}"

    def held_out_error(self, row: str, column: str, seed: int = 0, table: str = "benchmark") -> str:
        """The error of the last mentor that was learned, on verified samples held out."""
        found = self._found(_cell(table, row, column), seed)
        if not found:
            return UNKNOWN
        lessons = found[0]["run"].get("lessons")
        if not lessons:
            raise MentorNetError(f"the findings name the mentors of {row}, which has learned none")
        return f"{lessons[-1]['error']:.3f}"

    def earlier(self, folder: str, row: str, column: str, table: str = "benchmark") -> str:
        """The last epoch of a run of an earlier protocol, stored in a folder beside the results."""
        wanted = _identity(asdict(_cell(table, row, column).run.config))
        found = [
            result
            for result in Results(self.results.folder / folder).every()
            if _identity(result["config"]) == wanted
        ]
        if len(found) > 1:
            raise MentorNetError(f"{folder} has {len(found)} runs of {row} at {column}")
        return _percent(found[0]["run"]["accuracy_last"]) if found else UNKNOWN

    def _found(self, cell: Cell, seed: int | None) -> list[dict[str, Any]]:
        """Return the results of these seeds, in any number format if none was left to choose."""
        found = []
        for number in range(cell.seeds or 1) if seed is None else [seed]:
            job = cell.run.with_seed(number)
            exact = self.results.find(job)
            found += self.results.of_any_format(job)[:1] if exact is None else [exact]
        return found


def _identity(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a run has in common with that of an earlier protocol: data, noise, method and seed."""
    noise = config["labels"].get("noise")
    return config["data"], noise, config["method"]["method"], config["seed"]


def _cell(table: str, row: str, column: str) -> Cell:
    for cell in _TABLES[table].cells:
        if (cell.row, cell.column) == (row, column):
            return cell
    raise MentorNetError(f"the findings name a cell that {table} has not: {row}, {column}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
