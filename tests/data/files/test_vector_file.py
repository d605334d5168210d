from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from numpy.typing import NDArray

from mentornet import MentorNetError
from mentornet.data.files.vector_file import read_vectors

VECTORS = [[0.5, -1.0, 3.0], [0.0, 0.25, 1e-3], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]


def save_lists(path: Path, rows: list[Any], kind: Any = None, **others: list[Any]) -> Path:
    kind = kind or pa.list_(pa.float32())
    pq.write_table(pa.table({"features": pa.array(rows, kind), **others}), path)
    return path


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f8", "|u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_number_and_order(dtype: str, order: str, tmp_path: Path) -> None:
    values = np.asarray(np.arange(12).reshape(4, 3), dtype, order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "one.npy", values)
    np.savez_compressed(tmp_path / "one.npz", anything=values)
    for name in ("one.npy", "one.npz"):
        found = read_vectors(tmp_path / name)
        assert found.dtype == torch.float32
        assert found.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float32(), 3),
    ],
)  # fmt: skip
def test_lists_of_parquet(kind: Any, tmp_path: Path) -> None:
    path = save_lists(tmp_path / "a.parquet", VECTORS, kind, label=[1, 2, 3, 4])
    assert read_vectors(path).tolist() == torch.tensor(VECTORS).tolist()
    whole = save_lists(tmp_path / "b.parquet", [[1, 2], [3, 4]], pa.list_(pa.int16()))
    assert read_vectors(whole).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_one_of_several_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", embeddings=np.array(VECTORS), labels=np.arange(4))
    assert read_vectors(tmp_path / "a.npz").shape == (4, 3)
    np.savez(tmp_path / "b.npz", left=np.array(VECTORS), right=np.ones((4, 2)))
    assert read_vectors(tmp_path / "b.npz", "right").shape == (4, 2)
    with pytest.raises(MentorNetError, match=r"holds several arrays; say which, one of: left, r"):
        read_vectors(tmp_path / "b.npz")
    with pytest.raises(MentorNetError, match=r"holds no 'rihgt'; did you mean 'right'"):
        read_vectors(tmp_path / "b.npz", "rihgt")
    lists = save_lists(tmp_path / "c.parquet", VECTORS, other=pa.array([[1.0]] * 4))
    assert read_vectors(lists).shape == (4, 3)
    assert read_vectors(lists, "other").shape == (4, 1)


def odd(place: tuple[int, int], value: float) -> NDArray[np.float64]:
    vectors = np.array(VECTORS)
    vectors[place] = value
    return vectors


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (odd((2, 1), np.nan), "row 2 (from 0): value 1 is nan; this row is not finite"),
        (odd((3, 0), -np.inf), "row 3 (from 0): value 0 is -inf"),
        (odd((1, 2), 1e300), "row 1 (from 0): value 2 is inf"),
        (np.full((4, 3), np.nan), "4 rows are not finite"),
        (np.arange(4.0), "must hold one vector for each sample, of shape (N, D), got (4,)"),
        (np.ones((2, 3, 4)), "of shape (N, D), got (2, 3, 4)"),
        (np.ones((0, 3)), "of shape (N, D), got (0, 3)"),
        (np.array([["a"]]), "an array must hold plain numbers, got '<U1'"),
        (np.array([[{}]], dtype=object), "an array must hold plain numbers, got '|O'"),
    ],
)
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_arrays_that_are_no_vectors(
    vectors: NDArray[Any], message: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{kind}"
    np.save(path, vectors) if kind == "npy" else np.savez(path, a=vectors)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read_vectors(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0], None, [3.0, 4.0]], "row 1 (from 0): its vector has 0 values, expected 2"),
        ([[1.0, 2.0], [1.0]], "row 1 (from 0): its vector has 1 values, expected 2"),
        ([[]], "row 0 (from 0): its vector has 0 values, expected at least 1"),
        ([[1.0], [None]], "row 1 (from 0): value 0 is nan"),
        ([], "has no rows"),
    ],
)
def test_lists_that_are_no_vectors(rows: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read_vectors(save_lists(tmp_path / "a.parquet", rows))


def test_files_that_hold_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1.0], "words": [["b"]]}), tmp_path / "plain.parquet")
    with zipfile.ZipFile(tmp_path / "none.npz", "w"):
        pass
    (tmp_path / "a.csv").write_text("1,2\n")
    np.save(tmp_path / "a.npy", np.array(VECTORS))
    for name, key, message in [
        ("plain.parquet", None, "holds no columns of lists of numbers"),
        ("none.npz", None, "holds no arrays"),
        ("a.csv", None, "vectors must be in a .npy, .npz or .parquet file, got a.csv"),
        ("a.npy", "features", "holds one array without a name, so 'features' is not there"),
        ("missing.npy", None, "missing.npy is missing"),
    ]:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            read_vectors(tmp_path / name, key)


def header(shape: tuple[int, int]) -> bytes:
    """The beginning of a `.npy` file that states an array of this shape."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f4", "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


def test_sizes_are_checked_before_memory_is_taken(tmp_path: Path) -> None:
    stated = header((1 << 40, 1 << 7))
    (tmp_path / "short.npy").write_bytes(stated + b"\0" * 512)
    with zipfile.ZipFile(tmp_path / "short.npz", "w") as archive:
        archive.writestr("a.npy", stated + b"\0" * 512)
    size = 300 << 20  # packed into some 300 kB
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb,
        bomb.open("a.npy", "w") as member,
    ):
        member.write(header((size >> 10, 1 << 8)))
        for _ in range(300):
            member.write(bytes(1 << 20))
    for name, message in [
        ("short.npy", "bytes has 512; was the file cut short?"),
        ("short.npz", "bytes has 512; was the file cut short?"),
        ("bomb.npz", "it states an array of 314,572,928 bytes that is packed into"),
    ]:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            read_vectors(tmp_path / name)
