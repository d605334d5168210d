"""From a config to what a run needs: data with its noise, verified samples, no gaps left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from mentornet.config import TrainConfig
from mentornet.criterion import Verified
from mentornet.data import Images, Splits, corrupt_images, load_data, noise_rate, parse_noise
from mentornet.data.progress import Progress
from mentornet.data.verified import draw_verified, read_verified
from mentornet.errors import MentorNetError
from mentornet.methods import Method, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator
from mentornet.training.recipes import resolve

__all__ = ["Prepared", "prepare"]

_LIMIT, _VERIFIED = 11, 12  # streams of randomness


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a trainer starts from.

    Attributes:
        config: with no gaps left.
        train: the images to learn from, with their given labels.
        test: what the student is judged on.
        method: who supervises.
        verified: what a data-driven mentor learns from.
        notes: what the user should hear.
    """

    config: TrainConfig
    train: Images
    test: Images
    method: Method
    verified: Verified | None
    notes: tuple[str, ...]

    @property
    def noise_rate(self) -> float | None:
        """The share of given labels that are wrong, where the truth is known."""
        if self.train.true_label is None:
            return None
        return noise_rate(self.train.given_label, self.train.true_label)


def prepare(
    config: TrainConfig, *, on_progress: Progress | None = None, splits: Splits | None = None
) -> Prepared:
    """Load, limit and corrupt the data, find the verified samples, fill in the config.

    Args:
        config: as the user gave it.
        on_progress: called while files are read or fetched.
        splits: the data, where it is loaded already.
    """
    noise = None if config.labels.noise is None else parse_noise(config.labels.noise)
    verified = config.labels.clean or config.labels.clean_count
    name = config.method.method or ("mentornet-dd" if verified else "mentornet-pd")
    method = make_method(name, **parse_settings(config.method.set))
    splits = splits or _load(config, on_progress)
    train = splits.train
    if noise is not None:
        train = corrupt_images(train, noise, seed=config.seed)
    train = _limited(train, config.files.limit, config.seed)
    if len(train.given_label.unique()) < 2:
        raise MentorNetError("all training labels are of one class; there is nothing to tell apart")
    if method.needs_truth and train.true_label is None:
        if noise is None and config.data in ("digits", "fashion-mnist", "cifar10", "cifar100"):
            train = replace(train, true_label=train.given_label)  # as they ship, they are clean
        else:
            raise MentorNetError(f"{name} needs true labels, which this data does not have")
    config = resolve(config, train, method=name, dropout=method.student_dropout)
    batch_size = config.optimiser.batch_size or 0
    if batch_size > len(train):
        raise MentorNetError(
            f"batch-size must be at most the {len(train)} training images, got {batch_size}"
        )
    return Prepared(config, train, splits.test, method, _verified(config, train), splits.notes)


def _load(config: TrainConfig, on_progress: Progress | None) -> Splits:
    files = config.files
    return load_data(
        config.data,
        folder=None if files.folder is None else Path(files.folder),
        mirror=files.mirror,
        size=files.image_size,
        skip_bad=files.skip_bad,
        on_progress=on_progress,
    )


def _limited(images: Images, limit: int | None, seed: int) -> Images:
    if limit is None:
        return images
    if limit > len(images):
        raise MentorNetError(f"--limit is {limit}, but there are {len(images)} training images")
    order = torch.randperm(len(images), generator=generator(seed, _LIMIT))
    return images.rows(order[:limit].sort().values)


def _verified(config: TrainConfig, train: Images) -> Verified | None:
    labels = config.labels
    if labels.clean is not None:
        verified = Verified(*read_verified(Path(labels.clean), train))
    elif labels.clean_count is not None:
        seed = generator(config.seed, _VERIFIED).initial_seed()
        verified = Verified(*draw_verified(train, labels.clean_count, seed=seed))
    else:
        return None
    verified.check(len(train))
    return verified
