"""The commands as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mentornet import CURRICULA, Mentor, __version__, enumerate_features
from mentornet.cli import main, reproduce_cells
from mentornet.experiments import table6
from mentornet.mentors import Card, Lesson, error_of, read_card
from tests.experiments.tables import run_in_this_process

QUICK = ["--steps", "20", "--samples", "1000"]


def fit_to(out: Path, *words: str) -> list[str]:
    return ["fit-mentor", "--curriculum", "linear", "--out", str(out), *QUICK, *words]


def test_fit_mentor_writes_a_mentor_and_its_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "linear"
    assert main(fit_to(out, "--arch", "mlp", "--set", "lambda1=0.5", "lambda2=2")) == 0
    assert {path.name for path in out.iterdir()} == {
        "README.md",
        "card.json",
        "config.json",
        "model.safetensors",
        "record.json",
    }
    curve = json.loads((out / "record.json").read_text())
    assert len(curve["steps"]) == len(curve["errors"]) == 20
    mentor, card = Mentor.from_pretrained(out), read_card(out)
    assert isinstance(card, Card)
    assert mentor.name == "mlp"
    assert card.settings == {"lambda1": 0.5, "lambda2": 2, "relative": False}
    features = enumerate_features(1000)
    lesson = Lesson(features, card.target()(features))
    assert error_of(mentor, lesson) == pytest.approx(card.mse)
    printed = capsys.readouterr()
    assert f"{card.mse:.1e}" in printed.out
    assert list(tmp_path.iterdir()) == [out]  # nothing half-written beside it


def test_the_command_on_a_card_makes_the_same_mentor(tmp_path: Path) -> None:
    out, again = tmp_path / "one", tmp_path / "two"
    assert main(fit_to(out, "--history", "2", "--no-use-label", "--seed", "3")) == 0
    words = read_card(out).command.split()
    assert words[:2] == ["mentornet", "fit-mentor"]
    assert main([*words[1:-1], str(again)]) == 0
    one, two = (Mentor.from_pretrained(folder).state_dict() for folder in (out, again))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_overwrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mentor"
    assert main(fit_to(out)) == 0
    assert main(fit_to(out)) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main(fit_to(out, "--overwrite", "--arch", "logistic")) == 0
    assert Mentor.from_pretrained(out).name == "logistic"
    (out / "mine.txt").write_text("keep me")
    assert main(fit_to(out, "--overwrite")) == 2
    assert "holds more than a mentor (mine.txt)" in capsys.readouterr().err
    assert (out / "mine.txt").read_text() == "keep me"


def test_the_old_mentor_stays_if_the_new_one_cannot_be_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mentor"
    assert main(fit_to(out)) == 0
    before = (out / "model.safetensors").read_bytes()
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == "mentor" and target == out and path != out:
            raise OSError(28, "No space left on device", str(target))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    assert main(fit_to(out, "--overwrite", "--seed", "5")) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert (out / "model.safetensors").read_bytes() == before
    assert list(tmp_path.iterdir()) == [out]


def test_stops_early_when_told_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit-mentor", "--curriculum", "uniform", "--samples", "1000", "--goal", "0.01"]
    assert main([*words, "--out", str(tmp_path / "one")]) == 0
    assert "(goal reached)" in capsys.readouterr().out
    assert "--goal 0.01" in read_card(tmp_path / "one").command


def test_mentors_lists_what_ships(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mentors"]) == 0
    printed = capsys.readouterr().out
    for name in CURRICULA:
        assert f" {name} " in printed


@pytest.mark.parametrize("words", [["curriculum", "pd", "--set", "lambda2=2"], ["mentor", "pd"]])
def test_plot(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", *words, "--progress", "0", "99", "--out", str(tmp_path)]) == 0
    stem = "mentor-pd" if words[0] == "mentor" else "pd"
    assert {path.name for path in tmp_path.iterdir()} == {f"{stem}.png", f"{stem}.svg"}
    assert f"{stem}.png" in capsys.readouterr().out.replace("\n", "")


@pytest.mark.parametrize("name", CURRICULA)
def test_every_curriculum_can_be_plotted(name: str, tmp_path: Path) -> None:
    assert main(["plot", "curriculum", name, "--progress", "0", "--out", str(tmp_path)]) == 0
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def test_reproduce_table6(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce_cells, "run_locally", run_in_this_process)
    monkeypatch.setattr(table6, "SMALL", {"samples": 300, "steps": 4})
    monkeypatch.setenv("COLUMNS", "150")
    words = ["reproduce", "table6"]
    one = ["--only", "row=linear", "column=mlp", "--out", str(tmp_path)]
    assert main([*words, *one, "--dry-run"]) == 0
    assert "2 runs" in capsys.readouterr().out
    assert main([*words, *one, "--list"]) == 0
    assert capsys.readouterr().out.count("0 of 2") == 1
    assert main([*words, *one]) == 0
    assert "2 of 2 runs" in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.json"))) == 2
    assert not (tmp_path / "README.md").exists()  # the table is not whole
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert len(list(tmp_path.glob("*.json"))) == 64
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"architectures.png", "architectures.svg", "objectives.png", "objectives.svg"}
    printed = capsys.readouterr().out
    assert "64 of 64 runs" in printed
    assert "wrote" in printed
    page = (tmp_path / "README.md").read_text()
    assert "1.6±0.5E-6" in page
    assert "mean of 2\n" in page
    assert main([*words, "--list", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("2 of 2") == 32
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    for figure in ("fig-architectures", "fig-training"):
        assert main(["reproduce", figure, "--out", str(tmp_path)]) == 0
    assert main([*words, "--out", str(tmp_path), "--seeds", "1"]) == 0
    assert {path: path.stat().st_mtime_ns for path in made} == made  # nothing ran twice
    assert (tmp_path / "README.md").read_text() == page
    for path in made:
        path.unlink()
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "has a README.md already" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mentornet {__version__}\n"


MISTAKES = [
    (["fit-mentor", "--curriculum", "linaer", "--out", "x"], "did you mean 'linear'?"),
    (["fit-mentor", "--curriculum", "linear", "--arch", "lstm", "--out", "x"], "unknown arch"),
    (["fit-mentor", "--curriculum", "linear", "--set", "lambda1", "--out", "x"], "lambda1=0.5"),
    (["fit-mentor", "--curriculum", "linear", "--set", "lambda1=a", "--out", "x"], "a number"),
    (["fit-mentor", "--curriculum", "linear", "--set", "gamma=1", "--out", "x"], "no setting"),
    (
        ["fit-mentor", "--curriculum", "focal", "--objective", "explicit", "--out", "x"],
        "focal has no known G",
    ),
    (["fit-mentor", "--curriculum", "prediction-variance", "--out", "x"], "at least 2 steps"),
    (["fit-mentor", "--curriculum", "linear", "--samples", "0", "--out", "x"], "samples must"),
    (["fit-mentor", "--curriculum", "linear", "--out", "."], "a folder of its own"),
    (["fit-mentor", "--curriculum", "linear", "--seed", "-1", "--out", "x"], "seed must be in 0"),
    (["fit-mentor", "--curriculum", "linear", "--out", "/proc/nowhere/x"], "/proc"),
    (["plot", "curriculum", "pd", "--out", "/proc/nowhere"], "/proc"),
    (
        ["fit-mentor", "--curriculum", "linear", "--set", "relative=2", "--out", "x"],
        "true or false",
    ),
    (["plot", "curriculum", "pd", "--loss-level", "nan"], "--loss-level must be a loss ≥ 0"),
    (["fit-mentor", "--curriculum", "linear", "--history", "0", "--out", "x"], "history must"),
    (["plot", "curriculum", "nope"], "unknown curriculum 'nope'"),
    (["plot", "mentor", "nope"], "no mentor 'nope'"),
    (["plot", "mentor", "pd", "--set", "lambda1=1"], "--set is for a curriculum"),
    (["plot", "curriculum", "pd", "--progress", "100"], "progress must be in 0–99"),
    (["plot", "curriculum", "pd", "--loss-level", "-1"], "--loss-level must be a loss ≥ 0"),
    (["fit-mentors"], "unknown command 'fit-mentors'; did you mean 'fit-mentor'?"),
    (["--seed", "1", "train"], "unknown command '--seed'; "),
    (["mentors", "--lsit"], "unknown option --lsit; --help shows all options"),
    (["train", "digits", "--lr", "0.1"], "unknown option --lr; did you mean --learning-rate?"),
    (["train", "digits", "--epoch=3"], "unknown option --epoch; did you mean --epochs?"),
    (["audit", "runs", "--over-write"], "unknown option --over-write; did you mean --overwrite?"),
    (["reproduce", "table6", "--seeds", "0"], "seeds must be ≥ 1, got 0"),
    (["reproduce", "table2", "--jobs", "0"], "jobs must be ≥ 1, got 0"),
    (["reproduce", "tabel2"], "unknown table or figure 'tabel2'; did you mean 'table2'?"),
    (["reproduce", "table2", "--only", "row=nobody"], "table2 has no row 'nobody'"),
    (["reproduce", "table2", "--address", "auto"], "--address is for --engine ray"),
    (["reproduce", "fig-objectives", "--list"], "--list has no meaning for fig-objectives"),
    (["reproduce", "table6", "--only", "row=nobody"], "table6 has no row 'nobody'"),
    (["compare", "nowhere"], "nowhere has no results"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing_behind(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("mentornet: ")
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["mentors", "more"], ["predict"], ["train", "--epochs", "many"]])
def test_what_the_parser_refuses(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "fit-mentor" in capsys.readouterr().err
    assert main(["--help"]) == 0
    assert "fit-mentor" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["fit-mentor", "mentors", "plot", "reproduce", "compare"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert f"mentornet {command}" in capsys.readouterr().out.split("For example", 1)[1]
