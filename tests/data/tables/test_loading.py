"""Tables of texts, rows and vectors: which columns mean what, and every mistake in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import LoadOptions, Splits, load_data
from mentornet.data.encoding import Rows, Texts, Vectors
from mentornet.data.encoding.table import Table
from tests.data.files.test_manifest import write_csv
from tests.data.image_files import write_parquet

TEXTS = [(f"a text with {number} words", "yes" if number % 2 else "no") for number in range(8)]
NUMBERS = [(number, "red" if number % 3 else "blue", number % 2) for number in range(8)]


def texts(folder: Path, kind: str = "csv") -> Path:
    path = folder / f"texts.{kind}"
    if kind == "csv":
        return write_csv(path, ["text", "label"], TEXTS)
    write_parquet(path, {"text": [text for text, _ in TEXTS], "label": [lab for _, lab in TEXTS]})
    return path


def load(path: Path, **options: object) -> Splits:
    return load_data(f"{path}", LoadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_texts_is_found(kind: str, tmp_path: Path) -> None:
    splits = load(texts(tmp_path, kind))
    train = splits.train
    assert train.kind == "tokens"
    assert train.channels == train.vocabulary > int(train.tensor.max())
    assert train.classes == ("no", "yes")
    assert isinstance(train.raw, Texts)
    assert train.row is not None
    for text, row, label in zip(train.raw.texts, train.row, train.given_label, strict=True):
        assert (text, train.classes[label]) == TEXTS[row]
    assert len(train) == 6
    assert len(splits.test) == 2
    assert splits.notes[0] == "texts of the column text"


def test_rows_of_numbers_and_categories(tmp_path: Path) -> None:
    splits = load(write_csv(tmp_path / "t.csv", ["n", "colour", "label"], NUMBERS))
    assert splits.train.kind == "vectors"
    assert splits.train.shape == (3,)
    assert isinstance(splits.train.raw, Rows)
    assert isinstance(splits.encoder, Table)


def test_the_encoder_is_fitted_on_the_training_rows(tmp_path: Path) -> None:
    rows = [(0, "a", "train"), (2, "b", "train"), (100, "a", "test"), (200, "b", "val")]
    splits = load(write_csv(tmp_path / "t.csv", ["n", "label", "split"], rows))
    assert splits.train.tensor.tolist() == [[-1], [1]]  # mean 1, deviation 1
    assert splits.test.tensor.tolist() == [[99]]
    assert splits.validation is not None


def test_a_label_column_by_name_and_true_labels(tmp_path: Path) -> None:
    rows = [(1, 10, 9, "train"), (2, 9, 9, "train"), (3, 2, 9, "train"), (4, 2, 10, "test")]
    path = write_csv(tmp_path / "t.csv", ["n", "stars", "true_label", "split"], rows)
    splits = load(path, label="stars")
    assert splits.train.classes == ("2", "9", "10")  # sorted as numbers, and named as they are
    assert splits.train.given_label.tolist() == [2, 1, 0]
    assert splits.train.true_label is not None
    assert splits.train.true_label.tolist() == [1, 1, 1]
    assert splits.test.given_label.tolist() == [2]
    assert splits.train.shape == (1,)  # neither labels nor splits are features


def test_a_second_column_of_labels_is_no_feature(tmp_path: Path) -> None:
    rows = [(number, "ab"[number % 2], "cd"[number % 2]) for number in range(6)]
    splits = load(write_csv(tmp_path / "t.csv", ["n", "label", "mine"], rows), label="mine")
    assert splits.train.classes == ("c", "d")
    assert splits.encoder is not None
    assert splits.encoder.columns == ("n",)
    assert "columns of t.csv not used: label" in splits.notes


def test_vectors_of_parquet(tmp_path: Path) -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)
    columns: dict[str, Any] = {
        "embedding": vectors.tolist(),
        "label": ["a", "b"] * 3,
        "split": ["train"] * 4 + ["test"] * 2,
    }
    write_parquet(tmp_path / "v.parquet", columns)
    splits = load(tmp_path / "v.parquet")
    assert isinstance(splits.train.raw, Vectors)
    assert torch.equal(splits.train.raw.values, torch.from_numpy(vectors[:4]))
    assert splits.train.tensor.mean(0).abs().max() < 1e-6


def test_class_names_of_hugging_face(tmp_path: Path) -> None:
    label = {"names": ["neg", "pos"], "_type": "ClassLabel"}
    about = json.dumps({"info": {"features": {"label": label}}})
    table = pa.table({"text": [text for text, _ in TEXTS], "label": [0, 1] * 4})
    pq.write_table(table.replace_schema_metadata({"huggingface": about}), tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet").train.classes == ("neg", "pos")


def test_vectors_of_npz_with_labels_that_are_names_or_numbers(tmp_path: Path) -> None:
    vectors = np.arange(12, dtype=np.float64).reshape(6, 2)
    split = np.array(["train"] * 4 + ["test"] * 2)
    for labels, classes in (
        (np.array(["dog", "cat"] * 3), ("cat", "dog")),
        (np.array([10, 2] * 3), ("2", "10")),
    ):
        np.savez(tmp_path / "v.npz", features=vectors, label=labels, split=split)
        splits = load(tmp_path / "v.npz")
        assert splits.train.classes == classes
        assert splits.train.given_label.tolist() == [1, 0, 1, 0]
        assert len(splits.test) == 2


@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_vectors_of_npy_with_labels_beside_them(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.arange(40.0).reshape(20, 2))
    labels = tmp_path / f"labels.{kind}"
    if kind == "npy":
        np.save(labels, np.arange(20) % 2)
    else:
        write_csv(labels, ["label"], [(number % 2,) for number in range(20)])
    splits = load(tmp_path / "v.npy", labels=labels)
    assert splits.train.row is not None
    assert torch.equal(splits.train.given_label, splits.train.row % 2)


def _csv(*lines: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "t.csv").write_text("\n".join(lines) + "\n")
        return folder / "t.csv"

    return write


def _npz(**arrays: object) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.savez(folder / "t.npz", **arrays)  # type: ignore[arg-type]
        return folder / "t.npz"

    return write


TWO = _csv("a,b,label", "one two three,four five six,x", "one two four,four five one,y")
ONE = _csv("n,label", "1,a", "2,b", "3,a", "4,b")
VECTORS = np.zeros((4, 2), np.float32)
MISTAKES: dict[str, tuple[Callable[[Path], Path], dict[str, object], str]] = {
    "two texts": (TWO, {}, "has 2 columns that read like text: a, b; name one of them in the setting text"),
    "no such text": (TWO, {"text": "c"}, "has no column 'c' for the setting text; Known: a, b, label"),
    "the label as text": (TWO, {"text": "label"}, "the setting text names 'label', which is no text"),
    "an empty text": (_csv("text,label", "one,a", ",b", "two,a"), {"text": "text"}, "t.csv, row 3 has an empty text in column 'text'"),
    "no label": (_csv("n,lable", "1,a"), {}, "has no column 'label'; name the column of labels in the setting label. did you mean 'lable'?"),
    "label misspelt": (ONE, {"label": "labe"}, "has no column 'labe' for the setting label; did you mean 'label'?"),
    "two labels": (_csv("n,label,given_label", "1,a,a"), {}, "label and given_label, which mean the same"),
    "an empty label": (_csv("n,label", "1,a", "2,", "3,b"), {}, "t.csv, row 3 has no label; every row needs one"),
    "one class": (_csv("n,label", "1,a", "2,a"), {}, "at least 2 classes to train on, found only 'a'"),
    "no rows": (_csv("n,label"), {}, "t.csv has no rows"),
    "only labels": (_csv("label,split", "a,train", "b,train"), {}, "no column of texts or features"),
    "infinite": (_csv("n,label", "1,a", "inf,b", "2,a", "3,b", "5,a", "5,b"), {}, "values must be finite"),
    "an odd split": (_csv("n,label,split", "1,a,trian"), {}, "has the unknown split 'trian'; did you mean 'train'?"),
    "semicolons": (_csv("n;label", "1;a"), {}, "columns must be separated by commas"),
    "labels of a table": (ONE, {"labels": Path("x.npy")}, "the setting labels has no meaning for"),
    "NaN": (_npz(features=VECTORS + np.nan, label=np.arange(4) % 2), {}, "value 0 is nan"),
    "labels too few": (_npz(features=VECTORS, label=np.arange(3) % 2), {}, "has 4 vectors, but there are 3 labels"),
    "splits too few": (_npz(features=VECTORS, label=np.arange(4) % 2, split=np.array(["train"])), {}, "got 4 of label, 1 of split"),
    "no labels": (_npz(features=VECTORS), {}, "has no column 'label'"),
    "labels of floats": (_npz(features=VECTORS, label=np.zeros(4)), {}, "label must be whole numbers or names"),
    "pickled labels": (_npz(features=VECTORS, label=np.array(["a", None, "b", "c"], object)), {}, "label must be whole numbers or names"),
    "labels missing": (_npz(features=VECTORS), {"labels": Path("none.npy")}, "labels must name a file that exists, but none.npy is missing"),
    "stream": (ONE, {"stream": True}, "the setting stream has no meaning for"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str, tmp_path: Path) -> None:
    write, options, message = MISTAKES[name]
    with pytest.raises(MentorNetError, match=re.escape(message)) as caught:
        load(write(tmp_path), **options)
    assert "\n" not in str(caught.value)


def test_vectors_without_labels(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    with pytest.raises(MentorNetError, match="name a file with its labels in the setting labels"):
        load(tmp_path / "v.npy")


def test_a_table_of_images_stays_one(tmp_path: Path) -> None:
    path = _csv("file,label", "img/0.png,a", "img/1.png,b")(tmp_path)
    with pytest.raises(MentorNetError, match="has no column 'path'"):
        load(path)
