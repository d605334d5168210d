from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mentornet import MentorNetError
from mentornet.data import LoadOptions, load_manifest
from tests.data.image_files import write_parquet, write_png

ROWS = [
    ("img/0.png", "dog", "train"),
    ("img/1.png", "cat", "train"),
    ("img/2.png", "dog", "test"),
    ("img/3.png", "cat", "val"),
    ("img/4.png", "cat", ""),
    ("img/5.png", "dog", "validation"),
]


def write_images(folder: Path, count: int = 6) -> None:
    for number in range(count):
        write_png(folder / "img" / f"{number}.png", seed=number)


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def write(folder: Path, kind: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    path = folder / f"manifest.{kind}"
    if kind == "csv":
        return write_csv(path, header, rows)
    write_parquet(path, dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)))
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_all_splits(kind: str, tmp_path: Path) -> None:
    write_images(tmp_path)
    splits = load_manifest(write(tmp_path, kind, ["path", "label", "split"], ROWS))
    assert splits.train.classes == ("cat", "dog")
    assert splits.train.paths == ("img/0.png", "img/1.png", "img/4.png")
    assert splits.train.given_label.tolist() == [1, 0, 0]
    assert splits.train.true_label is None
    assert splits.test.paths == ("img/2.png",)
    assert splits.validation is not None
    assert splits.validation.paths == ("img/3.png", "img/5.png")
    assert splits.validation.given_label.tolist() == [0, 1]
    expected = write_png(tmp_path / "x.png", seed=4)
    assert np.array_equal(splits.train.tensor[2].permute(1, 2, 0).numpy(), expected)
    assert splits.notes == ()


