"""The tables of our benchmark: their keys, their settings, and how they are run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy.__main__ import main
from benchmarks.accuracy.tables import TABLES, benchmark, transfer
from mentornet.cli import reproduce_cells
from mentornet.experiments import duration
from mentornet.experiments.jobs import Job
from mentornet.experiments.runs import Run
from mentornet.methods import make_method
from mentornet.methods.settings import parse_settings
from tests.experiments.tables import check_settings, run_in_this_process, tiny


@pytest.mark.parametrize("name", list(TABLES))
def test_every_cell_has_settings_that_exist(name: str) -> None:
    assert TABLES[name]().name == name
    check_settings(TABLES[name]())


def test_a_key_changes_with_the_weights_of_the_mentor(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [cell.run for cell in transfer().cells]
    before = [run.key for run in runs]
    monkeypatch.setattr("mentornet.experiments.runs.shipped", dict)
    after = [Run(run.config, run.tuning).key for run in runs]
    assert [one != two for one, two in zip(before, after, strict=True)] == [
        run.config.method.method == "mentornet-dd" for run in runs
    ]


@pytest.mark.parametrize("name", list(TABLES))
def test_pd_and_dd_are_compared_on_the_same_terms(name: str) -> None:
    """At small scale SPADE starts and weighs alike under every mentor."""
    for cell in TABLES[name]().cells:
        if cell.row in ("mentornet-pd", "mentornet-dd"):
            about = cell.run.config.method
            method = make_method(about.method or "", **parse_settings(about.set))
            pace = ("burn_in", "burn_in_drop", "smoothing")
            assert [method.settings[name] for name in pace] == [0.1, 0.0, 0.8]


@pytest.mark.parametrize("name", list(TABLES))
def test_every_table_has_an_estimate(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duration, "_time_step", lambda config, batch: 1.0)
    runs = list(TABLES[name]().runs(1))
    assert duration.Clock().minutes(runs) > len(runs) * 100 / 60


def test_a_recipe_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duration, "_time_step", lambda config, batch: 0.01)
    run = next(cell.run for cell in benchmark().cells if cell.row == "cleanlab-prune")
    assert isinstance(run, Run)
    plain = duration.Clock().minutes([Run(run.config)])
    assert duration.Clock().minutes([run]) == pytest.approx((1 + 3 * 0.5) * plain)


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES, "tiny", tiny)
    monkeypatch.setattr(reproduce_cells, "run_locally", run_in_this_process)
    words = ["tiny", "--only", "row=full-model", "column=0.4", "--out", f"{tmp_path}"]
    assert main([*words, "--list"]) == 0
    assert capsys.readouterr().out.count("0 of 1") == 1
    assert main([*words, "--precision", "32", "--jobs", "1"]) == 0
    assert "1 of 1 runs" in capsys.readouterr().out
    (path,) = tmp_path.glob("*.json")
    before = path.stat().st_mtime_ns
    assert main(words) == 0
    assert path.stat().st_mtime_ns == before  # what is there is not made again
    assert main([*words, "--seeds", "0"]) == 2
    assert "seeds must be ≥ 1, got 0" in capsys.readouterr().err
    assert main(["tinny"]) == 2
    assert "unknown table 'tinny'; did you mean 'tiny'" in capsys.readouterr().err


def settings_of(run: Job) -> dict[str, Any]:
    """The settings of the method of a run, all of them."""
    about = run.config.method
    return dict(make_method(about.method, **parse_settings(about.set)).settings)


def rows_at(noise: str) -> dict[str, Job]:
    return {cell.row: cell.run for cell in benchmark().cells if cell.column == noise}


@pytest.mark.parametrize("noise", ["0.2", "0.4", "0.8"])
def test_what_is_taught_is_the_only_difference(noise: str) -> None:
    rows = rows_at(noise)
    for plain, taught in (("mentornet-pd", "mentornet-pd taught"), ("elr", "elr taught")):
        one, other = rows[plain], rows[taught]
        verified = replace(one.config.labels, clean_count=1_000)
        assert other.config == replace(one.config, labels=verified)
        assert other.tuning == one.tuning
        assert verified == rows["mentornet-dd"].config.labels  # the same seed draws the same ones
    dd, untaught = rows["mentornet-dd"], rows["mentornet-dd untaught"]
    assert settings_of(untaught) == {**settings_of(dd), "teaches_verified": False}
    assert replace(untaught.config, method=dd.config.method) == dd.config


@pytest.mark.parametrize("noise", ["0.2", "0.4", "0.8"])
def test_others_and_dd_are_tuned_like_pd(noise: str) -> None:
    """Among the values is the share of the authors: 10 epochs of 200, and 10 of 512."""
    rows = rows_at(noise)
    assert rows["mentornet-dd tuned"].tuning == rows["mentornet-pd"].tuning
    for row, key, of_the_authors in (
        ("co-teaching tuned", "rise", 10 / 200), ("mentormix tuned", "burn_in", 10 / 512),
    ):  # fmt: skip
        tuning = rows[row].tuning
        assert tuning is not None
        tried = [parse_settings(words)[key] for words in tuning.candidates]
        assert any(value == pytest.approx(of_the_authors, abs=0.001) for value in tried)
        assert 0.1 in tried
        assert settings_of(rows[row]) == settings_of(rows[row.removesuffix(" tuned")])
