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
        samples: N, the number of samples to keep records of; None for no records.

    Attributes:
        records: the records of every sample, or None.
        bad_samples: the number of losses so far that are NaN or infinite.
        tally: Σ mean(v) in units of 1/`TALLY`, and the number of steps, for `scale_weight_decay`.
    """

    tally: Tensor
    bad_samples: Tensor

    def __init__(self, samples: int | None) -> None:
        super().__init__()
        self.records = None if samples is None else Records(samples, labels=True)
        self.register_buffer("bad_samples", torch.zeros((), dtype=torch.long))
        self.register_buffer("tally", torch.zeros(2, dtype=torch.long), persistent=False)

    def add(
        self,
        evidence: Evidence,
        weights: Tensor,
        engine: Weighting,
        *,
        step: Tensor,
        progress: Tensor,
    ) -> None:
        """Add one step to the account.

        Args:
            evidence: the evidence of the batch of all processes.
            weights: the weights v of these samples, `(B,)`.
            engine: the engine that has computed them.
            step: the number of the step.
            progress: progress of training before the step, in percent.
        """
        if self.records is not None and evidence.index is not None:
            trust = weights if engine.known is None else engine.known.trust(weights, evidence.index)
            if engine.auto is None:  # random dropping in burn-in says nothing about labels
                begun = step >= engine.config.burn_in * engine.total_steps
                trust = torch.where(begun, trust, (~evidence.losses.isnan()).to(trust.dtype))
            self.records.add(
                evidence.index, evidence.losses, trust, evidence.predicted, evidence.labels,
                progress, evidence.margins,
            )  # fmt: skip
        self.bad_samples = self.bad_samples + evidence.bad.sum()
        mean = weights.mean()
        if evidence.unlabelled is not None:
            labelled = (~evidence.unlabelled).to(weights.dtype)
            mean = (weights * labelled).sum() / labelled.sum().clamp(min=1)
        mean = (mean * TALLY).round().long()
        self.tally = self.tally + torch.stack([mean, torch.ones_like(mean)])
