"""From a config to what a run needs: data with its noise, verified samples, no gaps left."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from mentornet.config import MachineConfig, TrainConfig, to_toml
from mentornet.data import (
    CLEAN,
    NAMES,
    Samples,
    Splits,
    corrupt_images,
    load_data,
    noise_rate,
    parse_noise,
)
from mentornet.data.holdout import hold_out
from mentornet.data.progress import Progress
from mentornet.data.verified import draw_verified, read_verified
from mentornet.errors import MentorNetError
from mentornet.methods import Method, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator
from mentornet.students import find_student
from mentornet.training.deciding import Decided, decide
from mentornet.training.recipes import resolve
from mentornet.verdicts import Verdicts

__all__ = ["Prepared", "prepare"]

_LIMIT, _VERIFIED = 11, 12  # streams of randomness


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a trainer starts from.

    Attributes:
        config: with no gaps left.
        train: the images to learn from, with their given labels.
        test: what the student is judged on.
        validation: what the best epoch is chosen by; the test images where there is none.
        method: who supervises.
        verified: what a data-driven mentor learns from, and the student is taught.
        notes: what the user should hear.
        further: what else the student is judged on, by name.
        samples: the number of each training sample before some were left out by decisions; None
            where none were.
    """

    config: TrainConfig
    train: Samples
    test: Samples
    validation: Samples | None
    method: Method
    verified: Verdicts | None
    notes: tuple[str, ...]
    further: Mapping[str, Samples] = field(default_factory=dict)
    samples: Tensor | None = None

    @property
    def noise_rate(self) -> float | None:
        """The share of given labels that are wrong, where the truth is known."""
        if self.train.true_label is None:
            return None
        return noise_rate(self.train.given_label, self.train.true_label)

    @cached_property
    def digest(self) -> str:
        """Changes with anything that the run depends on: data, labels, settings."""
        about = replace(self.config, machine=MachineConfig())
        content = hashlib.sha256(to_toml(about).encode())
        for images in (self.train, self.test, self.validation, *self.further.values()):
            if images is not None:
                content.update(images.fingerprint())
        if self.verified is not None:
            content.update(self.verified.index.numpy().data)
            content.update(self.verified.is_correct.numpy().data)
            if self.verified.true_label is not None:
                content.update(self.verified.true_label.numpy().data)
        return content.hexdigest()


def prepare(
    config: TrainConfig, *, on_progress: Progress | None = None, splits: Splits | None = None
) -> Prepared:
    """Load, limit and corrupt the data, find the verified samples, fill in the config.

    Args:
        config: as the user gave it.
        on_progress: called while files are read or fetched.
        splits: the data, where it is loaded already.
    """
    config = _absolute(config)
    noise = None if config.labels.noise is None else parse_noise(config.labels.noise)
    verified = config.labels.clean or config.labels.clean_count
    name = config.method.method or ("mentornet-dd" if verified else "mentornet-auto")
    method = make_method(name, **parse_settings(config.method.set))
    _check_method(config, method)
    if config.student.student is not None:
        find_student(config.student.student)
    splits = splits or _load(config, on_progress)
    train = splits.train
    if noise is not None:
        train = corrupt_images(train, noise, seed=config.seed)
    everything = train
    train = _limited(train, config.files.limit, config.seed)
    validation = splits.validation
    if config.files.validation is not None:
        train, validation = _held_out(train, config.files.validation)
    before, decided = train, decide(train, config.labels.decisions)
    by_hand = config.labels.clean is not None  # verdicts on the labels as they were
    train = decided.images
    if len(train.given_label.unique()) < 2:
        raise MentorNetError("all training labels are of one class; there is nothing to tell apart")
    if method.needs_truth and train.true_label is None:
        if noise is not None or config.data not in CLEAN:
            raise MentorNetError(f"{name} needs true labels, which this data does not have")
        train = replace(train, true_label=train.given_label)  # as they ship, they are clean
    config = resolve(config, train, method=name)
    batch_size = config.optimiser.batch_size or 0
    if batch_size > len(train):
        raise MentorNetError(
            f"batch-size must be at most the {len(train)} training images, got {batch_size}"
        )
    judged = before if by_hand else decided.relabelled
    found, notes = _verified(config, judged, _others(everything, splits))
    if found is not None and config.labels.decisions:
        found = _of_those_left(found, decided, by_hand=by_hand)
        found.check(len(train))
    return Prepared(
        config, train, splits.test, validation, method, found,
        (*splits.notes, *decided.notes, *notes), further=splits.further,
        samples=decided.left if config.labels.decisions else None,
    )  # fmt: skip


