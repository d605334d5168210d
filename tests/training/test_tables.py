"""Runs on texts, rows and vectors: exact like those on images."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from mentornet import MentorNetError
from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.data.encoding import Texts
from mentornet.randomness import generator, seeded
from mentornet.students import NGramStudent, make_student
from mentornet.training import RunFolder, load_student, predict, prepare, train
from tests.data.files.test_manifest import write_csv
from tests.processes import run_ranks
from tests.training.runs import assert_same_outcome, outcome
from tests.training.stopping import StoppedError, StopsAfter

WORDS = {"good": ["fine", "great", "lovely", "nice"], "bad": ["awful", "poor", "sad", "ugly"]}


def texts(folder: Path, count: int = 96) -> Path:
    """Sentences whose words say the class."""
    draw = random.Random(0)
    rows = []
    for number in range(count):
        label = ("good", "bad")[number % 2]
        words = ["it", "was", draw.choice(WORDS[label]), draw.choice(WORDS[label]), f"{number}"]
        rows.append((" ".join(words), label))
    return write_csv(folder / "texts.csv", ["text", "label"], rows)


def rows(folder: Path, count: int = 96) -> Path:
    """Rows whose numbers and colour say the class."""
    draw = random.Random(0)
    found = []
    for number in range(count):
        label = number % 3
        near = "" if number % 10 == 7 else f"{draw.gauss(label, 0.3):.4f}"
        found.append((near, f"{draw.gauss(-label, 0.3):.4f}", ("red", "blue", "sad")[label], label))
    return write_csv(folder / "rows.csv", ["a", "b", "colour", "label"], found)


def vectors(folder: Path, count: int = 96) -> Path:
    label = np.arange(count) % 3
    noise = torch.randn(count, 5, generator=generator(0)).numpy()
    np.savez(folder / "vectors.npz", features=noise + 2 * np.eye(5)[label], label=label)
    return folder / "vectors.npz"


KINDS = {"texts": texts, "rows": rows, "vectors": vectors}
PATHS = {"texts": "texts.csv", "rows": "rows.csv", "vectors": "vectors.npz"}


def config(path: Path, method: str = "mentornet-pd", **settings: object) -> TrainConfig:
    known: dict[str, object] = {"epochs": 4, "batch_size": 24, **settings}
    return TrainConfig(
        f"{path}", labels=LabelsConfig(noise="uniform:0.2"), method=MethodConfig(method),
        optimiser=OptimiserConfig(**known),  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_on_to_the_same_end(kind: str, tmp_path: Path) -> None:
    settings = config(KINDS[kind](tmp_path))
    train(settings, tmp_path / "whole")
    with pytest.raises(StoppedError):
        train(settings, tmp_path / "stopped", observer=StopsAfter(2))
    train(settings, tmp_path / "stopped", resume=True)
    assert_same_outcome(tmp_path / "whole", tmp_path / "stopped")


@pytest.mark.parametrize("kind", KINDS)
def test_plain_training_is_the_obvious_loop(kind: str, tmp_path: Path) -> None:
    """Weights of 1 give the plain loss, bit for bit."""
    settings = config(
        KINDS[kind](tmp_path), "full-model", learning_rate=0.1, momentum=0.9, nesterov=True,
        weight_decay=1e-3, schedule="constant", warm_up=0.0, epochs=3,
    )  # fmt: skip
    prepared = prepare(settings)
    train(settings, tmp_path / "run")
    samples = prepared.train
    name = prepared.config.student.student or ""
    student = make_student(name, channels=samples.channels, classes=len(samples.classes))
    if isinstance(student, NGramStudent):
        student.prepare(samples.tensor)
    sgd = torch.optim.SGD(
        student.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3
    )
    steps = -(-len(samples) // 24)
    for epoch in range(3):
        order = torch.randperm(
            len(samples), generator=generator(0, 1, epoch), dtype=torch.int32
        ).long()
        with seeded(generator(0, 3, epoch).initial_seed()):
            for part in order.tensor_split(steps):
                sgd.zero_grad()
                logits = student(samples.tensor[part])
                nn.functional.cross_entropy(logits, samples.given_label[part]).backward()
                sgd.step()
    trained = RunFolder(tmp_path / "run").read_weights(RunFolder(tmp_path / "run").last)
    for key, part in student.state_dict().items():
        torch.testing.assert_close(trained[key], part, rtol=0, atol=0)


def without_dropout(path: Path) -> TrainConfig:
    """A run in which nothing is drawn in the processes, each of which would draw its own."""
    return replace(config(path), student=StudentConfig(dropout=0.0))


def train_all(folder: Path, out: Path) -> None:
    for kind, path in PATHS.items():
        train(without_dropout(folder / path), out / kind)


def test_two_processes_equal_one(tmp_path: Path) -> None:
    for write in KINDS.values():
        write(tmp_path)
    train_all(tmp_path, tmp_path / "one")
    for code, said in run_ranks(tmp_path / "ranks", train_all, tmp_path, tmp_path / "two"):
        assert code == 0, said
    for kind in KINDS:
        (weights, records), (same, too) = (outcome(tmp_path / n / kind) for n in ("one", "two"))
        for name, part in weights.items():
            torch.testing.assert_close(part, same[name], rtol=1e-4, atol=1e-5)
        assert records["predicted_label"].equals(too["predicted_label"])


@pytest.mark.parametrize("kind", KINDS)
def test_prediction_encodes_as_training_did(kind: str, tmp_path: Path) -> None:
    settings = config(KINDS[kind](tmp_path))
    train(settings, tmp_path / "run")
    run, prepared = RunFolder(tmp_path / "run"), prepare(settings)
    encoder = run.read_encoder()
    assert encoder == prepared.encoder
    assert encoder is not None
    assert prepared.test.raw is not None
    inputs = encoder.encode(prepared.test.raw).inputs
    assert torch.equal(inputs, prepared.test.tensor)
    chances = predict(load_student(run), inputs)
    right = (chances.argmax(1) == prepared.test.given_label).double().mean()
    assert right.item() == pytest.approx(run.read_summary()["accuracy_last"])


def test_a_student_that_cannot_read_the_data(tmp_path: Path) -> None:
    settings = TrainConfig(f"{rows(tmp_path)}", student=StudentConfig("small-cnn"))
    with pytest.raises(MentorNetError, match="reads images, but the data has vectors"):
        train(settings)


@pytest.mark.parametrize(("name", "value"), [("augment", True), ("padding", 2)])
def test_settings_of_images(name: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=f"the setting {name} has no meaning for vectors"):
        prepare(config(rows(tmp_path), **{name: value}))  # type: ignore[arg-type]


def test_texts_cannot_be_blended(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="mentormix blends samples"):
        train(config(texts(tmp_path), "mentormix"))
    train(config(rows(tmp_path), "mentormix", epochs=2))


def test_a_student_of_ones_own_brings_its_encoder(tmp_path: Path) -> None:
    settings = TrainConfig(
        f"{texts(tmp_path)}", student=StudentConfig("tests.training.own_encoder:factory"),
        optimiser=OptimiserConfig(epochs=2),
    )  # fmt: skip
    prepared = prepare(settings)
    assert prepared.train.vocabulary == 12
    assert isinstance(prepared.train.raw, Texts)
    train(settings)


def test_files_of_verdicts_name_rows(tmp_path: Path) -> None:
    path = texts(tmp_path)
    plain = prepare(TrainConfig(f"{path}")).train
    write_csv(tmp_path / "v.csv", ["index", "decision"], [(0, "drop"), (3, "drop")])
    labels = LabelsConfig(verdicts=(f"{tmp_path / 'v.csv'}",))
    fewer = prepare(TrainConfig(f"{path}", labels=labels, files=FilesConfig(text="text"))).train
    assert isinstance(plain.raw, Texts)
    assert isinstance(fewer.raw, Texts)
    kept = [text for place, text in enumerate(plain.raw.texts) if place not in (0, 3)]
    assert list(fewer.raw.texts) == kept
