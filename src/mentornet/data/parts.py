"""The roles of the parts of a dataset: which are trained on, and which are tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mentornet.data.holdout import hold_out
from mentornet.data.samples import HeldOut, Samples, Splits
from mentornet.errors import MentorNetError

__all__ = ["PARTS", "VALIDATION", "into_splits"]

PARTS = ("train", "validation", "test")

VALIDATION = ("val", "validation", "valid")
"""Names that people use for the validation part."""


def into_splits(parts: Mapping[str, Samples], notes: Sequence[str] = ()) -> Splits:
    """The parts in their roles.

    If there is no test part, the validation part is used for testing. If there is neither, a tenth
    of each class of the training part is held out. Test and validation samples get their true
    labels as given labels, if they are known.

    Args:
        parts: by name, including "train". Parts with names outside of `PARTS` are tested on too.
        notes: lines to tell the user; those about held-out samples are added.
    """
    train = parts["train"]
    others = {part: _clean(samples) for part, samples in parts.items() if part != "train"}
    validation, test = others.pop("validation", None), others.pop("test", None)
    told, held_out = [*notes], dict[str, HeldOut]()
    if test is None and validation is not None:
        told.append(
            f"no test samples: the {len(validation)} validation samples are used for testing"
        )
        test, validation = validation, None
    if test is None:
        stay, held = hold_out(train.given_label)
        if not len(held):
            raise MentorNetError(
                "there are no test samples, and too few training samples to hold any out: "
                "at least one class needs 2 samples"
            )
        taken = train.rows(held)
        held_out["test"] = HeldOut(taken.given_label, taken.true_label)
        train, test = train.rows(stay), _clean(taken)
        labels = (
            "as noisy as the training labels" if test.true_label is None else "their true labels"
        )
        told.append(
            "no test or validation samples: 10 % of the training samples are held out for "
            f"testing, {len(held)} samples; their labels are {labels}"
        )
    return Splits(train, test, validation, tuple(told), others, held_out=held_out)


def _clean(samples: Samples) -> Samples:
    """The samples with their true labels, if these are known, as given labels."""
    return samples if samples.true_label is None else samples.relabelled(samples.true_label)
