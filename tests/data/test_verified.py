"""Verified samples: what is drawn, and what a file says."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet.data import Samples
from mentornet.data.verified import draw_verified, read_verified
from mentornet.errors import MentorNetError

GIVEN = [0, 1, 2, 0, 1, 2]
TRUE = [0, 1, 2, 1, 2, 0]


def images(*, known: bool = True) -> Samples:
    return Samples(
        torch.zeros(6, 3, 4, 4, dtype=torch.uint8), torch.tensor(GIVEN), ("cat", "dog", "eel"),
        true_label=torch.tensor(TRUE) if known else None,
    )  # fmt: skip


def read(folder: Path, text: str, *, known: bool = False) -> list[tuple[int, bool, int]]:
    path = folder / "checked.csv"
    path.write_text(text, encoding="utf-8")
    index, is_correct, label = read_verified(path, images(known=known))
    return list(zip(index.tolist(), is_correct.tolist(), label.tolist(), strict=True))


def test_what_is_drawn_has_its_true_labels() -> None:
    index, is_correct, label = draw_verified(images(), 5, seed=1)
    assert len(set(index.tolist())) == 5
    for at, right, which in zip(index.tolist(), is_correct.tolist(), label.tolist(), strict=True):
        assert right == (GIVEN[at] == TRUE[at])
        assert which == TRUE[at]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("index,is_correct\n4,false\n0,true\n", [(0, True, 0), (4, False, -1)]),
        ("index,true_label\n3,dog\n5,2\n", [(3, False, 1), (5, True, 2)]),
        (
            "index,is_correct,true_label\n3,false,dog\n4,no,\n5,yes,\n",
            [(3, False, 1), (4, False, -1), (5, True, 2)],
        ),
        ("index,is_correct,true_label\n3,,dog\n5,,eel\n", [(3, False, 1), (5, True, 2)]),
    ],
)
def test_a_file_says_whether_and_which(
    tmp_path: Path, text: str, expected: list[tuple[int, bool, int]]
) -> None:
    assert read(tmp_path, text) == expected


def test_a_number_is_a_name_where_classes_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "checked.csv"
    path.write_text("index,true_label\n0,10\n")
    numbered = Samples(
        torch.zeros(3, 1, 2, 2, dtype=torch.uint8), torch.tensor([0, 1, 2]), ("1", "10", "2")
    )
    assert read_verified(path, numbered)[2].tolist() == [1]
    path.write_text("index,true_label\n0,0\n")
    with pytest.raises(MentorNetError, match="unknown class '0'"):
        read_verified(path, numbered)


def test_numbers_are_enough_where_the_truth_is_known(tmp_path: Path) -> None:
    assert read(tmp_path, "3\n0\n", known=True) == [(0, True, 0), (3, False, 1)]


def test_a_file_of_samples_that_are_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "checked.csv"
    path.write_text("path,is_correct\nheld.png,true\n", encoding="utf-8")
    with pytest.raises(MentorNetError, match="names no sample that is trained on"):
        read_verified(path, images(), elsewhere=("held.png",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "index,is_correct,true_label\n3,true,dog\n",
            "line 2: is_correct is true, but the given label is 'cat' and true_label 'dog'",
        ),
        ("index,true_label\n3,\n", "line 2: true_label is empty"),
        ("index,is_correct,true_label\n3,,\n", "is_correct must be true or false, got ''"),
        ("index,true_label\n3,dgo\n", "line 2: unknown class 'dgo'"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        read(tmp_path, text)
