"""The doors that files come in by: a whole specimen of each, and the function that reads it."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign import specimens as made
from mentornet import MentorNetError
from mentornet.cli import main
from mentornet.config import read_config
from mentornet.data import LoadOptions, fetch_cifar, load_data, read_labels
from mentornet.data.files.label_table import read_label_table
from mentornet.data.files.transition_file import read_transition
from mentornet.data.files.vector_file import read_vectors
from mentornet.data.stream.streamed import Streamed, read_place
from mentornet.data.stream.views import view
from mentornet.experiments.results import Results
from mentornet.files import read_bytes
from mentornet.integrations.criterion_file import read_state, restore
from mentornet.mentors.cards import read_card
from mentornet.mentors.series import load_rule
from mentornet.records import read_losses, read_records
from mentornet.verdicts import read_verdicts

__all__ = ["DOORS", "Door"]


@dataclass(frozen=True)
class Door:
    """A reader, and what it reads.

    Attributes:
        make: writes a whole specimen into a folder.
        read: reads it.
        files: patterns of the files that are changed.
        writes: whether reading changes the folder, so that each case needs a new copy.
        cost: how long a case takes, in cases of a plain reader.
    """

    make: Callable[[Path], None]
    read: Callable[[Path], object]
    files: tuple[str, ...] = ("**/*",)
    writes: bool = False
    cost: int = 1


def command(*words: object) -> None:
    """Run a command of `mentornet`; what it says of a user's mistake is raised."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([f"{word}" for word in words])
    if code == 2:
        raise MentorNetError(said.getvalue().strip().splitlines()[-1])
    if code != 0:
        raise AssertionError(f"it ended with {code}: {said.getvalue()[-300:]}")


def _data(source: object, **options: Any) -> None:
    """Load data, and decode all images that are left in their files."""
    splits = load_data(f"{source}", LoadOptions(**options))
    for samples in (splits.train, splits.test):
        if isinstance(samples.inputs, Streamed):
            for place in samples.inputs.places(range(len(samples))):
                view(read_place(place), 16)


def _labels(name: str, key: str | None = "clean_label") -> Callable[[Path], object]:
    return lambda folder: read_labels(folder / name, key, count=made.COUNT)


def _verdicts(folder: Path) -> object:
    given, names = made.given_labels()
    return read_verdicts(folder / "verdicts.csv", given_label=given, class_names=names)


def _mentor(folder: Path) -> None:
    load_rule(folder)
    if (folder / "card.json").exists():
        read_card(folder)


def _criterion(folder: Path) -> None:
    path = folder / "mentor_loss.safetensors"
    restore(made.mentor_loss(), read_state(path), path)


def _stored(folder: Path) -> None:
    Results(folder / "results").check()
    command("compare", folder / "results")


def _archive(folder: Path) -> None:
    path = folder / "cifar-10-python.tar.gz"
    digest = hashlib.md5(read_bytes(path, 1 << 26)).hexdigest()  # as if it were the official one
    fetch_cifar("cifar10", folder / "cache", mirror=f"{path}", md5=digest)
    _data("cifar10", folder=folder / "cache")


def _run_files(folder: Path) -> None:
    read_records(folder / "run" / "records.parquet")
    read_losses(folder / "losses", made.SAMPLES)


