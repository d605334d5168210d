"""What is known of a pretrained student before it is made: its folder, how images are prepared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mentornet.config import TrainConfig
from mentornet.data import DATASETS
from mentornet.data.encoding import WordPieces
from mentornet.data.stream.shards import has_shards
from mentornet.plugins import PRETRAINED_SOURCES
from mentornet.students import (
    HuggingFaceTexts,
    Preprocessing,
    TokenInputs,
    find_student,
    own_encoder,
    preprocessing_of,
)

__all__ = ["absolute", "encoder_for", "preprocessing_for", "sized"]


def absolute(student: str | None) -> str | None:
    """Return the name of a student with an absolute folder, so that a run can go on anywhere.

    >>> absolute("hf:no-such-folder"), absolute("fast")
    ('hf:no-such-folder', 'fast')
    """
    if student is None:
        return None
    source, _, folder = student.partition(":")
    if source in PRETRAINED_SOURCES and Path(folder).expanduser().is_dir():
        return f"{source}:{Path(folder).expanduser().absolute()}"
    return student


def sized(config: TrainConfig) -> TrainConfig:
    """Return the config with the size of images that a pretrained student was trained with.

    Named datasets and shards have a size of their own; their images are resized in each batch.
    """
    found = _found(config)
    if not isinstance(found, Preprocessing) or config.files.image_size is not None:
        return config
    if config.data in DATASETS or has_shards(Path(config.data)):
        return config
    return replace(config, files=replace(config.files, image_size=found.size))


def preprocessing_for(config: TrainConfig) -> Preprocessing | TokenInputs | None:
    """Return how inputs are prepared for the student; None if it is trained from scratch."""
    found, size = _found(config), config.files.image_size
    return replace(found, size=size) if isinstance(found, Preprocessing) and size else found


def encoder_for(student: str | None) -> Callable[[Any], Any] | None:
    """Return the function that fits the encoder of a student, if it brings its own."""
    factory = None if student is None else find_student(student)
    if isinstance(factory, HuggingFaceTexts):
        folder = f"{factory.folder.absolute()}"
        return partial(WordPieces.of_folder, folder=folder, most=factory.longest)
    return own_encoder(student)


def _found(config: TrainConfig) -> Preprocessing | TokenInputs | None:
    name = config.student.student
    return None if name is None else preprocessing_of(name)
