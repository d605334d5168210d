from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mentornet import MentorNetError
from mentornet.data.files.label_table import numbered_labels, read_label_table
from tests.data.image_files import write_parquet
from tests.data.layouts import put


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("label\ncat\ndog\n", None, ["cat", "dog"]),
        ("1\n2\n", None, ["1", "2"]),  # as numpy.savetxt writes it
        ("anything\ncat\ndog\n", None, ["cat", "dog"]),
        ("id,given_label\n7,cat\n8,dog\n", None, ["cat", "dog"]),
        ("a,b\ncat,x\ndog,y\n", "b", ["x", "y"]),
        ("label,path\ncat,x.png\ndog,y.png\n", "path", ["x.png", "y.png"]),
    ],
)
def test_the_column_of_labels(
    text: str, column: str | None, expected: list[str], tmp_path: Path
) -> None:
    path = put(tmp_path / "a.csv", text)
    assert read_label_table(path, column, count=2).label == expected


def test_what_else_a_table_says(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "text": ["a b", "c"],
        "label": [1, 0],
        "true_label": [1, 1],
        "path": ["x", "y"],
    }
    write_parquet(tmp_path / "a.parquet", columns)
    found = read_label_table(tmp_path / "a.parquet", count=2)
    assert found == (["1", "0"], ["1", "1"], ["x", "y"], ["a b", "c"])


def test_arrays_of_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([2, 0]))
    np.savez(tmp_path / "b.npz", features=np.ones((2, 3)), labels=np.array([2, 0]))
    np.savez(tmp_path / "c.npz", one=np.array([1, 1]), two=np.array([2, 0]))
    assert read_label_table(tmp_path / "a.npy", count=2).label == ["2", "0"]
    assert read_label_table(tmp_path / "b.npz", count=2).label == ["2", "0"]
    assert read_label_table(tmp_path / "c.npz", "two", count=2).label == ["2", "0"]
    with pytest.raises(MentorNetError, match="say which are the labels: one, two"):
        read_label_table(tmp_path / "c.npz", count=2)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a,b\n1,2\n", None, "has several columns; say which are the labels: a, b"),
        ("label,given_label\n1,2\n", None, "say which are the labels: label, given_label"),
        ("label\ncat\n", "lable", "has no column 'lable'; did you mean 'label'?"),
        ("label\ncat\n", None, "has 1 labels for 2 samples; it needs a header and a row for each"),
        ("label\n" + "cat\n" * 9, None, "has more than 2 labels for 2 samples"),
        ("label,x\ncat,1\n,2\n", None, "row 3 has no label; every sample needs one"),
        ("label,true_label\na,b\nb,\n", None, "has true labels for 1 of 2 samples; they must be"),
    ],
)
def test_tables_that_do_not_fit(
    text: str, column: str | None, message: str, tmp_path: Path
) -> None:
    path = put(tmp_path / "a.csv", text)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read_label_table(path, column, count=2)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape("labels must be in a .csv, .parquet, .npy")):
        read_label_table(tmp_path / "labels.txt", count=2)


def test_labels_become_numbers() -> None:
    assert numbered_labels(["b", "a"])[0].tolist() == [1, 0]
    assert numbered_labels(["7", "10"], more=["8"])[1] == ("7", "8", "10")
    number, names = numbered_labels(["1", "0"], ["0", "1", "2"])
    assert (number.tolist(), names) == ([1, 0], ("0", "1", "2"))
    with pytest.raises(MentorNetError, match=re.escape("label 'c' in row 1 (from 0) is none of")):
        numbered_labels(["a", "c"], ["a", "b"])
    with pytest.raises(MentorNetError, match="label '2' in row 0"):
        numbered_labels(["2"], ["a", "b"])
