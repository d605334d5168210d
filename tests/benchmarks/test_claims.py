"""Whether what was to be shown is shown: from made-up results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy.claims import check_claims, wins_and_losses
from benchmarks.accuracy.page import FINDINGS, render_results
from benchmarks.accuracy.tables import benchmark, human, transfer
from mentornet.experiments.cells import Table
from mentornet.experiments.comparison import compare, gap_closed
from mentornet.experiments.results import Results

_LAST = {
    "full-model": 0.5, "mentornet-pd": 0.6, "mentornet-dd": 0.75, "elr": 0.8, "oracle": 0.9,
    "mentornet-pd paper": 0.6, "mentornet-dd paper": 0.55,
}  # fmt: skip


def fill(results: Results, table: Table, last: dict[str, float]) -> None:
    """Every cell of the table, best epochs a point above the last."""
    for cell in table.cells:
        accuracy = last.get(cell.row, 0.55)
        run: dict[str, Any] = {
            "accuracy_last": accuracy, "accuracy_best": accuracy + 0.01, "seconds": 60.0,
            "noise_rate_actual": 0.36, "seed": cell.run.config.seed, "notes": [],
        }  # fmt: skip
        if cell.row.startswith("mentornet-dd"):
            run["lessons"] = [{"error": error, "error_before": 0.4} for error in (0.25, 0.125)]
        about = {"mentornet": "0", "commit": "c", "torch": "t", "python": "p", "processor": "x"}
        trial = {"set": ["a=1"], "validation_accuracy": 0.3, "seconds": 90.0}
        tried = [trial, trial] if cell.run.tuning else None
        seen = {
            "train_accuracy": 0.7, "curve": {"mean_weight": [0.25, 0.5]},
            "config": asdict(cell.run.config), "settings": {},
        }  # fmt: skip
        conditions = {**about, "cores": 2}
        for seed in range(cell.seeds or 1):
            made = {"run": {**run, "seed": seed}, "conditions": conditions, "tried": tried, **seen}
            results.write(cell.run.with_seed(seed), made)


def test_nothing_is_claimed_before_it_was_run(tmp_path: Path) -> None:
    assert {claim.holds for claim in check_claims(Results(tmp_path))} == {None}


def test_claims_that_hold_and_some_that_do_not(tmp_path: Path) -> None:
    results = Results(tmp_path)
    fill(results, benchmark(), _LAST)
    fill(results, transfer(), _LAST)
    fill(results, human(), {**_LAST, "full-model": 0.745})  # its best epoch has 0.755
    found = {claim.text: claim for claim in check_claims(results)}
    assert len(found) == 14
    failed = [text for text, claim in found.items() if not claim.holds]
    assert failed.pop(0) == "the same with PD and DD as in the paper"
    assert [text.split(",")[0] for text in failed] == ["labels by people"] * 2
    alike = "50.0 (50.0–50.0), 60.0 (60.0–60.0), 75.0 (75.0–75.0)"
    assert found["at 0.4: full-model < PD < DD"].found == alike
    assert found["at 0.8: DD closes at least 60 % of the gap to the oracle"].found == "62 %"


def test_where_dd_wins_and_loses(tmp_path: Path) -> None:
    results, table = Results(tmp_path), benchmark()
    fill(results, table, {**_LAST, "gce": 0.752, "sce": 0.748})
    line = wins_and_losses(table, compare(table, results)).splitlines()[0]
    ahead, level, behind = line.split("; ")
    assert ahead.startswith("- 0.2: ahead of full-model (+25.0, n=3), ")
    assert "mentornet-pd (+15.0, n=3)" in ahead
    assert level == "level with gce (−0.2), sce (+0.2)"
    assert behind == "behind elr (−5.0, n=3)."


def test_only_the_same_seeds_are_compared(tmp_path: Path) -> None:
    """Seed 0 is harder than the others: who has only that one is not behind for it."""
    results, table = Results(tmp_path), benchmark()
    fill(results, table, _LAST)
    for row, last in (("mentornet-dd", 0.65), ("full-model", 0.4), ("oracle", 0.8)):
        cell = next(cell for cell in table.cells if (cell.row, cell.column) == (row, "0.2"))
        found = results.find(cell.run)
        assert found is not None
        results.write(cell.run, {**found, "run": {**found["run"], "accuracy_last": last}})
    entries = compare(table, results)
    line = wins_and_losses(table, entries).splitlines()[0]
    assert "gce (+10.0)" in line  # 0.65 − 0.55, not 0.717 − 0.55
    assert gap_closed(entries, "gce", "0.2") == pytest.approx((0.55 - 0.4) / (0.8 - 0.4))
    claims = {claim.text: claim for claim in check_claims(results)}
    best = claims["at 0.2: DD is the best of the paper's methods"]
    assert best.found.startswith("forgetting 55.0, ")  # 10.0 behind on its seed, PD 11.7 on three
    assert best.holds
    assert not best.narrow


def test_what_holds_narrowly_is_called_so(tmp_path: Path) -> None:
    results = Results(tmp_path)
    fill(results, benchmark(), {**_LAST, "mentornet-pd": 0.748})
    claims = {claim.text: claim for claim in check_claims(results)}
    for text in (
        "at 0.4: full-model < PD < DD",
        "at 0.4: PD < DD, without the first seed",
        "at 0.4: DD is the best of the paper's methods",
    ):
        assert claims[text].holds
        assert claims[text].narrow
    assert "| yes, narrowly (by 0.20 points) |" in render_results(results)


def test_what_fails_by_far_does_not_fail_narrowly(tmp_path: Path) -> None:
    results = Results(tmp_path)
    last = {**_LAST, "full-model": 0.602, "mentornet-pd": 0.6, "mentornet-dd": 0.5}
    fill(results, benchmark(), last)
    claims = {claim.text: claim for claim in check_claims(results)}
    assert claims["at 0.4: full-model < PD < DD"].holds is False
    assert not claims["at 0.4: full-model < PD < DD"].narrow


def test_an_order_is_of_seeds_that_both_have(tmp_path: Path) -> None:
    """DD is behind with the seed that PD has too, and ahead on average of all that it has."""
    results, table = Results(tmp_path), benchmark()
    fill(results, table, _LAST)
    cells = {cell.row: cell.run for cell in table.cells if cell.column == "0.2"}
    results.path(cells["mentornet-pd"].with_seed(2)).unlink()
    found = results.find(cells["mentornet-dd"].with_seed(1))
    assert found is not None
    worse = {**found, "run": {**found["run"], "accuracy_last": 0.59}}
    results.write(cells["mentornet-dd"].with_seed(1), worse)
    claims = {claim.text: claim for claim in check_claims(results)}
    assert claims["at 0.2: PD < DD, without the first seed"].holds is False


def test_a_claim_may_hold_by_its_first_seed_alone(tmp_path: Path) -> None:
    results, table = Results(tmp_path), benchmark()
    fill(results, table, _LAST)
    dd = next(cell for cell in table.cells if (cell.row, cell.column) == ("mentornet-dd", "0.4"))
    for seed in (1, 2):
        found = results.find(dd.run.with_seed(seed))
        assert found is not None
        worse = {**found, "run": {**found["run"], "accuracy_last": 0.59}}
        results.write(dd.run.with_seed(seed), worse)
    claims = {claim.text: claim for claim in check_claims(results)}
    assert claims["at 0.4: full-model < PD < DD"].holds
    assert claims["at 0.4: PD < DD, without the first seed"].holds is False
    assert claims["at 0.8: PD < DD, without the first seed"].holds


def test_the_page_says_it_all(tmp_path: Path) -> None:
    results = Results(tmp_path)
    fill(results, benchmark(), _LAST)
    (tmp_path / FINDINGS).write_text("## What we found\n\nThis.\n", encoding="utf-8")
    page = render_results(results)
    best = "mentornet-pd 60.0 (60.0–60.0), DD 75.0 (75.0–75.0)"
    assert f"| at 0.2: DD is the best of the paper's methods | {best} | yes |" in page
    assert "full-model + 3 ≤ DD |  | not run yet |" in page
    assert "### 0.4: 36.0 % of the labels are wrong" in page
    assert "Not run yet:" not in page  # all are there
    assert "| spade | 0.2 | **a=1 30.0**, a=1 30.0 | 20 | 3.0 |" in page
    assert "| full-model tuned | 0.2 | **a=1 30.0**, a=1 30.0 | all | 3.0 |" in page
    assert "| elr | 80.0 (80.0–80.0) | 81.0 | 1.0 † | 3 | 75 % |" in page
    assert "| elr | early-learning regularisation, λ = 3 |" in page
    assert "This.\n" in page


def test_the_page_says_what_was_not_run(tmp_path: Path) -> None:
    results, table = Results(tmp_path), benchmark()
    fill(results, table, _LAST)
    for cell in table.cells:
        if cell.row == "gce" and cell.column != "0.4":
            results.path(cell.run).unlink()
        if cell.row == "elr" and cell.column == "0.8":
            results.path(cell.run.with_seed(1)).unlink()
    page = render_results(results)
    assert "Not run yet: gce (0.2, 0.8). With fewer seeds so far than planned: elr (0.8).\n" in page
