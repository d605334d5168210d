from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import Samples, Splits, check_images
from mentornet.data.stream.streamed import LooseFiles
from mentornet.randomness import generator

IMAGES = Samples(
    torch.randint(256, (5, 1, 8, 8), generator=generator(0), dtype=torch.uint8),
    torch.tensor([0, 1, 0, 1, 1]),
    ("a", "b"),
    true_label=torch.tensor([0, 1, 1, 1, 0]),
    groups=torch.tensor([3, 4]),
    paths=("v", "w", "x", "y", "z"),
)


@pytest.mark.parametrize(
    ("index", "places"),
    [
        (slice(1, 4), [1, 2, 3]),
        (slice(None, None, 2), [0, 2, 4]),
        (torch.tensor([4, 0, 0]), [4, 0, 0]),
        (torch.tensor([True, False, False, True, False]), [0, 3]),
        (torch.zeros(5, dtype=torch.bool), []),
        (torch.tensor([], dtype=torch.long), []),
    ],
)
def test_rows_by_slice_number_and_bool(index: torch.Tensor | slice, places: list[int]) -> None:
    rows = IMAGES.rows(index)
    assert len(rows) == len(places)
    assert rows.paths == tuple("vwxyz"[place] for place in places)
    assert rows.given_label.tolist() == [[0, 1, 0, 1, 1][place] for place in places]
    assert rows.true_label is not None
    assert rows.true_label.tolist() == [[0, 1, 1, 1, 0][place] for place in places]
    for row, place in enumerate(places):
        assert torch.equal(rows.tensor[row], IMAGES.tensor[place])
    assert rows.groups is IMAGES.groups
    assert rows.classes == IMAGES.classes


def test_other_labels_keep_the_rest() -> None:
    new = IMAGES.relabelled(torch.tensor([1, 1, 1, 1, 1]))
    assert new.given_label.tolist() == [1, 1, 1, 1, 1]
    assert new.true_label is IMAGES.true_label
    assert new.paths == IMAGES.paths
    assert new.groups is IMAGES.groups


def test_splits_need_train_and_test_only() -> None:
    splits = Splits(IMAGES, IMAGES)
    assert splits.validation is None
    assert splits.notes == ()


BAD_SAMPLES = [
    ({"classes": ("only",)}, "at least 2 classes, got 1"),
    ({"given_label": torch.tensor([0, 2])}, "given labels must be in 0–1, got 0 to 2"),
    ({"given_label": torch.tensor([0])}, "got 1 labels and 2 samples"),
    ({"true_label": torch.tensor([0, -1])}, "true labels must be in 0–1, got -1 to 0"),
    ({"given_label": torch.tensor([0.0, 1.0])}, "given labels must be int64, got torch.float32"),
    ({"paths": ("a.png",)}, "every sample needs one path: got 1 paths and 2 samples"),
]


@pytest.mark.parametrize(("change", "message"), BAD_SAMPLES)
def test_samples_that_cannot_be(change: dict[str, object], message: str) -> None:
    columns: dict[str, object] = {
        "inputs": torch.randint(9, (2, 1, 8, 8), generator=generator(0), dtype=torch.uint8),
        "given_label": torch.tensor([0, 1]),
        "classes": ("a", "b"),
    }
    with pytest.raises(MentorNetError, match=re.escape(message)):
        Samples(**(columns | change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "inputs",
    [torch.zeros(2, 8, 8, dtype=torch.uint8), torch.zeros(2, 1, 8, 8)],
    ids=["three dimensions", "float"],
)
def test_inputs_that_are_no_images(inputs: torch.Tensor) -> None:
    samples = Samples(inputs, torch.tensor([0, 1]), ("a", "b"))
    message = f"uint8 of shape (N, C, H, W), got {inputs.dtype} of shape {tuple(inputs.shape)}"
    with pytest.raises(MentorNetError, match=re.escape(message)):
        check_images(samples)
    check_images(IMAGES)


@pytest.mark.parametrize(
    "inputs",
    [torch.arange(12.0).view(4, 3), torch.arange(20).view(4, 5)],
    ids=["rows of a table", "tokens of a text"],
)
def test_samples_need_not_be_images(inputs: torch.Tensor) -> None:
    samples = Samples(inputs, torch.tensor([0, 1, 0, 1]), ("a", "b"))
    assert samples.shape == tuple(inputs.shape[1:])
    assert torch.equal(samples.rows(torch.tensor([2, 0])).tensor, inputs[[2, 0]])
    assert samples.fingerprint() != samples.rows(slice(1, 4)).fingerprint()


def test_fingerprints_stay_as_they_were() -> None:
    """Digests of stored runs and shards depend on them."""
    label, classes = torch.tensor([0, 1]), ("a", "b")
    held = Samples(torch.arange(8, dtype=torch.uint8).view(2, 1, 2, 2), label, classes)
    streamed = Samples(LooseFiles(Path("/x"), ["a.png", "b.png"], 32), label, classes)
    assert held.fingerprint().hex() == (
        "4f93c69a76aec95984729c78eecca486eda3679d31eaa3716cea4dab2c433844"
    )
    assert streamed.fingerprint().hex() == (
        "222c5306df5c8a49a4d735fa0640f8a32102fdc45d40e9dc86fdbc18e7d1314c"
    )
