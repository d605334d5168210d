"""Decisions in several files: the last on a sample counts."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet.data import Samples
from mentornet.errors import MentorNetError
from mentornet.training.deciding import Decided, decide

CLASSES = ("cat", "dog", "frog")


def decided(folder: Path, *files: str) -> Decided:
    images = Samples(
        torch.zeros(4, 1, 2, 2, dtype=torch.uint8), torch.tensor([0, 0, 1, 1]), CLASSES
    )
    paths = []
    for number, rows in enumerate(files):
        paths.append(folder / f"{number}.csv")
        paths[-1].write_text(f"index,given_label,decision,label\n{rows}\n")
    return decide(images, [f"{path}" for path in paths])


def test_a_later_file_takes_back_what_was_dropped(tmp_path: Path) -> None:
    found = decided(tmp_path, "0,cat,drop,\n1,cat,drop,\n2,dog,drop,", "0,,keep,\n1,,relabel,dog")
    assert found.stays.tolist() == [True, True, False, True]
    assert found.relabelled.given_label.tolist() == [0, 1, 1, 1]
    assert found.moved.tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ("2,dog,keep,dog", 1),  # the label as it came
        ("2,frog,keep,frog", 2),  # what the first file has made of it
        ("2,,keep,", 2),
        ("2,frog,relabel,cat", 0),
        ("2,dog,relabel,cat", 0),
    ],
)
def test_a_label_that_was_given_twice(tmp_path: Path, row: str, label: int) -> None:
    found = decided(tmp_path, "2,dog,relabel,frog", row)
    assert found.relabelled.given_label.tolist() == [0, 0, label, 1]
    assert found.moved.tolist() == [False, False, label != 1, False]


def test_a_file_of_another_run(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="do the decisions belong to another run"):
        decided(tmp_path, "2,dog,relabel,frog", "2,cat,keep,")