def test_a_byte_order_mark_blank_lines_and_spaces_do_no_harm(tmp_path: Path) -> None:
    write_images(tmp_path, 4)
    path = tmp_path / "m.csv"
    text = '\ufeffpath, label\nimg/0.png, a\n\nimg/1.png,"b, c"\nimg/2.png,a\nimg/3.png,"b, c"\n'
    path.write_text(text, encoding="utf-8")
    splits = load_manifest(path)
    assert splits.train.classes == ("a", "b, c")
    assert len(splits.train) + len(splits.test) == 4
    assert "held out for testing, 2 samples; their labels are as noisy" in splits.notes[0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_are_sorted_as_numbers(kind: str, tmp_path: Path) -> None:
    write_images(tmp_path)
    rows = [(f"img/{row}.png", label) for row, label in enumerate([10, 2, 2, 10, -1, 2])]
    splits = load_manifest(write(tmp_path, kind, ["path", "given_label"], rows))
    assert splits.train.classes == ("-1", "2", "10")
    mixed = [(path, "x" if label == -1 else str(label)) for path, label in rows]
    splits = load_manifest(write(tmp_path, kind, ["path", "given_label"], mixed))
    assert splits.train.classes == ("10", "2", "x")


def test_whole_numbers_that_parquet_has_as_floats(tmp_path: Path) -> None:
    write_images(tmp_path, 4)
    rows = [(f"img/{row}.png", row % 2, float(row // 2)) for row in range(4)]
    splits = load_manifest(write(tmp_path, "parquet", ["path", "label", "true_label"], rows))
    assert splits.train.classes == ("0", "1")


def test_true_labels(tmp_path: Path) -> None:
    write_images(tmp_path)
    header = ["path", "label", "true_label", "split"]
    rows = [
        ("img/0.png", "a", "b", "train"),
        ("img/1.png", "b", "b", "train"),
        ("img/2.png", "a", "a", "train"),
        ("img/3.png", "a", "b", "test"),
        ("img/4.png", "b", "", "val"),
    ]
    splits = load_manifest(write_csv(tmp_path / "m.csv", header, rows))
    assert splits.train.given_label.tolist() == [0, 1, 0]
    assert splits.train.true_label is not None
    assert splits.train.true_label.tolist() == [1, 1, 0]
    assert splits.test.given_label.tolist() == [1]  # judged by the truth
    assert splits.validation is not None
    assert splits.validation.true_label is None


def test_what_is_held_out_is_judged_by_the_truth(tmp_path: Path) -> None:
    write_images(tmp_path)
    rows = [(f"img/{row}.png", "ab"[row % 2], "ba"[row % 2]) for row in range(6)]
    splits = load_manifest(write_csv(tmp_path / "m.csv", ["path", "label", "true_label"], rows))
    assert splits.train.paths is not None
    assert splits.test.paths is not None
    for path, label in zip(splits.test.paths, splits.test.given_label.tolist(), strict=True):
        assert "ab"[label] == {row[0]: row[2] for row in rows}[path]
    assert "their labels are their true labels" in splits.notes[0]


def test_absolute_paths_and_paths_upwards(tmp_path: Path) -> None:
    write_images(tmp_path, 4)
    home = tmp_path / "tables"
    home.mkdir()
    first = str(tmp_path / "img" / "0.png")
    rows = [(first, "a"), *((f"../img/{row}.png", "ab"[row % 2]) for row in (1, 2, 3))]
    splits = load_manifest(write_csv(home / "m.csv", ["path", "label"], rows))
    names = {*(splits.train.paths or ()), *(splits.test.paths or ())}
    assert names == {first, "../img/1.png", "../img/2.png", "../img/3.png"}


def test_other_columns_are_named(tmp_path: Path) -> None:
    write_images(tmp_path, 4)
    rows = [(row, f"img/{row}.png", "ab"[row % 2], 8) for row in range(4)]
    path = write_csv(tmp_path / "m.csv", ["", "path", "label", "width"], rows)
    assert load_manifest(path).notes[0] == "columns of m.csv not used: width"


def test_missing_and_bad_images_can_be_skipped(tmp_path: Path) -> None:
    write_images(tmp_path)
    (tmp_path / "img" / "0.png").unlink()
    (tmp_path / "img" / "1.png").write_bytes(b"")
    rows = [(f"img/{row}.png", "ab"[row % 2]) for row in range(6)]
    path = write_csv(tmp_path / "m.csv", ["path", "label"], rows)
    with pytest.raises(MentorNetError, match=r"m.csv, row 2: there is no file img/0.png in .*skip"):
        load_manifest(path)
    splits = load_manifest(path, LoadOptions(skip_bad=True, image_size=16))
    assert len(splits.train) + len(splits.test) == 4
    assert splits.train.shape == (3, 16, 16)
    assert [note.split(": ")[-1] for note in splits.notes[:2]] == [
        "No such file or directory",
        "it is empty",
    ]


GOOD = "img/0.png,a\nimg/1.png,b\n"

MISTAKES = {
    "empty": ("", "m.csv is empty"),
    "header only": ("path,label\n", "m.csv lists no images"),
    "no label": ("path,lable\nimg/0.png,a\n", "has no column 'label'; did you mean 'lable'?"),
    "no path": ("file,label\nimg/0.png,a\n", "has no column 'path'; Known: file, label"),
    "semicolons": ("path;label\nimg/0.png;a\n", "columns must be separated by commas"),
    "twice": ("path,label,label\nimg/0.png,a,a\n", "path, label, label, one of them twice"),
    "two labels": ("path,label,given_label\nimg/0.png,a,a\n", "mean the same: keep one"),
    "almost": (
        "path,label,true_lable\nimg/0.png,a,a\nimg/1.png,b,b\n",
        "'true_lable' looks like 'true_label'",
    ),
    "split": (
        "path,label,split\nimg/0.png,a,train\nimg/1.png,b,tset\n",
        "m.csv, row 3 has the unknown split 'tset'; did you mean 'test'?",
    ),
    "missing file": (f"path,label\n{GOOD}img/none.png,a\n", "row 4: there is no file img/none.png"),
    "empty label": (f"path,label\n{GOOD}img/2.png,\n", "m.csv, row 4 has no label"),
    "short row": (f"path,label\n{GOOD}img/2.png\n", "m.csv, row 4 has no label"),
    "empty path": (f"path,label\n{GOOD},a\n", "m.csv, row 4 has no path"),
    "long row": (f"path,label\n{GOOD}img/2.png,a,b\n", "row 4 has 3 cells for 2 columns"),
    "blank lines count": (f"path,label\n\n{GOOD}img/2.png,\n", "m.csv, row 5 has no label"),
    "one class": ("path,label\nimg/0.png,a\nimg/1.png,a\n", "at least 2 classes"),
    "no training rows": (
        "path,label,split\nimg/0.png,a,test\nimg/1.png,b,test\n",
        "found no training rows",
    ),
    "class of test": (
        "path,label,split\nimg/0.png,cat,\nimg/1.png,dog,\nimg/2.png,dgo,test\n",
        "row 4 has the label 'dgo', which no training row has as its label; did you mean 'dog'?",
    ),
    "true label": (
        "path,label,true_label\nimg/0.png,cat,cat\nimg/1.png,dog,dgo\n",
        "row 3 has the true label 'dgo', which no training row has",
    ),
    "some true labels": (
        "path,label,true_label\nimg/0.png,a,a\nimg/1.png,b,\nimg/2.png,b,b\n",
        "row 3 has no true label, but 2 of 3 train rows have one; true labels must be known",
    ),
    "duplicate": (
        f"path,label\n{GOOD}img/../img/0.png,b\n",
        "m.csv, row 4 lists img/../img/0.png again, after",
    ),
    "quotes": ('path,label\nimg/0.png,"a\n', "m.csv, line 2: not CSV"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str, tmp_path: Path) -> None:
    text, message = MISTAKES[name]
    write_images(tmp_path, 3)
    path = tmp_path / "m.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MentorNetError, match=re.escape(message)):
        load_manifest(path)


def test_files_that_are_no_manifests(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("path,label\nä.png,a\n".encode("latin-1"))
    (tmp_path / "text.parquet").write_text("path,label\n")
    (tmp_path / "m.json").write_text("{}")
    write_images(tmp_path, 2)
    nothing = tmp_path / "nothing.parquet"
    write_parquet(nothing, {"path": ["img/0.png", "img/1.png"], "label": ["a", None]})
    for name, message in [
        ("latin.csv", "is not UTF-8 text"),
        ("text.parquet", "cannot be read as a parquet file"),
        ("m.json", "must be a .csv or .parquet file, got m.json"),
        ("none.csv", "none.csv is missing"),
        ("nothing.parquet", "nothing.parquet, row 2 has no label"),
    ]:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            load_manifest(tmp_path / name)


@pytest.mark.parametrize("first", ["1.0", "1.", "1"])
def test_one_number_is_one_class(first: str, tmp_path: Path) -> None:
    write_images(tmp_path)
    labels = [first, "1", "2", "1.0", "2.00", "10"]
    rows = [(f"img/{row}.png", label, "train") for row, label in enumerate(labels)]
    rows[1] = (*rows[1][:2], "test")
    splits = load_manifest(write_csv(tmp_path / "m.csv", ["path", "label", "split"], rows))
    assert splits.train.classes == ("1", "2", "10")
    assert splits.train.given_label.tolist() == [0, 1, 0, 1, 2]


@pytest.mark.parametrize("labels", [["1", "01"], ["1", "1.0", "1.5"], ["+1", "1"]])
def test_numbers_that_are_the_same_and_cannot_be_told_apart(
    labels: list[str], tmp_path: Path
) -> None:
    write_images(tmp_path)
    rows = [(f"img/{row}.png", label) for row, label in enumerate([*labels, "x"])]
    path = write_csv(tmp_path / "m.csv", ["path", "label"], rows)
    with pytest.raises(MentorNetError, match="which are the same number; spell it in one way"):
        load_manifest(path)


def test_digits_of_other_scripts_and_very_long_numbers_are_names(tmp_path: Path) -> None:
    write_images(tmp_path)
    labels = ["\u0661", "1", "9" * 5_000] * 2
    rows = [(f"img/{row}.png", label) for row, label in enumerate(labels)]
    splits = load_manifest(write_csv(tmp_path / "m.csv", ["path", "label"], rows))
    assert splits.train.classes == ("1", "9" * 5_000, "\u0661")


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([b"a", b"b"], ("a", "b")),
        ([Decimal("1.00"), Decimal("2.00")], ("1", "2")),
        ([Decimal("1.50"), Decimal("2.00")], ("1.50", "2")),
        ([timedelta(1), timedelta(2)], None),
        ([date(2020, 1, 1), date(2020, 1, 2)], None),
        ([[1], [2]], None),
        ([b"\xff", b"a"], None),
    ],
)
def test_labels_of_every_type_of_parquet(
    values: list[Any], classes: tuple[str, ...] | None, tmp_path: Path
) -> None:
    write_images(tmp_path)
    path = tmp_path / "m.parquet"
    columns = {"path": [f"img/{row}.png" for row in range(6)], "label": values * 3}
    write_parquet(path, columns)
    if classes is not None:
        assert load_manifest(path).train.classes == classes
        return
    with pytest.raises(MentorNetError, match=r"m\.parquet, row 1"):
        load_manifest(path)


def test_a_column_of_parquet_that_is_there_twice(tmp_path: Path) -> None:
    table = pa.table({"path": ["a"], "label": ["b"]})
    pq.write_table(table.append_column("label", table["label"]), tmp_path / "m.parquet")
    with pytest.raises(MentorNetError, match="path, label, label, one of them twice"):
        load_manifest(tmp_path / "m.parquet")


def test_long_names_are_quoted_in_part(tmp_path: Path) -> None:
    write_images(tmp_path)
    long, broken = "x" * 50_000, "a\nb" + "c" * 100
    for rows in (
        [["img/0.png", "a", long, ""], ["img/1.png", long + "y", "a", ""]],
        [["img/0.png", "a", "a", long], ["img/1.png", "b", "b", ""]],
        [["img/0.png", long, long, ""], ["img/1.png", long, long, ""]],
        [["img/0.png", broken, "x", ""], ["img/1.png", "b", "b", ""]],
    ):
        path = write(tmp_path, "csv", ["path", "label", "true_label", "split"], rows)
        with pytest.raises(MentorNetError) as caught:
            load_manifest(path)
        assert "\n" not in f"{caught.value}"
        assert len(f"{caught.value}") < 1_000
