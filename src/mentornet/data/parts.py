"""The parts of a dataset that was read: which one trains, which one judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mentornet.data.holdout import hold_out
from mentornet.data.samples import Samples, Splits
from mentornet.errors import MentorNetError

__all__ = ["PARTS", "VALIDATION", "into_splits"]

PARTS = ("train", "validation", "test")

VALIDATION = ("val", "validation", "valid")
"""What people call the validation part."""


def into_splits(parts: Mapping[str, Samples], notes: Sequence[str] = ()) -> Splits:
    """The parts in their roles.

    Without a test part the validation part serves as one; without either, a tenth of each class
    of the training part does. A test or validation image whose true label is known has it as its
    given label too.

    Args:
        parts: by name, "train" among them; others than `PARTS` are judged beside the test images.
        notes: what is known of the data so far; what is done here is added.
    """
    train = parts["train"]
    judged = {part: _clean(images) for part, images in parts.items() if part != "train"}
    validation, test = judged.pop("validation", None), judged.pop("test", None)
    told = [*notes]
    if test is None and validation is not None:
        told.append(f"no test images: the {len(validation)} validation images serve as such")
        test, validation = validation, None
    if test is None:
        stay, held = hold_out(train.given_label)
        if not len(held):
            raise MentorNetError(
                "there are no test images, and too few training images to hold any out: "
                "at least one class needs 2 images"
            )
        train, test = train.rows(stay), _clean(train.rows(held))
        labels = (
            "as noisy as the training labels" if test.true_label is None else "their true labels"
        )
        told.append(
            "no test or validation images: 10 % of the training images are held out for "
            f"testing, {len(held)} images; their labels are {labels}"
        )
    return Splits(train, test, validation, tuple(told), judged)


def _clean(images: Samples) -> Samples:
    """The images with their true labels, where these are known, as given labels."""
    return images if images.true_label is None else images.relabelled(images.true_label)