def _absolute(config: TrainConfig) -> TrainConfig:
    """Paths that mean the same from any folder, so that a run can be resumed from there."""
    files, labels = config.files, config.labels
    data = config.data if config.data in NAMES else _from_root(config.data)
    folder = None if files.folder is None else _from_root(files.folder)
    imagenet = files.imagenet
    if imagenet is not None and (Path(imagenet).exists() or imagenet != "imagenet"):
        imagenet = _from_root(imagenet)
    clean = None if labels.clean is None else _from_root(labels.clean)
    decisions = tuple(_from_root(path) for path in labels.decisions)
    return replace(
        config,
        data=data if Path(data).exists() else config.data,
        files=replace(files, folder=folder, imagenet=imagenet),
        labels=replace(labels, clean=clean, decisions=decisions),
    )


def _from_root(path: str) -> str:
    return f"{Path(path).absolute()}"


def _check_method(config: TrainConfig, method: Method) -> None:
    """What the method needs or has no use for, before anything is loaded."""
    verified = config.labels.clean is not None or config.labels.clean_count is not None
    if method.needs_verified and not verified:
        transfer = "; or transfer a mentor with --set mentor=NAME"
        raise MentorNetError(
            f"{method.name} learns from verified samples: name them with --clean FILE, or draw "
            "them with --clean-count N where true labels are known"
            f"{transfer if 'mentor' in method.settings else ''}"
        )
    if verified and not method.uses_verified:
        raise MentorNetError(
            f"{method.name} has no use for verified samples; leave out --clean and --clean-count"
        )
    if config.labels.clean is not None and not Path(config.labels.clean).is_file():
        raise MentorNetError(f"--clean {config.labels.clean} is missing")
    own, given = method.student_dropout, config.student.dropout
    if own is not None and given not in (None, own):
        raise MentorNetError(
            f"{method.name} sets the student's dropout to {own:g}, and --dropout to {given:g}; "
            "leave one of them out"
        )


def _others(everything: Samples, splits: Splits) -> frozenset[str]:
    """Paths that are known, whether or not they are trained on."""
    parts = (everything, splits.test, splits.validation)
    return frozenset(path for part in parts if part is not None for path in part.paths or ())


def _load(config: TrainConfig, on_progress: Progress | None) -> Splits:
    files = config.files
    return load_data(
        config.data,
        folder=None if files.folder is None else Path(files.folder),
        mirror=files.mirror,
        size=files.image_size,
        skip_bad=files.skip_bad,
        stream=files.stream,
        imagenet=None if files.imagenet is None else Path(files.imagenet),
        on_progress=on_progress,
    )


def _limited(images: Samples, limit: int | None, seed: int) -> Samples:
    if limit is None:
        return images
    if limit > len(images):
        raise MentorNetError(f"--limit is {limit}, but there are {len(images)} training images")
    order = torch.randperm(len(images), generator=generator(seed, _LIMIT))
    return images.rows(order[:limit].sort().values)


def _held_out(images: Samples, share: float) -> tuple[Samples, Samples]:
    """What is trained on, and what is held out: with given labels only, as users have them."""
    stay, held = hold_out(images.given_label, share)
    return images.rows(stay), replace(images.rows(held), true_label=None)


def _of_those_left(verified: Verdicts, decided: Decided, *, by_hand: bool) -> Verdicts:
    """The verified samples in the numbering of those that are trained on.

    A verdict that somebody wrote down is of the label as it was: it falls with a new label.
    """
    stays = decided.stays[verified.index]
    if by_hand:
        stays &= ~decided.moved[verified.index]
    place, left = decided.stays.cumsum(0) - 1, verified.rows(stays)
    return replace(left, index=place[left.index])


def _verified(
    config: TrainConfig, train: Samples, known: frozenset[str]
) -> tuple[Verdicts | None, list[str]]:
    labels, notes = config.labels, []
    if labels.clean is not None:
        elsewhere = known - frozenset(train.paths or ())
        verified = Verdicts(*read_verified(Path(labels.clean), train, elsewhere))
        notes.append(f"{len(verified.index)} verified samples are trained on")
    elif labels.clean_count is not None:
        seed = generator(config.seed, _VERIFIED).initial_seed()
        verified = Verdicts(*draw_verified(train, labels.clean_count, seed=seed))
    else:
        return None, notes
    verified.check(len(train))
    return verified, notes
