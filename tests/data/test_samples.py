from __future__ import annotations

import pytest
import torch

from mentornet.data import Samples, Splits
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
        assert torch.equal(rows.pixels[row], IMAGES.pixels[place])
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
