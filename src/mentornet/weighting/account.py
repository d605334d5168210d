"""The account of a criterion: records of every sample, and counts over all steps."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.records import Records
from mentornet.weighting.engine import Weighting
from mentornet.weighting.evidence import Evidence
from mentornet.weighting.weight_decay import TALLY

__all__ = ["Account"]


class Account(nn.Module):
    """Keeps records and counts of the steps of a `MentorLoss`.

    Args:
        count: the number of samples, or elements, to keep records of; None for no records.

    Attributes:
        records: the records of every sample, or None.
        bad_samples: the number of losses so far that are NaN or infinite.
        tally: Σ mean(v) in units of 1/`TALLY`, and the number of steps, for `scale_weight_decay`.
    """

    tally: Tensor
    bad_samples: Tensor

    def __init__(self, count: int | None) -> None:
        super().__init__()
        self.records = None if count is None else Records(count, labels=True)
        self.register_buffer("bad_samples", torch.zeros((), dtype=torch.long))
        self.register_buffer("tally", torch.zeros(2, dtype=torch.long), persistent=False)

    def count(self, evidence: Evidence, weights: Tensor) -> None:
        """Count what is bad in a step, and its mean weight.

        Args:
            evidence: the evidence of the batch of all processes.
            weights: the weights v of these samples, `(B,)`.
        """
        self.bad_samples = self.bad_samples + evidence.bad.sum()
        mean = weights.mean()
        if evidence.unlabelled is not None:
            labelled = (~evidence.unlabelled).to(weights.dtype)
            mean = (weights * labelled).sum() / labelled.sum().clamp(min=1)
        mean = (mean * TALLY).round().long()
        self.tally = self.tally + torch.stack([mean, torch.ones_like(mean)])

    def remember(
        self,
        evidence: Evidence,
        weights: Tensor,
        engine: Weighting,
        *,
        step: Tensor,
        progress: Tensor,
    ) -> None:
        """Remember one step of every sample, if there are records and samples are numbered.

        Args:
            evidence: the evidence of the batch of all processes.
            weights: the weights v of these samples, `(B,)`.
            engine: the engine that has computed them.
            step: the number of the step.
            progress: progress of training before the step, in percent.
        """
        if self.records is None or evidence.index is None:
            return
        trust = weights if engine.known is None else engine.known.trust(weights, evidence.index)
        if engine.auto is None:  # random dropping in burn-in says nothing about labels
            begun = step >= engine.config.burn_in * engine.total_steps
            trust = torch.where(begun, trust, (~evidence.losses.isnan()).to(trust.dtype))
        given_label = evidence.labels
        if evidence.unlabelled is not None:
            given_label = given_label.masked_fill(evidence.unlabelled, -1)
        self.records.add(
            evidence.index, evidence.losses, trust, evidence.predicted, given_label, progress,
            evidence.margins,
        )  # fmt: skip
