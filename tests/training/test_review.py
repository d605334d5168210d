"""Mistakes that were made once: what a run must notice before it is too late."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mentornet.data import Samples, Splits, load_digits
from mentornet.errors import MentorNetError
from mentornet.locking import LOCK
from mentornet.methods import Task, make_method
from mentornet.training import DivergedError, Observer, RunFolder, Trainer, train
from tests.training.runs import METHOD_SETTINGS, prepared, small
from tests.training.test_resume import interrupted


class Tied(nn.Module):
    """Two names for one layer."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.one = self.other = nn.Linear(channels * 64, classes)

    def forward(self, images: Tensor) -> Tensor:
        return torch.as_tensor(self.one(images.flatten(1)))


class Wrong(Tied):
    def __init__(self, channels: int, classes: int) -> None:
        super().__init__(channels, classes + 5)


class Deep(Tied):
    def __init__(self, channels: int, classes: int) -> None:
        super().__init__(channels * 2, classes)


def broken(channels: int, classes: int) -> nn.Module:
    raise ValueError("out of ideas")


HERE = "tests.training.test_review"


class Notes(Observer):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def test_a_student_with_shared_weights_is_saved(tmp_path: Path) -> None:
    train(small("full-model", student=f"{HERE}:Tied", width=None, epochs=1), tmp_path)
    run = RunFolder(tmp_path)
    assert set(run.read_weights(run.last)) == {
        "one.weight", "one.bias", "other.weight", "other.bias"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("Wrong", r"logits of shape \(B, K\) = \(32, 10\), got \(32, 15\)"),
        ("Deep", r"cannot read a batch of 32 images of shape \(1, 8, 8\)"),
        ("broken", "cannot be made: .*: out of ideas"),
        ("nothing", "must name a module and a factory"),
    ],
)
def test_a_student_that_cannot_work_is_named_at_the_door(
    student: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(MentorNetError, match=message):
        train(small(student=f"{HERE}:{student}", width=None), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_batch_norm_of_one_sample_is_named_at_the_door() -> None:
    with pytest.raises(MentorNetError, match="cannot read a batch of 1 images"):
        Trainer(prepared(student="fast", batch_size=1))


def test_a_checkpoint_that_cannot_predict_is_not_written(tmp_path: Path) -> None:
    """The losses are all fine, the weights after the last step of the epoch are not."""
    config = small("full-model", batch_size=192, warm_up=0.0, learning_rate=1e38, epochs=3, set=())
    with pytest.raises(DivergedError, match="there is no checkpoint yet"):
        train(config, tmp_path)
    assert RunFolder(tmp_path).checkpoints.paths() == []


def digits(change: str | None = None) -> Splits:
    splits = load_digits()
    pixels, label = splits.train.tensor[:192].clone(), splits.train.given_label[:192].clone()
    classes = splits.train.classes
    if change == "pixels":
        pixels[7] = 255 - pixels[7]
    if change == "labels":
        label[7] = (label[7] + 1) % 10
    if change == "classes":
        classes = (*classes[:-1], "ninth")
    test = splits.test if change != "test" else splits.test.rows(slice(1, None))
    return Splits(Samples(pixels, label, classes), replace(test, classes=classes))


@pytest.mark.parametrize("change", ["pixels", "labels", "classes", "test"])
def test_changed_data_is_found_out(change: str, tmp_path: Path) -> None:
    config = small("full-model", noise=None, limit=None, epochs=1)
    train(config, tmp_path, splits=digits())
    assert train(config, tmp_path, resume=True, splits=digits())["epochs"] == 1
    with pytest.raises(MentorNetError, match="the data has changed since"):
        train(config, tmp_path, resume=True, splits=digits(change))


@pytest.mark.parametrize("changes", [{"seed": 1}, {"width": 8}, {"method": "focal", "set": ()}])
def test_a_checkpoint_of_another_run_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    interrupted(small(), tmp_path / "mine", 3)
    interrupted(small(**{"method": "mentornet-pd", **changes}), tmp_path / "other", 3)
    mine, other = RunFolder(tmp_path / "mine"), RunFolder(tmp_path / "other")
    for path in mine.checkpoints.paths():
        path.unlink()
    for path in other.checkpoints.paths():
        (mine.path / "checkpoints" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(MentorNetError, match="of a run with another config or other data"):
        train(small(), mine.path, resume=True)


def test_machine_options_on_resume(tmp_path: Path) -> None:
    interrupted(small(), tmp_path / "run", 3)
    with pytest.raises(MentorNetError, match=r"machine.precision is '32', not 'bf16'"):
        train(small(precision="bf16"), tmp_path / "run", resume=True)
    train(small(tensorboard=True), tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "tensorboard").is_dir()


def test_killed_as_it_began(tmp_path: Path) -> None:
    """Data and labels are there, and half a file; the config, which marks a run, is not."""
    interrupted(small(), tmp_path, 1)
    (tmp_path / "config.toml").unlink()
    for path in tmp_path.iterdir():
        if path.name not in ("data.json", "labels.npz", LOCK):
            _remove(path)
    (tmp_path / f".config.toml.{'0' * 16}").write_text("half")
    assert train(small(epochs=1), tmp_path)["epochs"] == 1
    assert [path.name for path in tmp_path.glob(".*")] == [LOCK]


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    else:
        path.unlink()


def test_what_a_kill_left_half_written_is_swept(tmp_path: Path) -> None:
    interrupted(small(), tmp_path / "run", 3)
    half = tmp_path / "run" / "checkpoints" / f".epoch-0003-x.pt.{'a' * 16}"
    half.write_bytes(b"half")
    train(small(), tmp_path / "run", resume=True)
    assert not half.exists()


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mentornet.training import RunFolder\n"
        f"with RunFolder(Path({str(tmp_path / 'run')!r})).alone():\n"
        "    print('in', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "in\n"
    with pytest.raises(MentorNetError, match="is in use by another process"):
        train(small(epochs=1), tmp_path / "run")
    other.communicate("")
    assert train(small(epochs=1), tmp_path / "run")["epochs"] == 1


def test_another_number_of_threads_is_mentioned(tmp_path: Path) -> None:
    interrupted(small(), tmp_path / "run", 2)
    run, notes = RunFolder(tmp_path / "run"), Notes()
    text = run.data.read_text().replace('"threads": 1', '"threads": 3')
    run.data.write_text(text)
    train(small(), run.path, resume=True, observer=notes)
    assert any("started on 3 threads and continues on 1" in line for line in notes.lines)


def test_checkpoints_are_in_order_of_epochs(tmp_path: Path) -> None:
    checkpoints = RunFolder(tmp_path).checkpoints
    for epoch in (9998, 9999, 10000, 10001):
        checkpoints.save(epoch, {"epoch": epoch})
    state, _ = checkpoints.load_last()
    assert state == {"epoch": 10001}
    assert len(checkpoints.paths()) == 2


@pytest.mark.parametrize(
    "method",
    sorted(METHOD_SETTINGS.keys() - {"mentornet-dd", "mentornet-features", "verified"}),
)
def test_all_state_is_on_the_device_of_the_run(method: str) -> None:
    """Tried on the meta device, as there may be no other than the CPU.

    (DD and verified look at their verified samples as they start, and features at all samples,
    which that device cannot; they hold what they remember wherever those are.)
    """
    from mentornet.methods.settings import parse_settings
    from mentornet.methods.weighted import Weighted

    count = 20
    task = Task(count, 10, 5, device="meta", is_correct=torch.ones(count).bool())
    supervision = make_method(method, **parse_settings(METHOD_SETTINGS[method])).start(task)
    held: list[Tensor] = [*supervision.parameters()]
    if isinstance(supervision, Weighted):
        held += [*supervision.engine.buffers()]
        assert held
        rule = supervision.engine.rule
        held += [*rule.parameters()] if isinstance(rule, nn.Module) else []
    assert {tensor.device.type for tensor in held} <= {"meta"}


def test_the_best_epoch_is_chosen_on_validation_images(tmp_path: Path) -> None:
    splits = load_digits()
    validation, test = splits.test.rows(slice(0, 40)), splits.test.rows(slice(40, None))
    three = Splits(splits.train, test, validation)
    summary = train(small(), tmp_path, splits=three)
    rows = RunFolder(tmp_path).read_metrics()
    best = max(rows, key=lambda row: row["validation_accuracy"])
    assert summary["best_epoch"] == best["epoch"]
    assert summary["accuracy_best"] == best["test_accuracy"]


def test_dd_waits_until_enough_verified_samples_were_seen() -> None:
    summary = Trainer(
        prepared("mentornet-dd", epochs=1, limit=512, clean_count=15, set=("steps=5",))
    ).fit()
    assert len(summary["notes"]) >= 1


def test_a_run_is_resumed_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("clean.csv").write_text("\n".join(["index", *map(str, range(30))]))
    config = small("mentornet-dd", verdicts=("clean.csv",), clean_count=None, set=("steps=5",))
    interrupted(config, tmp_path / "run", 3)
    monkeypatch.chdir(tmp_path)
    from mentornet.config import read_config

    stored = read_config(tmp_path / "run" / "config.toml")
    assert train(stored, tmp_path / "run", resume=True)["epochs"] == 6
    assert Path(stored.labels.verdicts[0]).is_absolute()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"momentum": 0.0}, "nesterov is true and needs a momentum above 0"),
        ({"checkpoint_seconds": float("inf")}, "checkpoint_seconds must be ≥ 0, got inf"),
    ],
)
def test_settings_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        prepared(**changes)


