"""`MentorLoss`: a loss that replaces `nn.CrossEntropyLoss()` and weights its samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.weighting.checks import check_cross_entropy
from mentornet.weighting.criterion import Criterion
from mentornet.weighting.evidence import IGNORE
from mentornet.weighting.observing import labelled_mean
from mentornet.weighting.rules import AUTO, Rule

__all__ = ["MentorLoss"]


class MentorLoss(Criterion):
    """(1/B) Σ v ℓ with the weights v of a mentor (Eq. 1, Algorithm 1), for any training loop.

    Use it instead of `nn.CrossEntropyLoss()`. Each call in training mode is one step of SPADE. In
    eval mode, and under `torch.no_grad()`, it is the plain loss and changes nothing. Its state is
    in `state_dict`, so a run that is saved and restored with it continues bit for bit. At its first
    call it moves to the device of the losses; its own tensors are float32 or float64. The weights
    come from the same engine as those of `mentornet train` (`Weighting`).

    With "auto", the default, the noise rate need not be known. The share ε of wrong labels is
    estimated during training (see `NoiseRate`). The weights are those of the paper's predefined
    curriculum around the percentile 1 − 1.2 ε of the losses (see `AutoPercentile`), and no class is
    left out entirely (see `FairLossLevel`). Early losses say little about labels, so all weights
    are 1 until burn-in ends, or until wrong labels stand out, but at least for a tenth of training.

    Args:
        mentor: "auto"; "uniform" for v = 1; the name of a shipped mentor ("pd", "dd-cifar10-40",
            …); the folder of a mentor; a `Mentor` or a `Curriculum`.
        total_steps: how often the loss will be called in training: epochs × batches; with gradient
            accumulation every call counts. Progress is measured by it.
        burn_in: share of training before the mentor is used, by default 0.2, or 0.1 with verdicts.
            With "auto" the mentor may be used earlier. 0 switches burn-in off.
        samples: N, the size of the training set, if calls name their samples by `index=`. Mentors
            that read a history, explicit G, verdicts and records of every sample need it.
        by_class: K, to compare each sample only with its own class, so that rare classes are not
            left out; see `ClassLossLevel`. None compares it with all samples.
        percentile: p of ℓ_pt, in [0, 1], by default 0.75. "auto" finds its own.
        burn_in_drop: share of samples that burn-in leaves out at random, so that fewer wrong labels
            are memorised; by default 0.5, but 0 with "auto" and with verdicts.
        explicit: take a projected gradient step on stored weights (Algorithm 1, step 9); the mentor
            must be a `Curriculum` of known G.
        clean_index: samples whose labels are known to be correct; a mentor is learned from them.
            Use `learn_from` if there are also samples with wrong labels.
        updates: when a mentor is learned, as shares of training; by default every twentieth.
            The paper uses 0.21 and 0.75.
        label_smoothing: as in `nn.CrossEntropyLoss`; the mentor reads the losses without it.
        class_weight: `weight` of `nn.CrossEntropyLoss`, `(K,)`; the mentor reads losses without it.
        seed: seed of all random draws.
        level: what gets a weight of its own: "sample"; "token", with logits `(B, T, K)` and labels
            `(B, T)`; "text", with the same shapes, each text by the mean loss of its tokens;
            "pixel", with logits `(B, K, H, W)` and labels `(B, H, W)`; or "class", every pair of
            sample and class, with logits `(B, K)`, labels `(B, K)` of 0 and 1, and binary
            cross-entropy. Loss level, noise rate and burn-in work at that level.
        elements: how many elements (tokens, pixels or classes) a sample has, a number for all or
            one for each sample, to remember each of them: in records, audit, histories and
            verdicts. It takes 47 bytes an element. By default each sample is remembered as a whole.
        ignore_index: as in `nn.CrossEntropyLoss`: marks what has no label.

    >>> criterion = MentorLoss(total_steps=1000)
    >>> logits = torch.tensor([[4.0, 0.0], [0.0, 3.0]], requires_grad=True)
    >>> loss = criterion(logits, torch.tensor([0, 0]))
    >>> loss.backward()
    >>> criterion.weights  # burn-in
    tensor([1., 1.])
    """

    class_weight: Tensor | None

    def __init__(
        self,
        mentor: str | Path | Rule = AUTO,
        total_steps: int | None = None,
        burn_in: float | None = None,
        *,
        samples: int | None = None,
        by_class: int | None = None,
        percentile: float | None = None,
        burn_in_drop: float | None = None,
        explicit: bool = False,
        clean_index: Sequence[int] | Tensor | None = None,
        updates: tuple[float, ...] | None = None,
        label_smoothing: float = 0.0,
        class_weight: Tensor | None = None,
        seed: int = 0,
        level: str = "sample",
        elements: int | Sequence[int] | Tensor | None = None,
        ignore_index: int = IGNORE,
    ) -> None:
        check_cross_entropy(label_smoothing, class_weight)
        super().__init__(
            mentor, total_steps, burn_in, samples=samples, by_class=by_class,
            percentile=percentile, burn_in_drop=burn_in_drop, explicit=explicit, updates=updates,
            seed=seed, level=level, elements=elements,
        )  # fmt: skip
        if level == "class" and label_smoothing:
            raise MentorNetError("label_smoothing is for levels sample, token and pixel")
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.register_buffer("class_weight", class_weight, persistent=False)
        if clean_index is not None:
            self.learn_from(clean_index, torch.ones(len(clean_index)).bool())

    def forward(
        self,
        logits: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        index: Tensor | None = None,
        losses: Tensor | None = None,
        groups: Tensor | None = None,
        items: Tensor | int | None = None,
    ) -> Tensor:
        """Return the weighted loss of a batch, a scalar.

        Args:
            logits: `(B, K)`, or `(B, K, …)` for images of labels; at other levels see `level`.
            labels: the given labels, `(B,)` or `(B, …)`, int64. −100, or `ignore_index`, marks what
                has no label. At level "sample" the loss of an image of labels is the mean over its
                other places.
            index: the numbers of these samples in the training set, `(B,)`; needed with `samples=`.
            losses: your own unreduced losses instead of logits, `(B,)` or `(B, …)`. At level
                "sample", the mean over all but the first axis is taken; at finer levels each loss
                has its own weight. Labels are then needed only for `by_class`, for mentors that
                read the label, and where some are −100.
            groups: at levels "token" and "pixel", the number of the group of each of them in its
                sample, in the shape of the labels. A group has one weight, as a word of several
                tokens may, and counts as one element; negative numbers are in no group.
            items: what Σ v ℓ of these logits is divided by, in place of their number of labels;
                with gradient accumulation, the number of labels in all micro-batches of a step.
        """
        learns = self.training and torch.is_grad_enabled()
        if self.ignore_index != IGNORE and isinstance(labels, Tensor):
            labels = labels.masked_fill(labels == self.ignore_index, IGNORE)
        if losses is not None and logits is None:
            return self._of_losses(losses, labels, index, groups, learns=learns)
        if logits is None or losses is not None:
            raise MentorNetError("give either logits and labels, or losses=")
        if labels is None:
            raise MentorNetError("labels are missing: criterion(logits, labels)")
        form, given, options = self.form, labels, (self.label_smoothing, self.class_weight)
        logits, labels = form.arranged(logits, labels)
        if not learns:
            return form.plain(logits, labels, *options)
        whole = self.by_sample
        if whole and labels.ndim > 1 and self.by_class is not None:
            raise MentorNetError("by_class needs one label per sample, got labels of its parts")
        evidence, seen = form.observe(
            logits, labels, index, self.engine,
            width=1 if whole else given[0].numel(), margins=self.remembers_elements,
        )  # fmt: skip
        weighed = self._weigh(evidence, evidence.labels if whole else given, groups)
        if whole and labels.ndim > 1:  # images, which are weighted as a whole
            return form.weighted(seen, labels, weighed.weights, *options, items)
        if self.engine.known is not None and weighed.numbers is not None:
            classes = self.engine.known.correct(form.classes_of(labels), weighed.numbers)
            labels = form.labels_of(classes, labels)
        loss = form.weighted(seen, labels, weighed.weights, *options, items)
        return loss if items is not None else weighed.in_balance(loss)

    def _of_losses(
        self,
        losses: Tensor,
        labels: Tensor | None,
        index: Tensor | None,
        groups: Tensor | None,
        *,
        learns: bool,
    ) -> Tensor:
        """Return the weighted mean of the user's own losses, over those that have a label."""
        each = self.each_loss(losses)
        if not learns:
            return labelled_mean(each, labels)
        weighed = self._of_own(each, labels, index, groups)
        each = each.masked_fill(~each.detach().isfinite(), 0.0)
        return weighed.in_balance(labelled_mean(weighed.weights * each, labels))
