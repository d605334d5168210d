from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mentornet import ARCHITECTURES
from mentornet.experiments.table6 import (
    EXPLICIT,
    LEARNING_RATES,
    PAPER,
    WEIGHTINGS,
    Cell,
    Table6,
    cells,
    run_fit,
    run_table6,
)
from mentornet.experiments.table6_page import render_bilstm, render_page
from mentornet.files import read_json

RESULTS = Path(__file__).parents[2] / "results" / "table6" / "table6.json"


def test_the_papers_protocol() -> None:
    """App. D: six weightings, five architectures, 5 repeats, 300k samples, step size 10."""
    table = Table6()
    assert (table.repeats, table.samples, table.history) == (5, 300_000, 10)
    assert len(WEIGHTINGS) == 6
    assert len(ARCHITECTURES) == 5
    assert len(list(cells())) == 6 * 5 + len(EXPLICIT)
    assert PAPER["self-paced"]["bilstm"].mean == 1.6e-6
    assert PAPER["temporal-mixture"]["logistic"].mean == 1.8e-1
    assert all(set(row) == set(ARCHITECTURES) for row in PAPER.values())
    assert set(PAPER) == set(WEIGHTINGS)


def test_one_fit() -> None:
    job = Table6(samples=2000, steps=40).job(Cell("focal", "mlp"), 0.03, repeat=1)
    result = run_fit(**job.settings)
    assert 0 < result["mse"] < 0.2
    assert len(result["curve"]["epoch"]) == len(result["curve"]["mse"]) == 40
    assert result["curve"]["epoch"][-1] == pytest.approx(40 * 256 / 2000)


def test_the_best_rate_is_chosen_on_the_first_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one pretended cell: rate 0.03 is best at first, so the other repeats run with it."""
    ran: list[tuple[float, int]] = []

    def pretend(jobs: list[Any], folder: Path, *, processes: int) -> Any:
        for job in jobs:
            rate, seed = job.settings["learning_rate"], job.settings["seed"]
            ran.append((rate, seed))
            mse = {0.01: 3.0, 0.03: 1.0, 0.1: 2.0}[rate] + seed
            yield job, {"mse": mse, "seconds": 1.0, "curve": {"epoch": [1.0], "mse": [mse]}}

    monkeypatch.setattr("mentornet.experiments.table6.run_missing", pretend)
    cell = run_table6(Table6(repeats=3), tmp_path, only=["row=focal", "column=mlp"])["cells"][0]
    assert ran == [(0.01, 0), (0.03, 0), (0.1, 0), (0.03, 1), (0.03, 2)]
    assert cell["values"] == [1.0, 2.0, 3.0]
    assert (cell["mean"], cell["n"], cell["learning_rate"]) == (2.0, 3, 0.03)
    assert cell["tried"] == {"0.01": 3.0, "0.03": 1.0, "0.1": 2.0}
    assert cell["curve"] == {"epoch": [1.0], "mse": [2.0]}


class TestCommittedResults:
    """What the README and the docs claim of App. D's table."""

    table = read_json(RESULTS)

    def mean(self, row: str, arch: str) -> float:
        for cell in self.table["cells"]:
            if (cell["row"], cell["arch"], cell["objective"]) == (row, arch, "implicit"):
                return float(cell["mean"])
        raise AssertionError(f"no result for {row} with {arch}")

    @pytest.mark.parametrize("row", WEIGHTINGS)
    def test_the_bilstm_is_at_or_below_the_paper(self, row: str) -> None:
        assert self.mean(row, "bilstm") <= PAPER[row]["bilstm"].mean

    def test_the_bilstm_is_the_best_of_five_in_at_least_five_rows(self) -> None:
        best = [
            min(ARCHITECTURES, key=lambda arch, row=row: self.mean(row, arch))  # type: ignore[misc]
            for row in WEIGHTINGS
        ]
        assert best.count("bilstm") >= 5

    def test_the_page_and_the_readme_show_these_numbers(self) -> None:
        assert (RESULTS.parent / "README.md").read_text() == render_page(self.table)
        assert render_bilstm(self.table) in (RESULTS.parents[2] / "README.md").read_text()

    def test_run_as_the_paper_ran_it_with_its_conditions(self) -> None:
        expected = Table6()
        for name in ("repeats", "samples", "history", "steps"):
            assert self.table[name] == getattr(expected, name)
        assert set(self.table["conditions"]) >= {"commit", "torch", "processor", "cores"}
        for cell in self.table["cells"]:
            assert cell["n"] == len(cell["values"]) == 5
            assert set(cell["tried"]) == {f"{rate:g}" for rate in LEARNING_RATES}
            assert cell["mean"] == pytest.approx(sum(cell["values"]) / 5)
