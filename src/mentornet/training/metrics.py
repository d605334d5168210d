"""The metrics of an epoch and the summary of a run."""

from __future__ import annotations

from typing import Any, NamedTuple

from mentornet.methods import Supervision
from mentornet.metrics import auroc
from mentornet.records import Records
from mentornet.training.preparation import Prepared

__all__ = ["Best", "epoch_metrics", "run_summary", "weight_auroc"]

_KNOWN = ("test_accuracy", "validation_accuracy", "train_accuracy")


class Best(NamedTuple):
    """The best epoch so far.

    Attributes:
        chosen_by: the accuracy that it is chosen by: on validation samples, or else test samples.
        accuracy: the accuracy on the test samples.
        epoch: the number of the epoch, from 1.
    """

    chosen_by: float = -1.0
    accuracy: float = 0.0
    epoch: int = 0


def epoch_metrics(
    records: Records, prepared: Prepared, supervision: Supervision
) -> dict[str, float]:
    """Return the metrics of an epoch on the training samples.

    `weighted_loss` is (1/B) Σ v ℓ of the mini-batches, averaged over the epoch: the training error
    of Fig. 3 (b). Each sample is in one mini-batch of an epoch, so it is the mean of v ℓ as every
    sample was last seen, and no step has to synchronise with the device for it.
    """
    seen = records.seen > 0  # all samples, unless the epoch was cut short
    row = {
        "train_loss": records.loss[seen].mean().item(),
        "weighted_loss": (records.weight[seen] * records.loss[seen]).mean().item(),
        "train_accuracy": records.fits[seen].float().mean().item(),
        "mean_weight": records.weight[seen].mean().item(),
        "data_used": (records.weight[seen] >= 0.5).float().mean().item(),
    }
    row |= {name: float(value) for name, value in supervision.metrics().items()}
    found = weight_auroc(records, prepared, supervision)
    return row if found is None else {**row, "weight_auroc": found}


def weight_auroc(records: Records, prepared: Prepared, supervision: Supervision) -> float | None:
    """Return the AUROC of the last weights for correct labels; None if these are not known.

    If the student is taught the verdicts, verified samples do not count.
    """
    if prepared.is_correct is None:
        return None
    guessed = (records.seen > 0).cpu()
    if supervision.known is not None and prepared.verdicts is not None:
        guessed[prepared.verdicts.index] = False
    is_correct = prepared.is_correct[guessed]
    if is_correct.all() or not is_correct.any():
        return None
    return auroc(records.weight.cpu()[guessed], is_correct)


def run_summary(prepared: Prepared, metrics: list[dict[str, Any]], best: Best) -> dict[str, Any]:
    """Return the summary of a run, from the metrics of its epochs."""
    last, seconds = metrics[-1], sum(row["seconds"] for row in metrics)
    further = [name for name in last if "_accuracy" in name and name not in _KNOWN]
    seen = sum(row["images_per_second"] * row["seconds"] for row in metrics)
    return {
        "data": prepared.config.data,
        "method": prepared.config.method.method,
        "student": prepared.config.student.student,
        "seed": prepared.config.seed,
        "accuracy_last": last["test_accuracy"],
        "accuracy_best": best.accuracy,
        "best_epoch": best.epoch,
        **{f"{name.removeprefix('test_')}_last": last[name] for name in further},
        "images_per_second": float(seen / seconds),
        "noise_rate_actual": prepared.noise_rate,
        "noise_rate_estimated": last.get("noise_rate"),
        "weight_auroc": last.get("weight_auroc"),
        "mean_weight": last["mean_weight"],
    }
