"""Prepare a run: the data and its noise, the verdicts, the method and the complete config."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from mentornet.config import MachineConfig, TrainConfig, to_toml
from mentornet.data import (
    DATASETS,
    HeldOut,
    LoadOptions,
    Samples,
    Splits,
    check_inputs,
    corrupt_splits,
    load_data,
    noise_rate,
    parse_noise,
)
from mentornet.data.encoding import Encoder
from mentornet.data.holdout import hold_out
from mentornet.data.progress import Progress
from mentornet.data.stream.shards import has_shards
from mentornet.data.stream.streamed import Streamed
from mentornet.errors import MentorNetError
from mentornet.methods import Method, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator
from mentornet.students import Preprocessing, TokenInputs, check_reads, find_student
from mentornet.training.presets import deviations, with_preset
from mentornet.training.pretrained import absolute, encoder_for, preprocessing_for, sized
from mentornet.training.recipes import Facts, is_frozen, resolve
from mentornet.training.verdict_use import (
    choose_method,
    default_method,
    gather_verdicts,
    is_pretrained,
    use_verdicts,
)
from mentornet.verdicts import Verdicts

__all__ = ["Prepared", "prepare", "preview"]

_LIMIT = 11  # a stream of randomness
_TESTED = 1_000  # test samples that are kept, whatever the limit is


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything that a trainer starts from.

    Attributes:
        config: the config, with a value for every setting.
        train: the samples to learn from, with their given labels.
        test: the samples that the student is evaluated on.
        validation: the samples that the best epoch is chosen by; by the test samples if None.
        method: the method that trains the student.
        verdicts: the verdicts on labels, for a method that learns from them.
        notes: lines for the user.
        further: other samples that the student is evaluated on too, by name.
        samples: the number of each training sample before verdicts left some out; None where they
            did not.
        preprocessing: how images are prepared for a pretrained student; None for all others.
        body: the frozen part of a pretrained student, if the samples are the features that it makes
            (see `training.frozen_features`).
        origin: the same run with the images that the features were made of.
        encoder: what the inputs were made with, if they came as texts, rows or vectors.
        count: the number of training samples before verdicts left some out. Samples of other parts
            are numbered from there on.
        held_out: the labels of parts that were taken from the training samples, by name.
    """

    config: TrainConfig
    train: Samples
    test: Samples
    validation: Samples | None
    method: Method
    verdicts: Verdicts | None
    notes: tuple[str, ...]
    further: Mapping[str, Samples] = field(default_factory=dict)
    samples: Tensor | None = None
    preprocessing: Preprocessing | TokenInputs | None = None
    body: nn.Module | None = None
    origin: Prepared | None = None
    encoder: Encoder | None = None
    count: int = 0
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)

    @property
    def noise_rate(self) -> float | None:
        """The share of given labels that are wrong; None if true labels are not known."""
        if self.train.true_label is None:
            return None
        return noise_rate(self.train.given_label, self.train.true_label)

    @property
    def is_correct(self) -> Tensor | None:
        """Whether each given label is correct, `(N,)`; None if true labels are not known."""
        if self.train.true_label is None:
            return None
        return self.train.given_label == self.train.true_label

    @cached_property
    def digest(self) -> str:
        """A digest of everything that the result depends on: data, labels and settings."""
        if self.origin is not None:
            return self.origin.digest
        about = replace(self.config, machine=MachineConfig())
        content = hashlib.sha256(to_toml(about).encode())
        for samples in (self.train, self.test, self.validation, *self.further.values()):
            if samples is not None:
                content.update(samples.fingerprint())
        if self.verdicts is not None:
            content.update(self.verdicts.index.numpy().data)
            content.update(self.verdicts.is_correct.numpy().data)
            content.update(self.verdicts.true_label.numpy().data)
        return content.hexdigest()