DOORS: dict[str, Door] = {
    "labels.npz": Door(made.label_npz, _labels("labels.npz")),
    "labels.npy": Door(made.label_npy, _labels("labels.npy", None)),
    "labels.npy, pickled": Door(made.label_pickled_npy, _labels("labels.npy")),
    "labels.pt": Door(made.label_pt, _labels("labels.pt")),
    "labels.pt of old NumPy": Door(made.label_old_pt, _labels("old-labels.pt")),
    "labels.pt of old PyTorch": Door(made.label_legacy_pt, _labels("legacy.pt")),
    "transition.npy": Door(
        made.transition_npy, lambda folder: read_transition(folder / "transition.npy", 3)
    ),
    "transition.csv": Door(
        made.transition_csv, lambda folder: read_transition(folder / "transition.csv", 3)
    ),
    "labels.csv": Door(
        made.label_csv,
        lambda folder: read_label_table(folder / "labels.csv", count=made.COUNT),
    ),
    "vectors.npy": Door(made.vectors_npy, lambda folder: read_vectors(folder / "vectors.npy")),
    "vectors.npz": Door(made.vectors_npz, lambda folder: read_vectors(folder / "vectors.npz")),
    "vectors.parquet": Door(
        made.vectors_parquet, lambda folder: read_vectors(folder / "vectors.parquet")
    ),
    "texts.csv": Door(made.texts_csv, lambda folder: _data(folder / "texts.csv", text="text")),
    "rows.csv": Door(made.rows_csv, lambda folder: _data(folder / "rows.csv")),
    "rows.parquet": Door(made.rows_parquet, lambda folder: _data(folder / "rows.parquet")),
    "vectors.npz, labelled": Door(
        made.labelled_npz, lambda folder: _data(folder / "vectors.npz")
    ),
    "saved dataset": Door(made.saved_parts, lambda folder: _data(folder / "saved")),
    "saved dataset, ordered": Door(made.saved_order, lambda folder: _data(folder / "saved")),
    "saved dataset, vectors": Door(made.saved_vectors, lambda folder: _data(folder / "saved")),
    "saved dataset, images": Door(
        made.saved_images, lambda folder: _data(folder / "saved", stream=True)
    ),
    "manifest.csv": Door(
        made.manifest_csv, lambda folder: _data(folder / "manifest.csv"), ("manifest.csv",)
    ),
    "manifest.parquet": Door(
        made.manifest_parquet, lambda folder: _data(folder / "manifest.parquet"), ("*.parquet",)
    ),
    "image folder": Door(made.image_folder, lambda folder: _data(folder / "images")),
    "image folder, streamed": Door(
        made.image_folder, lambda folder: _data(folder / "images", stream=True)
    ),
    "CIFAR-10": Door(
        made.cifar10, lambda folder: _data("cifar10", folder=folder),
        ("*/data_batch_1", "*/test_batch", "*/batches.meta"),
    ),
    "CIFAR-100": Door(
        made.cifar100, lambda folder: _data("cifar100", folder=folder), ("*/train", "*/meta")
    ),
    "CIFAR-10 in Parquet": Door(
        made.cifar10_parquet, lambda folder: _data("cifar10", folder=folder)
    ),
    "archive of CIFAR-10": Door(made.archive, _archive, writes=True),
    "IDX": Door(made.idx, lambda folder: _data("fashion-mnist", folder=folder)),
    "ImageNet": Door(
        made.imagenet, lambda folder: _data("imagenet", folder=folder), ("*.csv", "val/*")
    ),
    "WebVision": Door(
        made.webvision, lambda folder: _data("webvision", folder=folder), ("info/*.txt",)
    ),
    "shards": Door(made.shards, lambda folder: _data(folder / "shards")),
    "shards of others": Door(made.foreign_shards, lambda folder: _data(folder / "shards")),
    "verdicts.csv": Door(made.verdicts, _verdicts),
    "config.toml": Door(made.config, lambda folder: read_config(folder / "config.toml")),
    "config.toml, dry run": Door(
        made.config,
        lambda folder: command("train", "--config", folder / "config.toml", "--dry-run"),
        cost=4,
    ),
    "mentor": Door(made.mentor, _mentor, ("*.json", "*.safetensors")),
    "series of mentors": Door(made.series, _mentor),
    "state of a MentorLoss": Door(made.criterion, _criterion),
    "results": Door(made.results, _stored, cost=8),
    "records and losses": Door(made.run_files, _run_files, ("run/records.parquet", "losses/*")),
    "audit of a run": Door(
        made.run, lambda folder: command("audit", folder / "run"),
        ("run/*.json", "run/*.toml", "run/*.npz", "run/*.jsonl", "run/*.parquet",
         "run/checkpoints/*.safetensors"), True, 6,
    ),
    "predict with a run": Door(
        made.run, lambda folder: command("predict", folder / "run", folder / "images"),
        ("run/data.json", "run/config.toml", "run/checkpoints/*.safetensors", "images/*"), True, 4,
    ),
    "predict rows": Door(
        made.run_on_rows, lambda folder: command("predict", folder / "run", folder / "new.csv"),
        ("run/data.json", "run/encoder.json", "new.csv"), cost=4,
    ),
    "resume": Door(
        made.unfinished, lambda folder: command("train", "--out", folder / "run", "--resume"),
        ("run/*.json", "run/*.toml", "run/*.jsonl", "run/checkpoints/epoch*", "run/mentors/**/*",
         "run/trajectories/*"), True, 8,
    ),
    "learn-mentor": Door(
        made.run_with_verdicts,
        lambda folder: command(
            "learn-mentor", "--run-folder", folder / "run", "--out", folder / "out", "--steps", 5
        ),
        ("run/data.json", "run/*.toml", "run/*.parquet"), True, 8,
    ),
}  # fmt: skip
"""Every door, by the name that the table of the campaign has for it."""
