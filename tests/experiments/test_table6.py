from __future__ import annotations

from pathlib import Path

import pytest

from mentornet import ARCHITECTURES
from mentornet.experiments import fits
from mentornet.experiments.comparison import compare
from mentornet.experiments.fits import Fit, FitSettings
from mentornet.experiments.jobs import Tuning
from mentornet.experiments.results import Results
from mentornet.experiments.table6 import EXPLICIT, LEARNING_RATES, PAPER, WEIGHTINGS, table6
from mentornet.experiments.table6_page import render_bilstm, render_page
from mentornet.experiments.work import make_job
from mentornet.mentors import BatchLSTMMentor
from mentornet.mentors.fitting import FitConfig, FitRecord
from mentornet.training import Observer

RESULTS = Path(__file__).parents[2] / "results" / "table6"


def test_the_papers_protocol() -> None:
    """App. D: six weightings, five architectures, 5 repeats, 300k samples, step size 10."""
    table = table6("paper")
    assert table.seeds == 5
    for cell in table.cells:
        assert (cell.run.config.samples, cell.run.config.history) == (300_000, 10)
        assert cell.reads == "mse"
    assert len(WEIGHTINGS) == 6
    assert len(ARCHITECTURES) == 5
    assert len(table.cells) == 6 * 5 + len(EXPLICIT)
    assert PAPER["self-paced"]["bilstm"].mean == 1.6e-6
    assert PAPER["temporal-mixture"]["logistic"].mean == 1.8e-1
    assert all(set(row) == set(ARCHITECTURES) for row in PAPER.values())
    assert set(PAPER) == set(WEIGHTINGS)


def test_one_fit(tmp_path: Path) -> None:
    fit = Fit(FitSettings("focal", "mlp", samples=2000, steps=40, seed=1))
    result = fit.make(("learning_rate=0.03",), tmp_path, Observer())
    assert 0 < result["run"]["mse"] < 0.2
    assert result["run"]["learning_rate"] == result["config"]["learning_rate"] == 0.03
    assert len(result["curve"]["epoch"]) == len(result["curve"]["mse"]) == 40
    assert result["curve"]["epoch"][-1] == pytest.approx(40 * 256 / 2000)
    assert fit.make(("learning_rate=0.03",), tmp_path, Observer())["curve"] == result["curve"]


def test_the_rnn_reads_each_batch_of_a_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def pretend(mentor: BatchLSTMMentor, *_: object, **__: object) -> FitRecord:
        read.append(mentor.config.run)
        return FitRecord([1], [0.5], error=0.5)

    monkeypatch.setattr(fits, "fit_curriculum", pretend)
    for size in (256, 64):
        fit = Fit(FitSettings("focal", "batch-lstm", samples=300, batch_size=size))
        assert fit.make((), tmp_path, Observer())["config"]["run"] == size
    assert read == [256, 64]


def test_a_key_changes_with_every_setting() -> None:
    fit = Fit(FitSettings("linear", "mlp"))
    assert fit.key.startswith("linear-mlp-implicit-0-")
    assert fit.with_precision("bf16").key == fit.key
    said = Fit(FitSettings("linear", "mlp", curriculum_settings={"lambda1": 1.0}))
    assert said.key == fit.key  # that is its default
    others = [
        fit.with_seed(1),
        Fit(FitSettings("linear", "mlp", "explicit")),
        Fit(FitSettings("linear", "mlp", samples=10)),
        Fit(FitSettings("linear", "mlp", curriculum_settings={"lambda1": 0.5})),
        Fit(fit.config, Tuning((("learning_rate=0.1",),))),
    ]
    assert len({job.digest for job in (fit, *others)}) == 6


def test_the_best_rate_is_chosen_on_the_first_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pretended fits: rate 0.03 is best at first, so the other repeats run with it."""
    ran: list[tuple[float, int]] = []

    def pretend(mentor: object, curriculum: object, features: object, config: FitConfig,
                **_: object) -> FitRecord:  # fmt: skip
        ran.append((config.learning_rate, config.seed))
        error = {0.01: 3.0, 0.03: 1.0, 0.1: 2.0}[config.learning_rate] + config.seed
        return FitRecord([1], [error], error=error, seconds=1.0)

    monkeypatch.setattr(fits, "fit_curriculum", pretend)
    tuning = Tuning(tuple((f"learning_rate={rate:g}",) for rate in LEARNING_RATES))
    fit = Fit(FitSettings("focal", "mlp", samples=300), tuning)
    made = [make_job(fit.with_seed(seed), tmp_path) for seed in range(3)]
    assert ran == [(0.01, 0), (0.03, 0), (0.1, 0), (0.03, 0), (0.03, 1), (0.03, 2)]
    assert [result["run"]["mse"] for result in made] == [1.0, 2.0, 3.0]
    for result in made:
        assert [trial["mse"] for trial in result["tried"]] == [3.0, 1.0, 2.0]
        assert result["kind"] == "fit"


class TestCommittedResults:
    """What the README and the docs claim of App. D's table."""

    table, results = table6("paper"), Results(RESULTS)
    entries = compare(table, results)

    def mean(self, row: str, arch: str) -> float:
        mean = self.entries[row, arch].mean
        assert mean is not None
        return mean

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
        page = render_page(self.table, self.results, 5)
        assert (RESULTS / "README.md").read_text() == page
        assert render_bilstm(self.entries) in (RESULTS.parents[1] / "README.md").read_text()

    def test_run_as_the_paper_ran_it_with_its_conditions(self) -> None:
        stored = {path.stem for path in RESULTS.glob("*.json")}
        assert stored == {job.key for job in self.table.runs()}
        for entry in self.entries.values():
            assert entry.seeds == (0, 1, 2, 3, 4)
        for found in self.results.every():
            assert set(found["conditions"]) >= {"commit", "torch", "processor", "cores"}
            rates = [trial["set"] for trial in found["tried"]]
            assert rates == [[f"learning_rate={rate:g}"] for rate in LEARNING_RATES]
            best = min(found["tried"], key=lambda trial: float(trial["mse"]))
            assert best["set"] == [f"learning_rate={found['run']['learning_rate']:g}"]
