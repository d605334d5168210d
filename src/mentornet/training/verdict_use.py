"""The use of verdicts in a run: which method is chosen, and which samples change.

A method that learns from verdicts reads them, and every sample stays in the training set with its
given label. For all other methods the verdicts are applied before training starts: relabel changes
the label, drop leaves the sample out, and keep changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from mentornet.config import TrainConfig
from mentornet.data import Kind, Samples
from mentornet.errors import MentorNetError
from mentornet.methods import Method, make_method
from mentornet.methods.settings import parse_settings
from mentornet.randomness import generator
from mentornet.students import preprocessing_of
from mentornet.verdicts import Verdicts, draw_verdicts, read_verdicts

__all__ = ["choose_method", "default_method", "gather_verdicts", "use_verdicts"]

_VERIFIED = 12  # a stream of randomness
_ROOM = 2**27  # numbers N × K up to which predictions of every sample are kept by default: 1 GB


def gather_verdicts(
    config: TrainConfig, train: Samples, known: Collection[str], others: int
) -> tuple[Verdicts | None, list[str]]:
    """Return all verdicts of a run, drawn and from files, and notes on those that were replaced.

    Args:
        config: the config, which says how many to draw and which files to read.
        train: the training samples, which verdicts name by number or path.
        known: the paths of all samples, also of those that are not trained on.
        others: how many samples of other parts are numbered after those that are trained on, if an
            audit judges some of them.
    """
    labels, notes, before = config.labels, [], []
    found = None
    if labels.clean_count is not None:
        seed = generator(config.seed, _VERIFIED).initial_seed()
        found = draw_verdicts(train.given_label, train.true_label, labels.clean_count, seed=seed)
        before = ["those drawn"]
    elsewhere = frozenset(known) - frozenset(train.paths or ())
    for file in labels.verdicts:
        later = read_verdicts(
            file, given_label=train.given_label, class_names=train.classes,
            true_label=train.true_label, paths=train.paths, elsewhere=elsewhere,
            others=others, earlier=found,
        )  # fmt: skip
        found, replaced = (later, 0) if found is None else found.followed_by(later)
        if replaced:
            which = before[0] if len(before) == 1 else "those of earlier files"
            notes.append(f"{replaced} verdicts of {Path(file).name} replace {which}")
        before.append(f"those of {Path(file).name}")
    return found, notes


def is_pretrained(config: TrainConfig) -> bool:
    """Return whether the student is a pretrained network."""
    name = config.student.student
    return name is not None and preprocessing_of(name) is not None


def default_method(
    config: TrainConfig, kind: Kind, count: int, classes: int, *, verified: bool
) -> str:
    """Return the method for users who name none.

    It is mentornet-early, which remembers predictions, unless these would take too much memory. It
    was not tried on pretrained networks, which are fine-tuned in few epochs; and with n-grams of
    texts it was far behind plain training.

    Args:
        config: the config of the run.
        kind: the kind of the samples.
        count: the number N of training samples.
        classes: the number K of classes.
        verified: whether there are enough verdicts to learn from.

    >>> digits = TrainConfig("digits")
    >>> default_method(digits, "images", 50_000, 100, verified=True)
    'mentornet-early'
    >>> [default_method(digits, "tokens", 900, 2, verified=some) for some in (False, True)]
    ['mentornet-auto', 'mentornet-dd']
    """
    few = count * classes <= _ROOM and not is_pretrained(config)
    if few and kind != "tokens":
        return "mentornet-early"
    return "mentornet-dd" if verified else "mentornet-auto"


def choose_method(
    config: TrainConfig, train: Samples, verdicts: Verdicts | None, *, frozen: bool | None
) -> tuple[str, list[str]]:
    """Return the name of the method, and notes for the user on that choice.

    Args:
        config: the config of the run.
        train: all training samples.
        verdicts: all verdicts.
        frozen: whether the student is frozen, so that samples are features.
    """
    name = config.method.method
    if name is None and frozen:
        return "mentornet-features", [
            "the student is frozen, so only a new last layer is trained, and the method is "
            "mentornet-features; set freeze to false to fine-tune the whole network"
        ]
    enough = verdicts is not None and _are_enough(config, verdicts)
    if name is None:
        name = default_method(config, train.kind, len(train), len(train.classes), verified=enough)
        if verdicts is None or config.labels.clean_count is not None:
            return name, []
        if enough:
            return name, [
                "there are enough verdicts on correct and on wrong labels to learn from: the "
                f"method is {name}"
            ]
        right, wrong = verdicts.missing
        kinds = ((right, "correct"), (wrong, "wrong"))
        more = " and ".join(f"{count} more {kind} labels" for count, kind in kinds if count)
        return name, [
            f"the method is {name}, and the verdicts are applied before training; with verdicts "
            f"on at least {more} they would be learned from"
        ]
    method = make_method(name, **parse_settings(config.method.set))
    if enough and method.needs.verdicts == "no":
        learner = default_method(config, train.kind, len(train), len(train.classes), verified=True)
        return name, [f"{name} does not learn from verdicts; the method {learner} does"]
    return name, []


def _are_enough(config: TrainConfig, verdicts: Verdicts) -> bool:
    """Return whether a method that need not learn from verdicts does so."""
    return config.labels.clean_count is not None or verdicts.missing == (0, 0)


def use_verdicts(
    config: TrainConfig, method: Method, train: Samples, verdicts: Verdicts | None
) -> tuple[Samples, Verdicts | None, Tensor | None, list[str]]:
    """Give the verdicts to the method if it learns from them; else apply them to the samples.

    Args:
        config: the config of the run.
        method: the method of the run.
        train: all training samples.
        verdicts: the verdicts on these samples, or None.

    Returns:
        The samples to train on; the verdicts, if the method learns from them; the numbers that the
        samples had before, if some were left out; and notes for the user.
    """
    if verdicts is None:
        return train, None, None, []
    enough = method.needs.verdicts == "optional" and _are_enough(config, verdicts)
    if method.needs.verdicts == "required" or enough:
        verdicts.check(len(train))
        note = f"{len(verdicts)} verified samples are trained on"
        return train, verdicts, None, [note] if config.labels.verdicts else []
    label, stays = train.given_label.clone(), torch.ones(len(train), dtype=torch.bool)
    moved = ~verdicts.is_correct & (verdicts.true_label >= 0)
    label[verdicts.index[moved]] = verdicts.true_label[moved]
    stays[verdicts.index] = verdicts.is_correct | moved
    if not stays.any():
        raise MentorNetError("the verdicts drop every sample; there is nothing to train on")
    left = None if stays.all() else stays.nonzero().flatten()
    note = (
        f"verdicts: {int(moved.sum())} samples are relabelled, {int((~stays).sum())} are left out, "
        f"{int(verdicts.is_correct.sum())} keep their label"
    )
    train = replace(train, given_label=label)
    return train if left is None else train.rows(left), None, left, [note]
