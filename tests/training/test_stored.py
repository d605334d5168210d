"""Files of a run that were edited, or come from elsewhere: one line says what is wrong."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mentornet.audit.run_audit import audit_run
from mentornet.errors import MentorNetError
from mentornet.training import RunFolder, load_student, train
from tests.training.runs import small
from tests.training.test_resume import interrupted

State = dict[str, Any]
CONFIG = small("mentornet-pd", epochs=3)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that stopped after its second epoch, with the checkpoint of the first."""
    folder = tmp_path_factory.mktemp("begun") / "run"
    interrupted(CONFIG, folder, 2)
    return folder


@pytest.fixture
def run(begun: Path, tmp_path: Path) -> RunFolder:
    shutil.copytree(begun, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def put(run: RunFolder, content: bytes) -> Path:
    """The only checkpoint of the run, whole by its name."""
    for path in run.checkpoints.paths():
        path.unlink()
    digest = hashlib.sha256(content).hexdigest()[:16]
    path = run.checkpoints.folder / f"epoch-0001-{digest}.pt"
    path.write_bytes(content)
    return path


def saved(state: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def changed(**values: Any) -> Callable[[State], object]:
    return lambda state: state.update(values)


def without(name: str) -> Callable[[State], object]:
    return lambda state: state.pop(name)


EDITS: list[tuple[Callable[[State], object], str]] = [
    (changed(epochs_done=99), "epochs_done must be in 1–3, got 99"),
    (changed(epochs_done=-1), "epochs_done must be in 1–3, got -1"),
    (changed(epochs_done=2), "steps_done must be 12, got 6"),
    (changed(epochs_done="1"), "epochs_done must be a whole number"),
    (changed(steps_done=7), "steps_done must be 6, got 7"),
    (changed(metrics=[]), "must have the metrics of 1 epochs, got 0"),
    (changed(metrics=[{}]), "epoch 1 has no epoch"),
    (changed(metrics=[3]), "metrics must be a list of an object"),
    (changed(best={}), "best has no chosen_by"),
    (changed(best=None), "best must be an object"),
    (changed(notes=[1]), "notes must be a list of text"),
    (changed(seconds=float("nan")), "seconds must be a number"),
    (changed(format=2), "has format 2, this mentornet reads 1"),
    (changed(student={}), "student has no "),
    (changed(optimiser={"state": {}}), "optimiser has no 'param_groups'"),
    (changed(optimiser={"state": {}, "param_groups": [3]}), "cannot be read as a checkpoint"),
    (changed(supervision={"engine": {}, "told": False}), "supervision.engine has no"),
    (changed(records=torch.zeros(3)), "records must be an object"),
    (without("digest"), "has no digest"),
    (without("optimiser"), "has no optimiser"),
    (lambda state: state["metrics"][0].update(seconds="x"), "seconds must be a number"),
    (lambda state: state["metrics"][0].update(more=[1]), "'more' must be a number"),
    (lambda state: state["records"].update(loss=torch.zeros(3)), "records.loss must have shape"),
    (
        lambda state: state["student"].update({key: part * torch.nan for key, part in
        state["student"].items() if part.is_floating_point()}), "must hold finite numbers",
    ),
    (
        lambda state: state["optimiser"]["state"][0].update(momentum_buffer=torch.zeros(1)),
        "momentum_buffer' must have shape",
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_an_odd_checkpoint(number: int, run: RunFolder) -> None:
    edit, message = EDITS[number]
    state = run.checkpoints.peek()
    assert state is not None
    edit(state)
    path = put(run, saved(state))
    with pytest.raises(MentorNetError) as caught:
        train(CONFIG, run.path, resume=True)
    said = f"{caught.value}"
    assert message in said
    assert said.startswith(f"{path}")
    assert "\n" not in said


def compressed(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as before,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            after.writestr(name, before.read(name))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x80\x02K\x01.", b"PK\x03\x04 and nothing else", saved([1]), saved(torch.zeros(2)),
        compressed(saved({"zeros": torch.zeros(1 << 20)})),
    ],
)  # fmt: skip
def test_what_is_no_checkpoint(content: bytes, run: RunFolder) -> None:
    path = put(run, content)
    for command in (lambda: train(CONFIG, run.path, resume=True), lambda: audit_run(run.path)):
        with pytest.raises(MentorNetError) as caught:
            command()
        assert f"{caught.value}".startswith(f"{path}")
        assert "\n" not in f"{caught.value}"


def test_settings_in_a_checkpoint_do_not_replace_those_of_the_config(run: RunFolder) -> None:
    train(CONFIG, run.path.with_name("whole"))
    state = run.checkpoints.peek()
    assert state is not None
    for group in state["optimiser"]["param_groups"]:
        group.update(momentum=float("nan"), lr="fast", weight_decay=1e9, own=[])
    put(run, saved(state))
    summary = train(CONFIG, run.path, resume=True)
    assert summary["accuracy_last"] == RunFolder(run.path.with_name("whole")).read_summary()[
        "accuracy_last"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("data.json", {"classes": "ab"}, "classes must be a list of text, got 'ab'"),
        ("data.json", {"classes": []}, "classes must be in 1–"),
        ("data.json", {"height": 10**12}, "height must be in 1–"),
        ("data.json", {"channels": -1}, "channels must be in 1–"),
        ("data.json", {"channels": 1.5}, "channels must be a whole number"),
        ("data.json", {"threads": None}, "threads must be a whole number, got null"),
        ("metrics.jsonl", {"epoch": 7}, "epoch must be 1, got 7"),
        ("metrics.jsonl", {"train_accuracy": "all"}, "train_accuracy must be a number"),
        ("metrics.jsonl", {"noise_rate": {}}, "'noise_rate' must be a number"),
    ],
)
def test_a_file_with_an_odd_field(file: str, change: State, message: str, run: RunFolder) -> None:
    path = run.path / file
    first, *rest = path.read_text().splitlines() if file.endswith("l") else [path.read_text()]
    path.write_text("\n".join([json.dumps({**json.loads(first), **change}), *rest]))
    with pytest.raises(MentorNetError, match=f"{file}.*{message}"):
        audit_run(run.path)


def test_predicting_with_nan(run: RunFolder) -> None:
    weights = run.read_weights(run.last)
    name = next(name for name, part in weights.items() if part.is_floating_point())
    run.write_weights(run.last, {**weights, name: weights[name] * torch.nan})
    with pytest.raises(MentorNetError, match=r"last.safetensors: .* must hold finite numbers"):
        load_student(run)
