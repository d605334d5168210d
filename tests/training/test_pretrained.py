"""Runs with pretrained students: frozen on cached features, and fine-tuned."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from mentornet.cli import main
from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.data.encoding import Texts
from mentornet.errors import MentorNetError
from mentornet.methods import Supervision
from mentornet.randomness import seeded
from mentornet.records import read_records
from mentornet.students import BodyAndHead
from mentornet.students.hugging_face import keep_description
from mentornet.training import RunFolder, load_student, predict, prepare, train
from mentornet.training.optimisers import follow_weights, make_optimiser, set_learning_rate
from tests.data.layouts import jpeg, put
from tests.students.pretrained_models import image_model, text_model
from tests.training.runs import assert_same_outcome
from tests.training.test_resume import interrupted


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path / 'cache'}")
    return tmp_path / "cache" / "mentornet" / "features"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Thirty photographs of mixed sizes in each of two classes."""
    for label, name in enumerate(("cats", "dogs")):
        for number in range(30):
            content = jpeg(label, number, 20 + number, 44 - number)
            put(tmp_path / "photos" / name / f"{number}.jpg", content)
    return tmp_path / "photos"


def config(data: Path, student: str, **changes: Any) -> TrainConfig:
    settings: dict[str, Any] = {"epochs": 4, "batch_size": 16} | changes
    freeze, method = settings.pop("freeze", None), settings.pop("method", None)
    return TrainConfig(
        f"{data}",
        files=FilesConfig(stream=settings.pop("stream", False), text=settings.pop("text", None)),
        labels=LabelsConfig(noise=settings.pop("noise", None)),
        student=StudentConfig(student, freeze=freeze),
        method=MethodConfig(method),
        optimiser=OptimiserConfig(**settings),
        machine=MachineConfig(checkpoint_seconds=0.0, workers=0),
    )


