"""Training on images that stay in their files: from folders and shards, by one process or two."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from mentornet import MentorNetError
from mentornet.cli import main
from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    TrainConfig,
)
from mentornet.training import Trainer, train
from tests.data.layouts import put, write_imagenet, write_webvision
from tests.processes import mentornet, run_ranks, start
from tests.training.runs import streamed

METRICS = ("train_loss", "train_accuracy", "test_accuracy", "mean_weight")


def arguments(data: str, out: Path, *more: str) -> list[str]:
    return [
        "train", data, "--image-size", "8", "--student", "tests.training.sharing:Smooth",
        "--epochs", "3", "--batch-size", "12", "--workers", "1", "--precision", "32",
        "--method", "mentornet-pd", "--set", "percentile=0.7", "--out", f"{out}", *more,
    ]  # fmt: skip


def rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def close(one: Path, other: Path, columns: tuple[str, ...] = METRICS) -> None:
    for mine, theirs in zip(rows(one), rows(other), strict=True):
        for name in columns:
            assert mine[name] == pytest.approx(theirs[name], abs=1e-5), name


@pytest.mark.slow
def test_imagenet_from_folders_and_shards_by_one_and_two(tmp_path: Path) -> None:
    folder = write_imagenet(tmp_path / "imagenet")
    noise = ("--noise", "uniform:0.4")
    assert main(arguments("imagenet", tmp_path / "one", "--folder", f"{folder}", *noise)) == 0
    assert main(["shards", "imagenet", f"{tmp_path / 'packed'}", "--folder", f"{folder}"]) == 0
    packed = f"{tmp_path / 'packed'}"
    assert main(arguments(packed, tmp_path / "shards", *noise)) == 0
    for mine, theirs in zip(rows(tmp_path / "one"), rows(tmp_path / "shards"), strict=True):
        assert {n: v for n, v in mine.items() if "second" not in n} == {
            n: v for n, v in theirs.items() if "second" not in n
        }
    two = arguments("imagenet", tmp_path / "two", *noise, "--folder", f"{folder}")
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launch, "--standalone", "-m", "mentornet", *two],
        capture_output=True, text=True, check=False, timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    close(tmp_path / "one", tmp_path / "two")
    words = arguments(packed, tmp_path / "two-shards", *noise)
    for code, told in run_ranks(tmp_path, mentornet, *words):
        assert code == 0, told
    close(tmp_path / "one", tmp_path / "two-shards")


def test_webvision_is_judged_on_both_validation_sets(tmp_path: Path) -> None:
    web, home = write_webvision(tmp_path / "web"), write_imagenet(tmp_path / "imagenet")
    out = tmp_path / "run"
    words = ("--folder", f"{web}", "--imagenet", f"{home}")
    assert main(arguments("webvision", out, *words)) == 0
    last = rows(out)[-1]
    assert 0 <= last["imagenet_accuracy"] <= 1
    summary = json.loads((out / "summary.json").read_text())
    assert summary["imagenet_accuracy_last"] == last["imagenet_accuracy"]
    assert "test_accuracy_top5" not in last  # of three classes all are among the first five
    packed = f"{tmp_path / 'packed'}"
    assert main(["shards", "webvision", packed, *words]) == 0
    assert main(arguments(packed, tmp_path / "again")) == 0
    close(out, tmp_path / "again", (*METRICS, "imagenet_accuracy"))


def test_a_verified_list_names_its_images_by_path(tmp_path: Path) -> None:
    """MentorNet* of Table 5: labels that somebody has checked beside those of the web."""
    web = write_webvision(tmp_path / "web", train=16)
    lines = ["path,is_correct"]
    for label in range(3):
        for number in range(16):
            name = f"google/q{2 * label + 1 + number % 2:04d}/{number}_0.jpg"
            lines.append(f"{name},{'no' if number % 4 == 3 else 'yes'}")
    clean = put(tmp_path / "clean.csv", "\n".join(lines) + "\n")
    words = arguments("webvision", tmp_path / "run", "--folder", f"{web}", "--clean", f"{clean}")
    words[words.index("mentornet-pd")] = "mentornet-dd"
    words[words.index("percentile=0.7")] = "updates=0.4"
    assert main(words) == 0
    notes = json.loads((tmp_path / "run" / "summary.json").read_text())["notes"]
    assert any("48 verified samples" in note for note in notes)


def test_many_classes_have_a_top_five(tmp_path: Path) -> None:
    summary = train(streamed(tmp_path / "photos", classes=50, each=3, batch_size=50, workers=0))
    assert 0 <= summary["accuracy_last"] <= summary["accuracy_top5_last"] <= 1


def test_a_bad_image_is_named_or_grey(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_imagenet(tmp_path / "imagenet")
    put(folder / "train/n01440764/n01440764_3.JPEG", b"\xff\xd8 nonsense")
    words = ("--folder", f"{folder}")
    assert main(arguments("imagenet", tmp_path / "run", *words)) == 2
    error = capsys.readouterr().err
    assert "n01440764_3.JPEG cannot be read as an image" in error
    assert "--skip-bad" in error
    assert main(arguments("imagenet", tmp_path / "more", *words, "--skip-bad")) == 0
    assert "1 images cannot be read and are replaced by grey ones" in capsys.readouterr().err


def test_predict_sees_views_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_imagenet(tmp_path / "imagenet")
    assert main(arguments("imagenet", tmp_path / "run", "--folder", f"{folder}")) == 0
    put(folder / "val/n01440764/bad.JPEG", b"x")
    out = tmp_path / "said.csv"
    words = [
        "predict",
        "--trust-code",
        f"{tmp_path / 'run'}",
        f"{folder / 'val'}",
        "--out",
        f"{out}",
    ]
    assert main(words) == 2
    assert main([*words, "--skip-bad"]) == 0
    said = out.read_text().splitlines()[1:]
    right = sum(line.split(",")[0].split("/")[-2] == line.split(",")[1] for line in said)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert len(said) == 12
    assert right / 12 == pytest.approx(summary["accuracy_last"])


def test_noise_by_pixels_needs_them_in_memory(tmp_path: Path) -> None:
    folder = write_imagenet(tmp_path / "imagenet")
    noisy = TrainConfig(
        "imagenet", files=FilesConfig(folder=f"{folder}"), labels=LabelsConfig("instance:0.2")
    )
    with pytest.raises(MentorNetError, match="are streamed, but here they must be in memory"):
        train(noisy)


def dies_in_the_last_epoch(workers: Path, *words: str) -> None:
    whole = Trainer.run_epoch

    def run_epoch(self: Trainer, epoch: int) -> None:
        if epoch == 2:
            workers.write_text("\n".join(f"{child.pid}" for child in active_children()))
            os._exit(9)
        whole(self, epoch)

    Trainer.run_epoch = run_epoch  # type: ignore[method-assign]
    main(list(words))


def test_resumed_in_the_middle_it_ends_the_same(tmp_path: Path) -> None:
    folder = write_imagenet(tmp_path / "imagenet")
    words = ("--folder", f"{folder}", "--checkpoint-seconds", "0")
    assert main(arguments("imagenet", tmp_path / "whole", *words)) == 0
    stopped, workers = tmp_path / "stopped", tmp_path / "workers"
    killed = start(dies_in_the_last_epoch, workers, *arguments("imagenet", stopped, *words),
                   log=tmp_path / "log")  # fmt: skip
    assert killed.end()[0] == 9
    (worker,) = workers.read_text().splitlines()
    deadline = time.monotonic() + 10
    while Path("/proc", worker).exists():
        assert time.monotonic() < deadline, "the worker outlives the process that it works for"
        time.sleep(0.05)
    assert main(["train", "--resume", "--trust-code", "--out", f"{stopped}"]) == 0
    last = "checkpoints/last.safetensors"
    assert (tmp_path / "whole" / last).read_bytes() == (stopped / last).read_bytes()
