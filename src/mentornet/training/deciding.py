"""Training images with what somebody has decided of their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mentornet.audit.decisions import read_decisions
from mentornet.data import Samples
from mentornet.errors import MentorNetError

__all__ = ["Decided", "decide"]


@dataclass(frozen=True, eq=False)
class Decided:
    """N images after decisions; samples keep the numbers that they had before.

    Attributes:
        relabelled: all N, some with another label.
        moved: which those are, `(N,)`.
        stays: which are trained on, `(N,)`.
        notes: what the user should hear.
    """

    relabelled: Samples
    moved: Tensor
    stays: Tensor
    notes: tuple[str, ...] = ()

    @property
    def left(self) -> Tensor:
        """The numbers of those that are trained on."""
        return self.stays.nonzero().flatten()

    @property
    def images(self) -> Samples:
        """Those that are trained on."""
        return self.relabelled if self.stays.all() else self.relabelled.rows(self.stays)


def decide(images: Samples, files: Sequence[str]) -> Decided:
    """Follow the decisions in these files, one after the other: the last on a sample counts.

    Args:
        images: whose places are the numbers that decisions name.
        files: as `read_decisions` reads them.
    """
    label = images.given_label.clone()
    stays = torch.ones(len(images), dtype=torch.bool)
    notes = []
    for file in files:
        decisions = read_decisions(
            Path(file), class_names=images.classes, count=len(images),
            given_label=images.given_label.numpy(), relabelled=label.numpy(),
        )  # fmt: skip
        relabels, drops = decisions.decision == "relabel", decisions.decision == "drop"
        index = torch.from_numpy(decisions.index)
        said = torch.from_numpy(np.where(relabels, decisions.label, decisions.given_label))
        label[index] = torch.where(said < 0, label[index], said)
        stays[index] = torch.from_numpy(~drops)
        notes.append(
            f"{Path(file).name}: {relabels.sum()} samples are relabelled, "
            f"{drops.sum()} are left out"
        )
    if not stays.any():
        raise MentorNetError(f"{files[-1]} drops every sample; there is nothing to train on")
    moved = label != images.given_label
    return Decided(replace(images, given_label=label), moved, stays, tuple(notes))
