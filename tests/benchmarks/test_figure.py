"""The picture of our benchmark."""

from __future__ import annotations

import numpy as np

from benchmarks.accuracy.figure import draw_benchmark
from mentornet.experiments.comparison import Entry
from tests.experiments.tables import tiny


def test_the_benchmark_has_a_dot_and_a_ring_for_every_cell_that_was_run() -> None:
    table = tiny()
    entries = {(cell.row, cell.column): Entry(cell) for cell in table.cells}
    ran = {"full-model": (0.5, 0.6), "oracle": (0.9,)}
    for row, values in ran.items():
        cell = entries[row, "0.4"].cell
        entries[row, "0.4"] = Entry(cell, values, best=tuple(value + 0.05 for value in values))
    empty, drawn = draw_benchmark(table, entries).axes
    assert [label.get_text() for label in empty.get_yticklabels()] == list(ran)
    assert empty.get_lines() == []
    marks = [line for line in drawn.get_lines() if line.get_marker() == "o"]
    found = [(np.asarray(line.get_xdata())[0].round(6), line.get_fillstyle()) for line in marks]
    assert found == [(55, "full"), (60, "none"), (90, "full"), (95, "none")]
    bars = [line for line in drawn.get_lines() if line.get_marker() == "None"]
    assert [50.0, 60.0] in [np.asarray(line.get_xdata()).tolist() for line in bars]