def prepare(
    config: TrainConfig, *, on_progress: Progress | None = None, splits: Splits | None = None
) -> Prepared:
    """Load, limit and corrupt the data, read the verdicts, choose the method, fill in the config.

    Args:
        config: the user's config.
        on_progress: called while files are read or downloaded.
        splits: the data, if it is loaded already.
    """
    config = with_preset(_absolute(config))
    for file in config.labels.verdicts:
        if not Path(file).exists():
            raise MentorNetError(f"verdicts must name files that exist, but {file} is missing")
    noise = None if config.labels.noise is None else parse_noise(config.labels.noise)
    settings = parse_settings(config.method.set)
    if config.method.method is not None:  # find mistakes before anything is loaded
        _check_method(config, make_method(config.method.method, **settings))
    if config.student.student is not None:
        find_student(config.student.student)
    config = sized(config)
    splits = splits or _load(config, on_progress)
    config, by_itself = _as_loaded(config, splits.train)
    for part in (splits.train, splits.test, splits.validation, *splits.further.values()):
        if part is not None:
            check_inputs(part)
    if noise is not None:
        splits = corrupt_splits(splits, noise, seed=config.seed)
    train = _limited(splits.train, config.files.limit, config.seed)
    splits = _fewer_tests(splits, config.files.limit)
    validation, held_out = splits.validation, dict(splits.held_out)
    if config.files.validation is not None:
        train, validation, held_out["validation"] = _held_out(train, config.files.validation)
    others = sum(len(part) for part in (splits.test, validation) if held_out and part is not None)
    verdicts, replaced = gather_verdicts(config, train, _known_paths(splits), others)
    count = len(train)
    frozen = is_frozen(config.student, len(train))
    name, why = choose_method(config, train, verdicts, frozen=frozen)
    method = make_method(name, **settings)
    _check_method(config, method)
    train, verified, samples, done = use_verdicts(config, method, train, verdicts)
    if len(train.given_label.unique()) < 2:
        raise MentorNetError("all training labels are of one class; at least two are needed")
    if method.needs.true_labels and train.true_label is None:
        if noise is not None or not _has_clean_labels(config.data):
            raise MentorNetError(f"{name} needs true labels, which this data does not have")
        train = replace(train, true_label=train.given_label)  # the labels of this dataset are clean
    _check_kind(config, method, train)
    facts = Facts.of(train)  # the student is that of images in memory, unless asked otherwise
    facts = replace(facts, streamed=facts.streamed and not by_itself)
    config = resolve(config, facts, name=name, method=method)
    check_reads(config.student.student or "", train.kind)
    batch_size = config.optimiser.batch_size or 0
    if batch_size > len(train):
        raise MentorNetError(
            f"batch_size must be at most the {len(train)} training samples, got {batch_size}"
        )
    padding, side = config.optimiser.padding or 0, max(train.shape[1:], default=0)
    if padding > side and train.kind == "images":
        raise MentorNetError(f"padding must be at most the {side} pixels of a side, got {padding}")
    return Prepared(
        config, train, splits.test, validation, method, verified,
        (*splits.notes, *replaced, *done, *why, *deviations(config)), further=splits.further,
        samples=samples, count=count, held_out=held_out, encoder=splits.encoder,
        preprocessing=preprocessing_for(config),
    )  # fmt: skip


def preview(config: TrainConfig, *, on_progress: Progress | None = None) -> TrainConfig:
    """Return the complete config of a run; a named dataset is not loaded for it.

    Args:
        config: the user's config.
        on_progress: called while files are read.
    """
    known = with_preset(_absolute(config))
    name = known.method.method
    open_still = name is None and (known.labels.verdicts or is_pretrained(known))
    if known.data not in DATASETS or open_still:
        return prepare(config, on_progress=on_progress).config
    dataset = DATASETS[known.data]
    facts = Facts.of_dataset(dataset)
    count = min(known.files.limit or facts.count, facts.count)
    drawn = known.labels.clean_count is not None
    name = name or default_method(known, facts.kind, count, dataset.classes, verified=drawn)
    method = make_method(name, **parse_settings(known.method.set))
    _check_method(known, method)
    return resolve(known, replace(facts, count=count), name=name, method=method)


def _absolute(config: TrainConfig) -> TrainConfig:
    """Return the config with absolute paths, so that a run can be resumed from any folder."""
    files, labels = config.files, config.labels
    data = config.data if config.data in DATASETS else _from_root(config.data)
    folder = None if files.folder is None else _from_root(files.folder)
    beside = None if files.labels is None else _from_root(files.labels)
    imagenet = files.imagenet
    if imagenet is not None and (Path(imagenet).exists() or imagenet != "imagenet"):
        imagenet = _from_root(imagenet)
    return replace(
        config,
        data=data if Path(data).exists() else config.data,
        files=replace(files, folder=folder, imagenet=imagenet, labels=beside),
        labels=replace(labels, verdicts=tuple(map(_from_root, labels.verdicts))),
        student=replace(config.student, student=absolute(config.student.student)),
    )


def _from_root(path: str) -> str:
    return f"{Path(path).absolute()}"


