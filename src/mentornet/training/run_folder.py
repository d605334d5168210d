"""The folder of a run: its files, and which process may write them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from mentornet.config import TrainConfig, differences, read_config, write_config
from mentornet.data import Samples
from mentornet.data.encoding import Encoder, WordPieces, read_encoder
from mentornet.distributed import job
from mentornet.errors import MentorNetError, first_line
from mentornet.files import (
    parse_json,
    read_bytes,
    read_json,
    read_lines,
    sweep,
    write_bytes,
    write_json,
    write_text,
)
from mentornet.locking import LOCK, alone
from mentornet.mentors.series import Point, read_points, write_points
from mentornet.mentors.store import CONFIG, INDEX
from mentornet.plugins import folder_of_code, is_factory
from mentornet.schema import typed
from mentornet.students import find_student
from mentornet.students.hugging_face import (
    HuggingFaceImages,
    HuggingFaceTexts,
    keep_description,
)
from mentornet.training.checkpoints import Checkpoints
from mentornet.training.stored import DataFacts, Summary, check_rows
from mentornet.weighting import LearnedMentor

__all__ = ["RunFolder"]

_TEMPORARY = re.compile(  # left by `files.write_bytes` if the process was killed
    r"\.(config\.toml|data\.json|encoder\.json|labels\.npz|metrics\.jsonl|records\.parquet|summary\.json|"
    r"curves\.\w+|\w+\.safetensors|epoch-.*)\.[0-9a-f]{16}"
)

_LARGEST = 1 << 35  # bytes of the largest file of weights


class RunFolder:
    """The paths and files of one run.

    Args:
        path: the folder; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.data = path / "data.json"
        self.labels = path / "labels.npz"
        self.encoder = path / "encoder.json"
        self.metrics = path / "metrics.jsonl"
        self.records = path / "records.parquet"
        self.summary = path / "summary.json"
        self.trajectories = path / "trajectories"
        self.mentors = path / "mentors"
        self.best = path / "checkpoints" / "best.safetensors"
        self.last = path / "checkpoints" / "last.safetensors"
        self.student = path / "student"
        self.checkpoints = Checkpoints(path / "checkpoints")

    def check_free(self) -> None:
        """Raise if a new run cannot be written here."""
        for above in (self.path, *self.path.parents):
            if above.exists() and not above.is_dir():
                raise MentorNetError(f"out must be a folder, but {above} is a file")
        if self.config.exists():
            raise MentorNetError(
                f"{self.path} already has a run; set resume to continue it, or choose another out"
            )
        found = {entry.name for entry in self.path.iterdir()} if self.path.exists() else set()
        ours = {
            LOCK,
            self.data.name,
            self.labels.name,
            self.encoder.name,
            self.student.name,
        }  # of a run that was killed at its start
        foreign = {name for name in found - ours if not _TEMPORARY.fullmatch(name)}
        if foreign:
            raise MentorNetError(
                f"{self.path} is not empty (it has {min(foreign)}); choose another out"
            )

    def sweep(self) -> None:
        """Remove the unfinished files of a process that was killed."""
        below = [path for path in self.mentors.glob("*") if path.is_dir()]
        for folder in (self.path, self.best.parent, self.trajectories, self.mentors, *below):
            if folder.is_dir():
                sweep(folder, age=0)  # nobody else trains here

    def check_there(self) -> None:
        """Raise if the folder has vanished since the run began."""
        if not self.config.exists():
            raise MentorNetError(
                f"{self.path} has vanished while the run was going on: {self.config.name} is gone, "
                "so nothing more is saved there; was it moved or deleted?"
            )

    def start(
        self,
        config: TrainConfig,
        images: Samples,
        digest: str,
        samples: Tensor | None = None,
        encoder: Encoder | None = None,
        *,
        chosen_on: int | None = None,
    ) -> None:
        """Write what is known before the first step. The config is last, because it marks a run.

        Args:
            config: the config of the run.
            images: the training samples.
            digest: the digest of everything that the run depends on.
            samples: the numbers of the samples, if some were left out before.
            encoder: what their inputs were made with.
            chosen_on: the number of samples that the best epoch is chosen by.
        """
        height, width = images.shape[1:] if images.kind == "images" else (1, 1)
        about = {
            "classes": list(images.classes), "kind": images.kind, "channels": images.channels,
            "height": height, "width": width, "streamed": images.streamed,
            "train_images": len(images), "best_chosen_on": chosen_on, "digest": digest,
            "code": _folder_of_student(config),
            "threads": torch.get_num_threads(), "job": job(),
        }  # fmt: skip
        write_json(self.data, about)
        if encoder is not None:
            write_json(self.encoder, encoder.as_json())
        labels = {"given_label": images.given_label.numpy()}
        if images.true_label is not None:
            labels["true_label"] = images.true_label.numpy()
        if samples is not None:
            labels["index"] = samples.numpy()
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **labels)  # type: ignore[arg-type]
        write_bytes(self.labels, buffer.getvalue())
        factory = find_student(config.student.student or "")
        if isinstance(factory, HuggingFaceImages | HuggingFaceTexts):
            keep_description(factory.folder, self.student)
        write_config(self.config, config)

    def check_same(self, config: TrainConfig) -> None:
        """Raise if the run in this folder has another config."""
        stored = read_config(self.config)
        changed = differences(stored, replace(config, machine=stored.machine))
        for name in ("accelerator", "precision", "channels_last", "compile"):
            asked, kept = getattr(config.machine, name), getattr(stored.machine, name)
            if asked not in ("auto", kept):
                changed.append(f"machine.{name} is {kept!r}, not {asked!r}")
        if changed:
            raise MentorNetError(
                f"{self.path} is a run with another config: {'; '.join(changed)}; resume it with "
                "its own settings, or choose another out"
            )

    def read_encoder(self) -> Encoder | None:
        """Read what the inputs were made with; None if they are images, or came as tensors."""
        if not self.encoder.is_file():
            return None
        encoder = read_encoder(read_json(self.encoder), f"{self.encoder}")
        if isinstance(encoder, WordPieces) and self.student.is_dir():
            return replace(encoder, folder=f"{self.student}")  # of which the run has a copy
        return encoder

    def write_metrics(self, rows: list[dict[str, Any]]) -> None:
        """Write the metrics, one line of JSON for each epoch."""
        write_text(self.metrics, "".join(json.dumps(row) + "\n" for row in rows))

    def read_metrics(self) -> list[dict[str, Any]]:
        """Read the metrics of the epochs so far."""
        if not self.metrics.exists():
            raise MentorNetError(f"{self.metrics} is missing; is {self.path} a run?")
        rows = [
            parse_json(line.encode(), f"{self.metrics}, line {number},")
            for number, line in enumerate(read_lines(self.metrics), 1)
        ]
        check_rows(rows, f"{self.metrics}")
        return rows

    def write_weights(self, path: Path, weights: Mapping[str, Tensor]) -> None:
        """Write a student's weights as safetensors."""
        apart = {name: part.detach().cpu().clone().contiguous() for name, part in weights.items()}
        write_bytes(path, save(apart))  # safetensors allows one name for a tensor

    def read_weights(self, path: Path) -> dict[str, Tensor]:
        """Read a student's weights."""
        if not path.exists():
            raise MentorNetError(f"{path} is missing; has the run got that far?")
        try:
            return load(read_bytes(path, _LARGEST))
        except SafetensorError as error:
            raise MentorNetError(
                f"{path} cannot be read ({first_line(error)}); was it cut short?"
            ) from None

    def write_mentors(self, learned: Mapping[str, LearnedMentor]) -> None:
        """Write every mentor learned so far into its folder, and then the index of the series."""
        points = [Point(found.number, found.progress, name) for name, found in learned.items()]
        for name, found in learned.items():
            if not (self.mentors / name / CONFIG).exists():  # which is written last
                found.mentor.save_pretrained(self.mentors / name)
        if points:
            write_points(self.mentors, points)

    def learned_mentors(self) -> list[tuple[Path, int]]:
        """Return the folder of every mentor in order, and the progress in percent at the time."""
        if not (self.mentors / INDEX).exists():
            return []
        points = read_points(self.mentors)
        return [(self.mentors / point.folder, point.progress) for point in points]

    def check_data(self, digest: str) -> None:
        """Raise if the data has changed since the run was started."""
        if self.about().digest != digest:
            raise MentorNetError(
                f"the data has changed since {self.path} was started: images, labels, classes or "
                "verified samples differ; choose another out"
            )

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary, which marks a run as finished."""
        write_json(self.summary, summary)

    def read_summary(self) -> dict[str, Any]:
        """Read the summary of a finished run."""
        summary = read_json(self.summary)
        typed(Summary, summary, f"{self.summary}")
        return summary

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from training in this folder meanwhile."""
        self.path.mkdir(parents=True, exist_ok=True)
        with alone(self.path, wait=False) as mine:
            if not mine:
                raise MentorNetError(f"{self.path} is in use by another process")
            yield

    def drop_trajectories(self) -> None:
        """Delete the files that the records were made of."""
        if self.trajectories.is_dir():
            for file in self.trajectories.iterdir():
                file.unlink()
            self.trajectories.rmdir()

    def about(self) -> DataFacts:
        """Read what is known of the data, and how the run was started."""
        return DataFacts.of(read_json(self.data), f"{self.data}")


def _folder_of_student(config: TrainConfig) -> str | None:
    """Return the folder of the code of a student of the user's own, which predictions need too."""
    name = config.student.student or ""
    return folder_of_code(name) if is_factory(name) else None
