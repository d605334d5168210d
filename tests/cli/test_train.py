"""`mentornet train`, `predict` and `demo` as a user types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import torch
from PIL import Image

from mentornet.cli import main
from mentornet.config import read_config
from mentornet.data import load_digits
from mentornet.files import read_json
from mentornet.training import RunFolder

QUICK = ["--limit", "128", "--width", "4", "--student", "small-cnn", "--batch-size", "32"]


def train(out: Path, *words: str, data: str = "digits") -> list[str]:
    return ["train", data, *QUICK, "--epochs", "2", "--out", f"{out}", *words]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a mistake leaves on standard error."""
    lines = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert lines[-1].startswith("mentornet: ")
    assert not any("Traceback" in line for line in lines)
    return lines[-1]


def folder_of_digits(folder: Path, per_class: int = 12, classes: int = 3) -> Path:
    """Real digits as PNG files, train/<class>/…"""
    images = load_digits().train
    for label in range(classes):
        members = (images.given_label == label).nonzero().flatten()[:per_class]
        for at in members.tolist():
            path = folder / "train" / f"digit {label}" / f"{at}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(images.tensor[at, 0].numpy()).save(path)
    return folder


def test_train_says_what_came_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert main(train(out, "--noise", "uniform:0.4", "--clean-count", "50")) == 0
    printed = capsys.readouterr()
    summary = read_json(out / "summary.json")
    assert summary["method"] == "mentornet-early"
    assert f"{summary['accuracy_last']:.2%}" in printed.out
    assert f"{summary['noise_rate_actual']:.1%} of the given labels are wrong" in printed.err
    assert "epoch 2: loss" in printed.err
    assert {"curves.png", "curves.svg"} <= {path.name for path in out.iterdir()}


def test_the_default_says_how_many_labels_look_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(train(tmp_path / "run")) == 0
    summary = read_json(tmp_path / "run" / "summary.json")
    assert summary["method"] == "mentornet-early"
    assert 0 <= summary["noise_rate_estimated"] <= 1
    said = " ".join(capsys.readouterr().out.split())
    assert f"wrong labels, estimated {summary['noise_rate_estimated']:.1%}" in said
    assert main(train(tmp_path / "plain", "--method", "full-model")) == 0
    assert read_json(tmp_path / "plain" / "summary.json")["noise_rate_estimated"] is None
    assert "estimated" not in capsys.readouterr().out


def test_an_epoch_that_nobody_judges_has_no_accuracy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(train(tmp_path / "run", "--evaluate-every", "2")) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("epoch ")]
    assert ["accuracy" in line for line in lines] == [False, True]