def test_drawn_verdicts_put_labels_right_for_a_method_that_does_not_learn_from_them() -> None:
    """As verdicts from a file do; they are those that DD would learn from."""
    taught, plain = prepared("mentornet-pd", clean_count=60), prepared("mentornet-pd")
    learned = prepared("mentornet-dd", clean_count=60).verdicts
    assert learned is not None
    assert taught.verdicts is None
    assert taught.train.true_label is not None
    wrong = learned.index[~learned.is_correct]
    assert len(wrong) > 0
    changed = (taught.train.given_label != plain.train.given_label).nonzero().flatten()
    assert sorted(changed.tolist()) == sorted(wrong.tolist())
    assert torch.equal(taught.train.given_label[wrong], taught.train.true_label[wrong])


def test_two_dropouts_are_one_too_many() -> None:
    with pytest.raises(MentorNetError, match=r"forgetting sets the dropout of the student to 0.3"):
        prepared("forgetting", dropout=0.1)


def test_names_that_are_no_text_are_refused_at_the_door() -> None:
    """A file's name may be bytes that no text stands for; it could not be written anywhere."""
    images = load_digits().train.rows(slice(0, 2))
    with pytest.raises(MentorNetError, match=r"the name 'caf\\udce9.png' is not valid text"):
        replace(images, paths=("fine – ünïcode.png", "caf\udce9.png"))
    assert replace(images, paths=("fine – ünïcode.png", "b\u200b.png")).paths is not None


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("data.json", "{}", "data.json has no classes; was it written by mentornet"),
        ("metrics.jsonl", "{half", "metrics.jsonl, line 1, is not JSON"),
        ("summary.json", "{}", "summary.json has no method"),
    ],
)
def test_files_that_were_edited(file: str, content: str, message: str, tmp_path: Path) -> None:
    train(small(epochs=1), tmp_path)
    (tmp_path / file).write_text(content)
    run = RunFolder(tmp_path)
    with pytest.raises(MentorNetError, match=message):
        run.about(), run.read_metrics(), run.read_summary()


def test_no_space_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mentornet import files

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*notes.txt'"):
        files.write_text(tmp_path / "notes.txt", "much")


def test_focal_loss_has_a_gradient_where_the_prediction_is_sure() -> None:
    from mentornet.methods import focal_loss

    logits = torch.tensor([[50.0, 0.0]], requires_grad=True)
    for gamma in (0.0, 0.5, 1.0, 2.0):
        (gradient,) = torch.autograd.grad(
            focal_loss(logits, torch.tensor([0]), gamma=gamma).sum(), logits
        )
        assert gradient.isfinite().all()