def _check_method(config: TrainConfig, method: Method) -> None:
    """Raise if the config lacks what the method needs, or has what it cannot use."""
    labels = config.labels
    drawn = labels.clean_count is not None
    if method.needs.verdicts == "required" and not labels.verdicts and not drawn:
        transfer = "; or transfer a mentor with the method's setting mentor"
        raise MentorNetError(
            f"{method.name} learns from verified samples: name files that list them in verdicts, "
            "or draw them with clean_count where true labels are known"
            f"{transfer if 'mentor' in method.settings else ''}"
        )
    own, given = method.needs.dropout, config.student.dropout
    if own is not None and given not in (None, own):
        raise MentorNetError(
            f"dropout is {given:g}, but {method.name} sets the dropout of the student to {own:g}; "
            "leave one of them out"
        )


def _check_kind(config: TrainConfig, method: Method, train: Samples) -> None:
    """Raise if the config or the method needs images, or numbers, and the samples are others."""
    if method.needs.blends and train.kind == "tokens":
        raise MentorNetError(f"{method.name} blends samples, which is not possible with texts")
    for name in ("augment", "padding"):
        if getattr(config.optimiser, name) and train.kind != "images":
            raise MentorNetError(
                f"the setting {name} has no meaning for {train.kind}; leave it out"
            )


def _known_paths(splits: Splits) -> frozenset[str]:
    """Return the paths of all samples, also of those that are not trained on."""
    parts = (splits.train, splits.test, splits.validation)
    return frozenset(path for part in parts if part is not None for path in part.paths or ())


def _load(config: TrainConfig, on_progress: Progress | None) -> Splits:
    files = config.files
    options = LoadOptions(
        folder=None if files.folder is None else Path(files.folder),
        mirror=files.mirror,
        image_size=files.image_size,
        skip_bad=files.skip_bad,
        stream=files.stream,
        imagenet=None if files.imagenet is None else Path(files.imagenet),
        text=files.text,
        label=files.label,
        labels=None if files.labels is None else Path(files.labels),
        encoder=encoder_for(config.student.student),
        on_progress=on_progress,
    )
    return load_data(config.data, options)


def _as_loaded(config: TrainConfig, train: Samples) -> tuple[TrainConfig, bool]:
    """Return the config, and whether the images are streamed because they did not fit into memory.

    It then says `stream`, so that the run goes on, and is audited, on a machine that has more.
    """
    inputs, files = train.inputs, config.files
    shipped = config.data in DATASETS or has_shards(Path(config.data))
    if files.stream or shipped or not isinstance(inputs, Streamed):
        return config, False
    files = replace(files, stream=True, image_size=inputs.side)
    padding = config.optimiser.padding or 0  # views are random crops of the whole image
    optimiser = replace(config.optimiser, padding=padding)
    return replace(config, files=files, optimiser=optimiser), True


def _has_clean_labels(data: str) -> bool:
    return data in DATASETS and DATASETS[data].has_clean_labels


def _limited(samples: Samples, limit: int | None, seed: int) -> Samples:
    """Return `limit` samples, drawn at random, in their old order."""
    if limit is None:
        return samples
    if limit > len(samples):
        raise MentorNetError(f"limit is {limit}, but there are {len(samples)} training samples")
    order = torch.randperm(len(samples), generator=generator(seed, _LIMIT))
    return samples.rows(order[:limit].sort().values)


def _fewer_tests(splits: Splits, limit: int | None) -> Splits:
    """Return at most as many test samples as are trained on, but 1,000 if there are so many.

    They are the same for every seed, so that runs can be compared.
    """
    if limit is None:
        return splits

    def few(samples: Samples) -> Samples:
        return _limited(samples, min(len(samples), max(limit, _TESTED)), 0)

    further = {name: few(samples) for name, samples in splits.further.items()}
    held_out = dict(splits.held_out)
    if "test" in held_out:
        given, true = held_out["test"]
        taken = few(replace(splits.test, given_label=given, true_label=true))
        held_out["test"] = HeldOut(taken.given_label, taken.true_label)
    return replace(splits, test=few(splits.test), further=further, held_out=held_out)


def _held_out(samples: Samples, share: float) -> tuple[Samples, Samples, HeldOut]:
    """Return the samples to train on, those held out, with given labels only, and their labels."""
    stay, held = hold_out(samples.given_label, share)
    taken = samples.rows(held)
    labels = HeldOut(taken.given_label, taken.true_label)
    return samples.rows(stay), replace(taken, true_label=None), labels