def test_a_dry_run_prints_every_setting_with_its_section(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the data: nothing is loaded, and nothing is written."""
    monkeypatch.setenv("MENTORNET_DATA", f"{tmp_path / 'none'}")
    monkeypatch.chdir(tmp_path)
    words = ["train", "cifar10", "--noise", "uniform:0.4", "--method", "mentornet-dd"]
    words += ["--clean-count", "5000", "--preset", "paper", "--dry-run"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    for row in (
        ["student", "student", "resnet101", "App.", "E.1"],
        ["optimiser", "steps", "39000", "App.", "E.1"],
        ["method", "updates", "0.21,", "0.75", "App.", "E.3"],
        ["method", "fallback", "off", "ours,", "off"],
        ["labels", "clean_count", "5000", "§5.1"],
    ):
        assert row in rows
    assert "differs" not in printed
    assert "tuned over percentile" in printed
    assert main([*words, "--student", "fast", "--epochs", "24"]) == 0
    printed = capsys.readouterr().out
    assert "differs from the paper: student is fast, not resnet101 (App. E.1)" in printed
    assert list(tmp_path.iterdir()) == []


def test_a_run_needs_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "digits"]) == 2
    assert "--out is missing" in said(capsys)


def test_a_config_makes_the_same_run(tmp_path: Path) -> None:
    words = ("--noise", "uniform:0.4", "--method", "reed-soft", "--set", "beta=0.9")
    assert main(train(tmp_path / "one", *words)) == 0
    stored = tmp_path / "one" / "config.toml"
    assert main(["train", "--config", f"{stored}", "--out", f"{tmp_path / 'two'}"]) == 0
    assert (tmp_path / "two" / "config.toml").read_text() == stored.read_text()
    one, two = (RunFolder(tmp_path / name) for name in ("one", "two"))
    weights, same = one.read_weights(one.last), two.read_weights(two.last)
    assert all(torch.equal(weights[name], same[name]) for name in weights)


def test_options_go_before_the_config(tmp_path: Path) -> None:
    assert main(train(tmp_path / "one")) == 0
    config = f"--config={tmp_path / 'one' / 'config.toml'}"
    assert main(["train", config, "--seed", "7", "--out", f"{tmp_path / 'two'}"]) == 0
    assert read_config(tmp_path / "two" / "config.toml").seed == 7


def test_resume_needs_no_other_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted as late as can be: all is trained, the summary is not written."""
    out = tmp_path / "run"
    run = RunFolder(out)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_summary", interrupt)
        assert main(train(out, "--checkpoint-seconds", "0")) == 130
    before = run.read_weights(run.last)
    capsys.readouterr()
    assert main(["train", "--out", f"{out}", "--resume"]) == 0
    assert "continuing after epoch 2 of 2" in capsys.readouterr().err
    assert run.summary.exists()
    after = run.read_weights(run.last)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert main(["train", "--out", f"{out}", "--resume", "--epochs", "3"]) == 2
    assert "optimiser.epochs is 2, not 3" in said(capsys)


def test_a_folder_of_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    photos = folder_of_digits(tmp_path / "photos")
    out = tmp_path / "run"
    words = ["train", f"{photos}", "--width", "4", "--epochs", "4", "--batch-size", "8"]
    assert main([*words, "--out", f"{out}"]) == 0
    assert RunFolder(out).about().classes == ["digit 0", "digit 1", "digit 2"]
    capsys.readouterr()
    assert main(["predict", f"{out}", f"{photos / 'train'}"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert len(rows) == 36
    for row in rows:
        chances = {name[2:]: float(row[name]) for name in row if name.startswith("p_")}
        assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
        assert row["predicted_label"] == max(chances, key=lambda name: chances[name])


def test_a_verified_list_by_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list names all images; those held out for testing are passed over."""
    photos = folder_of_digits(tmp_path / "photos", per_class=20)
    names = sorted(path.relative_to(photos).as_posix() for path in photos.rglob("*.png"))
    clean = tmp_path / "clean.csv"
    lines = [f"{name},{'true' if at % 2 else 'false'}" for at, name in enumerate(names)]
    clean.write_text("\n".join(["path,is_correct", *lines]))
    words = ["train", f"{photos}", "--width", "4", "--epochs", "6", "--batch-size", "8"]
    out = tmp_path / "run"
    taught = ["--method", "mentornet-dd", "--set", "steps=20"]
    assert main([*words, "--clean", f"{clean}", *taught, "--out", f"{out}"]) == 0
    count = RunFolder(out).about().train_images or 0
    assert 40 < count < 60
    assert f"{count} verified samples are trained on" in capsys.readouterr().err
    summary = read_json(out / "summary.json")
    assert summary["method"] == "mentornet-dd"
    assert f"learned from {count} verified samples" in summary["notes"][-1]
    clean.write_text("path,is_correct\ntrain/digit 0/none.png,true")
    assert main([*words, "--clean", f"{clean}", "--out", f"{tmp_path / 'other'}"]) == 2
    assert "unknown sample 'train/digit 0/none.png'" in said(capsys)


def test_the_same_command_with_resume(tmp_path: Path) -> None:
    """Flags included: what is stored must not turn them round."""
    words = train(
        tmp_path / "run", "--nesterov", "False", "--tensorboard", "--noise", "uniform:0.4"
    )
    assert main(words) == 0
    assert main([*words, "--resume"]) == 0


def test_a_student_of_ones_own_is_found_where_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mynets.py").write_text(
        "from torch import nn\n"
        "def flat(channels, classes):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 64, classes))\n"
    )
    words = ["train", "digits", "--limit", "128", "--epochs", "1", "--out", "run"]
    assert main([*words, "--student", "mynets:flat"]) == 0


def test_a_bad_image_is_named_and_can_be_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = folder_of_digits(tmp_path / "photos")
    bad = photos / "train" / "digit 1" / "broken.png"
    bad.write_bytes(b"\x89PNG not really")
    words = ["train", f"{photos}", "--width", "4", "--epochs", "1", "--batch-size", "8"]
    assert main([*words, "--out", f"{tmp_path / 'run'}"]) == 2
    line = said(capsys)
    assert "broken.png" in line
    assert "--skip-bad" in line
    assert not (tmp_path / "run").exists()
    assert main([*words, "--skip-bad", "--out", f"{tmp_path / 'run'}"]) == 0
    assert "broken.png" in capsys.readouterr().err
    assert main(["predict", f"{tmp_path / 'run'}", f"{bad}"]) == 2
    assert "broken.png" in said(capsys)


MISTAKES = {
    "noise rate": (["--noise", "uniform:40"], "noise rate must be in [0, 1], got 40; did you mean 0.4"),
    "noise name": (["--noise", "unifrom:0.4"], "did you mean 'uniform'"),
    "noise form": (["--noise", "0.4"], "noise must look like"),
    "batch": (["--batch-size", "5000"], "--batch-size must be at most the 128 training samples, got 5000"),
    "epochs": (["--epochs", "0"], "epochs must be ≥ 1, got 0"),
    "evaluate-every": (["--evaluate-every", "0"], "evaluate-every must be ≥ 1, got 0"),
    "method": (["--method", "mentornet-ddd"], "did you mean 'mentornet-dd'"),
    "setting": (["--method", "mentornet-pd", "--set", "percentil=0.5"], "did you mean 'percentile'"),
    "setting form": (["--set", "0.5"], "a setting must look like"),
    "student": (["--student", "fastt"], "did you mean 'fast'"),
    "size": (["--depth", "3"], "unexpected keyword argument 'depth'"),
    "factory": (["--student", "nowhere:net"], "must name a module and a factory"),
    "dd without verified": (["--method", "mentornet-dd"], "name files that list them in verdicts"),
    "clean count without truth": (["--method", "mentornet-dd", "--clean-count", "20"], "needs true labels"),
    "no momentum": (["--momentum", "0"], "--nesterov is true and needs a momentum above 0"),
    "tpu": (["--accelerator", "tpu"], "accelerator 'tpu'"),
    "clean file": (["--clean", "none.csv"], "none.csv is missing"),
    "too many verified": (["--noise", "uniform:0.4", "--clean-count", "129"], "--clean-count is 129, but there are 128"),
    "limit": (["--limit", "99999"], "--limit is 99999, but there are 1437"),
    "config": (["--config", "none.toml"], "none.toml is missing"),
    "folder": (["--folder", "x"], "--folder has no meaning for digits"),
    "accelerator": (["--accelerator", "cuda"], "accelerator 'cuda'"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_mistakes_are_one_line_before_work_starts(
    mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, message = MISTAKES[mistake]
    if mistake == "accelerator" and torch.cuda.is_available():
        pytest.fail("this test is for machines without CUDA; give it another accelerator")
    assert main(train(tmp_path / "run", *words)) == 2
    assert message in said(capsys)
    assert not (tmp_path / "run").exists()


VERDICTS = {
    "unknown": (
        "index,is_correct\n5,true\n128,true",
        "line 3: there is no sample 128, only 0 to 127",
    ),
    "short row": ("is_correct,index\ntrue", "index must be a whole number, got ''"),
    "twice": (
        "index,is_correct\n5,true\n5,false",
        "line 3: sample 5 is to be dropped here and to be kept",
    ),
    "path": ("path,is_correct\na.png,true", "unknown sample 'a.png'; this data has no paths"),
    "silent": (
        "index,is_correct\n5,\n6,true",
        "line 2: the row does not say whether the label is right",
    ),
    "contradiction": (
        "index,decision,is_correct\n5,keep,no",
        "line 2: is_correct is no, but the given label is",
    ),
    "few": ("index,is_correct\n5,true\n6,false", "2 verified samples; give at least 10"),
}


@pytest.mark.parametrize("option", ["--verdicts", "--clean", "--decisions"])
@pytest.mark.parametrize("mistake", list(VERDICTS))
def test_bad_verdicts(
    mistake: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, message = VERDICTS[mistake]
    path = tmp_path / "checked.csv"
    path.write_text(text)
    assert main(train(tmp_path / "run", option, f"{path}", "--method", "mentornet-dd")) == 2
    assert message in said(capsys)
    assert not (tmp_path / "run").exists()


def test_every_option_for_verdicts_is_the_same_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("index,is_correct\n5,true\n6,false\n")
    two.write_text("index,decision\n7,keep\n6,keep\n")
    for number, words in enumerate(
        (
            ["--verdicts", f"{one}", f"{two}"],
            ["--decisions", f"{one}", f"{two}"],
            ["--clean", f"{one}", f"--decisions={two}"],
            ["--verdicts", f"{one}", "--verdicts", f"{two}"],
        )
    ):
        out = tmp_path / f"{number}"
        assert main(train(out, *words)) == 0
        assert read_config(out / "config.toml").labels.verdicts == (f"{one}", f"{two}")
        told = capsys.readouterr().err
        assert "1 verdicts of two.csv replace those of one.csv" in told
    assert main(["train", "--out", f"{out}", "--resume"]) == 0
    again = tmp_path / "again"
    assert main(["train", "--config", f"{out / 'config.toml'}", "--out", f"{again}"]) == 0
    assert read_config(again / "config.toml").labels.verdicts == (f"{one}", f"{two}")
    assert main(train(tmp_path / "none", "--clean")) == 2
    assert "--clean needs a file" in capsys.readouterr().err


def test_predict_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", f"{tmp_path}", f"{tmp_path}"]) == 2
    assert "is not a run" in said(capsys)
    assert main(train(tmp_path / "run")) == 0
    (tmp_path / "nothing").mkdir()
    for images, message in (
        ("nothing", "there are no images in"),
        ("gone.png", "gone.png is missing"),
    ):
        assert main(["predict", f"{tmp_path / 'run'}", f"{tmp_path / images}"]) == 2
        assert message in said(capsys)
    (tmp_path / "bad.png").write_bytes(b"no image")
    words = ["predict", f"{tmp_path / 'run'}", f"{tmp_path / 'bad.png'}", "--skip-bad"]
    assert main(words) == 2
    assert "none of the images could be read" in said(capsys)
    best = tmp_path / "run" / "checkpoints" / "best.safetensors"
    best.write_bytes(best.read_bytes()[:50])
    Image.new("L", (8, 8)).save(tmp_path / "one.png")
    assert main(["predict", f"{tmp_path / 'run'}", f"{tmp_path / 'one.png'}", "--best"]) == 2
    assert "was it cut short" in said(capsys)


def test_predict_says_what_the_best_epoch_was_chosen_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the 360 test images of digits, on which ½ / √360 = 2.6 %."""
    assert main(train(tmp_path / "run")) == 0
    Image.new("L", (8, 8)).save(tmp_path / "one.png")
    words = ["predict", f"{tmp_path / 'run'}", f"{tmp_path / 'one.png'}"]
    assert main([*words, "--best"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "chosen by its accuracy on 360 samples: 3 points may be chance" in told
    assert main(words) == 0
    assert "chosen" not in capsys.readouterr().err


def test_predict_writes_a_table(tmp_path: Path) -> None:
    assert main(train(tmp_path / "run")) == 0
    Image.new("RGB", (30, 20), "red").save(tmp_path / "one.png")
    out = tmp_path / "table.csv"
    assert (
        main(["predict", f"{tmp_path / 'run'}", f"{tmp_path / 'one.png'}", "--out", f"{out}"]) == 0
    )
    header, row = csv.reader(out.read_text().splitlines())
    assert header[:4] == ["path", "predicted_label", "probability", "p_0"]
    assert row[0] == (tmp_path / "one.png").as_posix()


def test_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real demo, but with a small student and short lessons of its mentors, in this process."""
    from dataclasses import replace

    from mentornet.config import MethodConfig, OptimiserConfig, StudentConfig, TrainConfig
    from mentornet.experiments import demo
    from mentornet.experiments.engines import Outcome

    whole = demo.demo_config

    def little(method: str, seed: int) -> TrainConfig:
        config, short = whole(method, seed), ("steps=20",) if method == "mentornet-dd" else ()
        return replace(
            config, optimiser=OptimiserConfig(epochs=2), student=StudentConfig(width=4),
            method=MethodConfig(method, (*config.method.set, *short)),
        )  # fmt: skip

    monkeypatch.setattr(demo, "demo_config", little)
    monkeypatch.setattr(
        demo,
        "run_locally",
        lambda jobs, out, **_: (Outcome(job, demo.run_one(job, f"{out}")) for job in jobs),
    )
    out = tmp_path / "demo"
    for _ in range(2):  # a second one takes the place of the first
        assert main(["demo", "--out", f"{out}", "--seeds", "2"]) == 0
    results = json.loads((out / "demo.json").read_text())["results"]
    assert [(result["method"], result["seed"]) for result in results] == [
        (method, seed)
        for seed in (0, 1)
        for method in ("full-model", "mentornet-pd", "mentornet-dd", "oracle")
    ]
    assert all({"accuracy_last", "accuracy_best", "seconds"} <= result.keys() for result in results)
    mean = sum(result["accuracy_last"] for result in results if result["method"] == "oracle") / 2
    assert f"{mean:.1%}" in capsys.readouterr().out
    page = (out / "index.html").read_text()
    assert f"{100 * mean:.1f} %" in page
    assert "<svg" in page
    assert (out / "curves.png").stat().st_size > 10_000


def test_demo_spares_what_is_not_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert main(["demo", "--out", f"{tmp_path}"]) == 2
    assert "holds something else than a demo" in said(capsys)
    assert main(["demo", "--out", f"{tmp_path / 'new'}", "--processes", "0"]) == 2
    assert "processes must be ≥ 1" in said(capsys)
    assert main(["demo", "--out", f"{tmp_path / 'new'}", "--seeds", "0"]) == 2
    assert "seeds must be ≥ 1" in said(capsys)
