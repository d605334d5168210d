"""`mentornet reproduce` and `compare`, on a table of real digits."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mentornet.cli import main, reproduce_cells
from mentornet.config import MethodConfig, TrainConfig
from mentornet.experiments import catalogue
from mentornet.experiments.catalogue import find_table
from mentornet.experiments.cells import Cell, Scale, Table
from mentornet.experiments.results import Results
from mentornet.experiments.runs import Run
from mentornet.files import read_json, write_json
from tests.experiments.tables import run_in_forks, run_in_this_process, tiny
from tests.training.runs import small


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further tables, whose runs are made in this process unless a test says otherwise."""
    monkeypatch.setattr(reproduce_cells, "run_locally", run_in_this_process)
    monkeypatch.setitem(catalogue.TABLES, "tiny", tiny)
    monkeypatch.setitem(catalogue.TABLES, "broken", broken)
    monkeypatch.setenv("COLUMNS", "120")


def broken(scale: Scale) -> Table:
    """The tiny table, and a cell whose data is missing."""
    table = tiny(scale)
    config = TrainConfig("no-such-folder", method=MethodConfig("full-model"))
    return replace(
        table, name="broken", cells=(*table.cells[:1], Cell("nobody", "0.2", Run(config)))
    )


def test_it_runs_what_is_missing_and_shows_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce_cells, "run_locally", run_in_forks)  # in two processes
    words = ["reproduce", "tiny", "--only", "column=0.4", "--out", f"{tmp_path}"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "A tiny table" in printed
    assert "3 of 3 runs" in printed
    assert "For tests." in printed
    for row in ("full-model", "reed-soft", "oracle"):
        assert row in printed
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert len(before) == 3
    assert main([*words, "--jobs", "1"]) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")} == before
    capsys.readouterr()
    assert main(["reproduce", "tiny", "--list", "--out", f"{tmp_path}"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("1 of 1") == 3
    assert listed.count("0 of 1") == 3
    assert main(["compare", f"{tmp_path}"]) == 0
    shown = capsys.readouterr().out
    assert "A tiny table" in shown
    assert main(["compare", f"{tmp_path}", "--table", "table1"]) == 2
    assert "none of a run that these tables have now" in capsys.readouterr().err
    assert main(["compare", f"{tmp_path}", "--table", "tini"]) == 2
    assert "unknown table 'tini'" in capsys.readouterr().err


def test_the_number_format_is_asked_for_and_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "tiny", "--only", "row=full-model", "column=0.4", "--out", f"{tmp_path}"]
    assert main([*words, "--precision", "bf16"]) == 0
    (found,) = Results(tmp_path).every()
    assert found["config"]["machine"]["precision"] == "bf16"
    assert main([*words, "--precision", "bf16"]) == 0  # there is nothing left to run
    assert len(list(tmp_path.glob("*.json"))) == 1
    capsys.readouterr()
    assert main([*words, "--precision", "32", "--list"]) == 0
    assert "0 of 1" in capsys.readouterr().out  # in float32 it is another result
    capsys.readouterr()
    for what in ("table6", "fig-objectives", "fig-training"):
        assert main(["reproduce", what, "--precision", "bf16", "--out", f"{tmp_path}"]) == 2
        assert f"--precision has no meaning for {what}" in capsys.readouterr().err


def test_a_cell_without_data_is_named_and_the_exit_code_is_not_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "broken", "--out", f"{tmp_path}"]) == 2
    captured = capsys.readouterr()
    assert "1 of 2 runs failed" in captured.err
    assert "unknown data 'no-such-folder'" in captured.err
    assert "Traceback" not in captured.err + captured.out
    assert len(list(tmp_path.glob("*.json"))) == 1
    (why,) = tmp_path.glob("runs/*/failed.txt")
    assert "no-such-folder" in why.read_text()
    assert main(["reproduce", "broken", "--only", "row=full-model", "--out", f"{tmp_path}"]) == 0
    assert why.exists()  # that one has still failed


def test_a_reason_that_cannot_be_written_stops_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mentornet.cli.reproduce_cells.write_text", full)
    assert main(["reproduce", "broken", "--jobs", "1", "--out", f"{tmp_path}"]) == 2
    assert "1 of 2 runs failed" in capsys.readouterr().err
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_what_is_made_after_all_has_not_failed(tmp_path: Path) -> None:
    words = ["reproduce", "tiny", "--only", "row=full-model", "column=0.4", "--out", f"{tmp_path}"]
    results = Results(tmp_path)
    why = results.failure(find_table("tiny", "small").cells[3].run)  # full-model at 0.4
    why.parent.mkdir(parents=True)
    why.write_text("no space left\n")
    assert main(words) == 0
    assert not why.exists()


def test_the_plan_times_real_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["reproduce", "tiny", "--dry-run", "--seeds", "2", "--out", f"{out}"]) == 0
    printed = capsys.readouterr().out
    assert "12 runs" in printed
    assert "min" in printed
    assert "one after the other" in printed
    assert not out.exists()


def test_all_tables_and_figures_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [*catalogue.TABLES, *catalogue.FIGURES]
    assert main(["reproduce"]) == 2
    assert "WHAT is missing: name a table or a figure" in capsys.readouterr().err