def test_a_small_folder_is_frozen_and_judged_by_features(
    photos: Path, cache: Path, tmp_path: Path
) -> None:
    student = f"hf:{image_model(tmp_path / 'model')}"
    summary = train(config(photos, student, epochs=20), tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    from mentornet.config import read_config

    stored = read_config(run.config)
    assert stored.student.freeze is True
    assert stored.files.image_size == 16
    assert stored.method.method == "mentornet-features"
    assert summary["accuracy_last"] == 1.0
    assert summary["parameters"] == 16 * 2 + 2
    assert len(list(cache.iterdir())) == 2  # of the samples to train on, and of the others
    trained = load_student(run)
    assert isinstance(trained, BodyAndHead)
    fresh = image_model(tmp_path / "again")
    from safetensors.torch import load_file

    for name, part in load_file(fresh / "model.safetensors").items():
        if not name.startswith("classifier"):
            assert torch.equal(trained.state_dict()[f"body.network.{name}"], part)


def test_features_are_computed_once(
    photos: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mentornet.training.frozen_features as module

    student = f"hf:{image_model(tmp_path / 'model')}"
    train(config(photos, student), tmp_path / "first")
    computed: list[int] = []
    plain = module._Features._computed

    def counted(self: Any, samples: Any) -> torch.Tensor:
        computed.append(len(samples))
        return plain(self, samples)

    monkeypatch.setattr(module._Features, "_computed", counted)
    train(config(photos, student), tmp_path / "second")
    assert computed == []
    assert_same_outcome(tmp_path / "first", tmp_path / "second")
    for file in cache.iterdir():
        file.write_bytes(file.read_bytes()[:-9])  # cut short
    train(config(photos, student), tmp_path / "third")
    assert len(computed) == 2
    assert_same_outcome(tmp_path / "first", tmp_path / "third")


@pytest.mark.parametrize(
    "settings",
    [{"freeze": True}, {"freeze": True, "method": "co-teaching", "noise": "uniform:0.3"},
     {"freeze": False, "method": "mentornet-pd"}, {"freeze": True, "stream": True}],
    ids=["frozen", "two heads", "fine-tuned", "streamed"],
)  # fmt: skip
def test_a_run_goes_on_to_the_same_end(
    settings: dict[str, Any], photos: Path, cache: Path, tmp_path: Path
) -> None:
    about = config(photos, f"hf:{image_model(tmp_path / 'model')}", **settings)
    train(about, tmp_path / "whole")
    interrupted(about, tmp_path / "stopped", 2)
    train(about, tmp_path / "stopped", resume=True)
    assert_same_outcome(tmp_path / "whole", tmp_path / "stopped")


def test_fine_tuning_has_settings_of_its_own(photos: Path, tmp_path: Path) -> None:
    student = f"hf:{image_model(tmp_path / 'model')}"
    found = prepare(config(photos, student, freeze=False, epochs=None, batch_size=None)).config
    optimiser = found.optimiser
    assert (optimiser.optimiser, optimiser.head_rate) == ("adamw", 10)
    assert optimiser.learning_rate == 1e-4
    assert (optimiser.epochs, optimiser.padding) == (5, 2)
    assert found.method.method == "mentornet-auto"
    assert prepare(config(photos, student, freeze=False)).config.student.freeze is False


def test_adamw_decays_apart_and_the_head_learns_faster() -> None:
    """Against the formulas: p ← p (1 − α θ₀ v̄), then a step of ±α, which Adam's first one is."""
    with seeded(0):
        body, head = torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)
    body.weight.data.fill_(1.0)
    head.weight.data.fill_(2.0)
    student = BodyAndHead(body, head, frozen=False)
    settings = OptimiserConfig(
        optimiser="adamw", head_rate=10.0, learning_rate=0.01, weight_decay=0.5, momentum=0.9
    )

    class Weighs(Supervision):
        weighs = True

    optimiser = make_optimiser(settings, student, Weighs())
    set_learning_rate(optimiser, 0.02)
    body.weight.grad, head.weight.grad = torch.ones(1, 1), -torch.ones(1, 1)
    follow_weights(optimiser, 0.5, torch.tensor([1.0, 0.0]))
    optimiser.step()
    assert body.weight.item() == pytest.approx(1 * (1 - 0.02 * 0.5 * 0.5) - 0.02, rel=1e-6)
    assert head.weight.item() == pytest.approx(2 * (1 - 0.2 * 0.5 * 0.5) + 0.2, rel=1e-6)


def test_predictions_need_the_models_folder_no_more(
    photos: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = image_model(tmp_path / "model")
    out = f"{tmp_path / 'run'}"
    words = ["train", f"{photos}", "--student", f"hf:{folder}", "--epochs", "20", "--out", out]
    assert main(words) == 0
    shutil.rmtree(folder)
    capsys.readouterr()
    assert main(["predict", out, f"{photos / 'dogs'}"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 30
    assert {row["predicted_label"] for row in rows} == {"dogs"}
    found = RunFolder(tmp_path / "run")
    assert predict(load_student(found), torch.zeros(2, 3, 16, 16).byte()).shape == (2, 2)


OWN = """
from torch import nn
from mentornet.students import pretrained

@pretrained(size=12, mean=(100, 100, 100), deviation=(50, 50, 50))
def mine(channels, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 12 * 12, 8), nn.ReLU(), nn.Linear(8, classes))
"""


def test_a_student_of_ones_own_that_says_it_is_pretrained(
    photos: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """`predict` finds its code from any folder, if the user trusts it."""
    put(tmp_path / "code" / "ours_here.py", OWN)
    monkeypatch.chdir(tmp_path / "code")
    out = f"{tmp_path / 'run'}"
    student = ["--student", "ours_here:mine", "--freeze"]
    assert main(["train", f"{photos}", *student, "--epochs", "2", "--out", out]) == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "ours_here")
    words = ["predict", out, f"{photos / 'cats' / '0.jpg'}"]
    assert main(words) == 2
    assert "trust" in capsys.readouterr().err
    assert main([*words, "--trust-code"]) == 0
    assert "0.jpg" in capsys.readouterr().out


def test_a_column_that_does_not_read_like_text(reviews: Path, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="no column reads like text; name one in the setting"):
        prepare(config(reviews, f"hf:{text_model(tmp_path / 'model')}"))


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    rows = [("text", "label")]
    for number in range(40):
        good = number % 2
        rows.append((f"a {'very ' * (number % 5)}{'good' if good else 'bad'} film", f"{good}"))
    with (tmp_path / "reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return tmp_path / "reviews.csv"


def test_texts_as_word_pieces(
    reviews: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = text_model(tmp_path / "model")
    out = f"{tmp_path / 'run'}"
    words = ["train", f"{reviews}", "--text", "text", "--student", f"hf:{folder}"]
    assert main([*words, "--epochs", "2", "--out", out]) == 0
    shutil.rmtree(folder)
    put(tmp_path / "new.csv", "text\na good film\na bad film\n" + "very " * 50 + "good\n")
    capsys.readouterr()
    assert main(["predict", out, f"{tmp_path / 'new.csv'}"]) == 0
    said = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert len({row["p_1"] for row in rows}) == 3
    encoder = RunFolder(tmp_path / "run").read_encoder()
    assert encoder is not None
    tokens = encoder.encode(Texts("text", ("a good film", "an odd film"))).inputs
    assert tokens[:, :6].tolist() == [[3, 9, 6, 8, 4, 0], [3, 2, 2, 8, 4, 0]]  # one more than ids
    assert "1 of 3 texts are too long: only their first" in said.err
    labels = read_records(tmp_path / "run" / "records.parquet")
    assert len(labels) == 36


def test_fine_tuned_texts_go_on_to_the_same_end(reviews: Path, tmp_path: Path) -> None:
    about = config(reviews, f"hf:{text_model(tmp_path / 'model')}", freeze=False, text="text")
    train(about, tmp_path / "whole")
    interrupted(about, tmp_path / "stopped", 2)
    train(about, tmp_path / "stopped", resume=True)
    assert_same_outcome(tmp_path / "whole", tmp_path / "stopped")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"student": "fast", "freeze": True}, "freeze needs a pretrained student, but fast is"),
        ({"student": "TEXT"}, "reads tokens, but the data has images"),
    ],
)
def test_what_does_not_go_together(
    settings: dict[str, Any], message: str, photos: Path, tmp_path: Path
) -> None:
    student = settings.pop("student")
    if student == "TEXT":
        student = f"hf:{text_model(tmp_path / 'model')}"
    with pytest.raises(MentorNetError, match=message):
        prepare(config(photos, student, **settings))


def test_what_a_killed_start_has_left_is_no_obstacle(tmp_path: Path) -> None:
    """The description of a network is written before the config, which marks a run."""
    keep_description(image_model(tmp_path / "model"), tmp_path / "run" / "student")
    RunFolder(tmp_path / "run").check_free()
