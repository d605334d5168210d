from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import read_labels

LABELS = {"clean_label": np.arange(6), "aggre_label": np.array([0, 1, 2, 2, 4, 5])}


def write(folder: Path, kind: str) -> Path:
    """CIFAR-N's labels in each of the forms they come in."""
    path = folder / f"labels.{kind}"
    if kind == "npz":
        np.savez(path, **LABELS)  # type: ignore[arg-type]
    elif kind == "npy":
        np.save(path, LABELS)  # type: ignore[arg-type]
    else:
        torch.save(LABELS, path)
    return path


@pytest.mark.parametrize("kind", ["npz", "npy", "pt"])
def test_every_form_of_cifar_n(kind: str, tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, kind), "aggre_label")
    assert labels.dtype == torch.int64
    assert labels.tolist() == [0, 1, 2, 2, 4, 5]


class Evil:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch pwned",)


@pytest.mark.parametrize("kind", ["npy", "pt", "npz"])
def test_a_file_that_would_run_code_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"labels.{kind}"
    evil = {"clean_label": Evil()}
    if kind == "npy":
        np.save(path, evil)  # type: ignore[arg-type]
    elif kind == "npz":
        np.savez(path, clean_label=np.array(Evil(), dtype=object))
    else:
        torch.save(evil, path)
    with pytest.raises(MentorNetError, match=r"cannot be read as labels|must be whole numbers"):
        read_labels(path, "clean_label")
    assert not (tmp_path / "pwned").exists()


def test_mistakes(tmp_path: Path) -> None:
    path = write(tmp_path, "npz")
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:100])
    (tmp_path / "empty.npy").write_bytes(b"")
    np.savez(tmp_path / "floats.npz", clean_label=np.ones(3))
    for name, key, message in [
        ("labels.npz", "agre_label", "holds no labels 'agre_label'; did you mean 'aggre_label'?"),
        ("nothing.npz", "x", "nothing.npz is missing"),
        ("cut.npz", "x", "cannot be read as labels"),
        ("empty.npy", "x", "cannot be read as labels"),
        ("floats.npz", "clean_label", "must be whole numbers, one for each sample, got float64"),
    ]:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            read_labels(tmp_path / name, key)
    (tmp_path / "labels.csv").touch()
    with pytest.raises(MentorNetError, match=re.escape("from a .npz, .npy or .pt file")):
        read_labels(tmp_path / "labels.csv", "x")


@pytest.mark.parametrize(
    "header", ["(" * 5_000, "-" * 9_000 + "1", "{", "__import__('os')", "{[]: 1}"]
)
def test_headers_that_are_no_plain_dict(header: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    with pytest.raises(MentorNetError, match=r"labels\.npy cannot be read .*: its header is not"):
        read_labels(path)