def test_the_plan_at_paper_scale_is_in_hours_of_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def timed(*_: Any) -> float:
        raise AssertionError("nothing is timed")

    monkeypatch.setattr("mentornet.experiments.duration._time_step", timed)
    words = ["reproduce", "table2", "--scale", "paper", "--dry-run", "--out", f"{tmp_path}"]
    assert main(words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "84 runs" in printed
    assert "h of one GPU, if it makes 10 · 10¹² additions and multiplications a second" in printed


def test_half_a_result_stops_before_work_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "digits-half.json").write_text('{"format": 2, "run"')
    assert main(["reproduce", "tiny", "--out", f"{tmp_path}"]) == 2
    assert "digits-half.json is not JSON" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_figure_of_formulas(tmp_path: Path) -> None:
    assert main(["reproduce", "fig-objectives", "--out", f"{tmp_path}"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"objectives.png", "objectives.svg"}


def test_ray_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray").shutdown()
    words = ["reproduce", "tiny", "--engine", "ray", "--address", "127.0.0.1:1"]
    assert main([*words, "--out", f"{tmp_path}"]) == 2
    assert "there is no Ray cluster at 127.0.0.1:1" in capsys.readouterr().err


def test_ray_that_is_not_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["reproduce", "tiny", "--engine", "ray", "--out", f"{tmp_path}"]) == 2
    assert "pip install" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_compare_counts_the_seeds_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--only", "row=full-model", "column=0.2", "--seeds", "2", "--out", f"{tmp_path}"]
    assert main(["reproduce", "tiny", *words]) == 0
    capsys.readouterr()
    assert main(["compare", f"{tmp_path}"]) == 0
    assert "n=2" in capsys.readouterr().out
    assert main(["compare", f"{tmp_path}", "--seeds", "1"]) == 0
    assert "n=2" not in capsys.readouterr().out
    assert main(["compare", f"{tmp_path}", "--seeds", "0"]) == 2
    assert "seeds must be ≥ 1, got 0" in capsys.readouterr().err


STORED = Path(__file__).parents[2] / "results" / "table6"


def test_compare_shows_table_6(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{STORED}"]) == 0
    shown = capsys.readouterr().out
    assert "Mean squared error" in shown
    for number in ("3.7±1.1E-8", "1.6±0.5E-6"):  # ours and the paper's
        assert number in shown


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no error": ({"run": {"seed": 0, "seconds": 1.0}}, "has no run.mse"),
    "no conditions": ({"conditions": None}, "has no conditions"),
    "another version": ({"format": 1}, "has format 1"),
    "another kind": ({"kind": "training"}, "has no run.accuracy_last"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_compare_does_not_trip_over_a_fit_of_another_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    changes, message = DAMAGED[case]
    path = Results(STORED).path(find_table("table6", "paper").cells[0].run)
    found = {**read_json(path), **changes}
    write_json(tmp_path / path.name, {key: part for key, part in found.items() if part is not None})
    assert main(["compare", f"{tmp_path}"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_a_figure_whose_run_is_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = find_table("table2", "small").cells[-2].run  # DD on CIFAR-10 at 0.4
    figures = dict.fromkeys(("accuracy_last", "accuracy_best", "seconds", "noise_rate_actual"), 0.5)
    rest = {"train_accuracy": 0.5, "curve": {}, "tried": None, "conditions": {}, "config": {}}
    Results(tmp_path).write(run, {"run": {"seed": 0, **figures}, **rest})
    assert main(["reproduce", "fig-curricula", "--out", f"{tmp_path}"]) == 2
    assert "is there, but not the run itself with the mentors" in capsys.readouterr().err


def drawn(scale: Scale) -> Table:
    """Table 2's rows and columns that the figures take, on digits."""
    del scale
    cells = [
        Cell(row, f"{data} fast 0.4", Run(small(row, epochs=4)))
        for row in ("full-model", "mentornet-dd")
        for data in ("cifar100", "cifar10")
    ]
    return Table("table2", "Table 2 on digits", tuple(cells))


@pytest.mark.parametrize("name", ["errors", "curricula"])
def test_a_figure_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(catalogue.TABLES, "table2", drawn)
    words = ["reproduce", f"fig-{name}", "--precision", "bf16", "--out", f"{tmp_path}"]
    assert main(words) == 0
    formats = {found["config"]["machine"]["precision"] for found in Results(tmp_path).every()}
    assert formats == {"bf16"}
    for ending in ("png", "svg"):
        assert (tmp_path / f"{name}.{ending}").stat().st_size > 10_000
    text = (tmp_path / f"{name}.svg").read_text()
    assert ("MentorNet DD" if name == "errors" else "learned at") in text


def test_what_a_figure_would_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(catalogue.TABLES, "table2", drawn)
    words = ["reproduce", "fig-errors", "--out", f"{tmp_path / 'out'}"]
    assert main([*words, "--list"]) == 0
    assert capsys.readouterr().out.count("0 of 1") == 2
    assert main([*words, "--dry-run", "--precision", "bf16"]) == 0
    assert "2 runs" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main([*words, "--only", "row=full-model"]) == 2
    assert "--only has no meaning for fig-errors" in capsys.readouterr().err
