from __future__ import annotations

import gzip
import os
import pickle
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import (
    load_cifar10,
    load_cifar100,
    load_digits,
    load_fashion_mnist,
)
from mentornet.data.sets.cifar_python import read_pickle
from mentornet.data.sets.fashion_mnist import read_idx
from tests.data.files.pickles import old_numpy


def test_digits_are_split_the_same_way_every_time() -> None:
    one, two = load_digits(), load_digits()
    assert (len(one.train), len(one.test)) == (1437, 360)
    assert torch.equal(one.train.tensor, two.train.tensor)
    assert one.train.shape == (1, 8, 8)
    assert int(one.train.tensor.max()) == 255
    seen = {image.numpy().tobytes() for image in one.train.tensor}
    repeated = sum(image.numpy().tobytes() in seen for image in one.test.tensor)
    assert repeated == 0


def write_cifar10(folder: Path, per_batch: int = 4) -> Path:
    """Files of the official layout, with random pixels."""
    inner = folder / "cifar-10-batches-py"
    inner.mkdir(parents=True)
    names = [f"class{k}" for k in range(10)]
    (inner / "batches.meta").write_bytes(pickle.dumps({"label_names": names}, protocol=4))
    rng = np.random.default_rng(0)
    for name in [*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]:
        content = {
            "data": rng.integers(0, 256, (per_batch, 3072), dtype=np.uint8),
            "labels": rng.integers(0, 10, per_batch).tolist(),
        }
        (inner / name).write_bytes(pickle.dumps(content, protocol=4))
    return inner


def write_cifar100(folder: Path) -> Path:
    inner = folder / "cifar-100-python"
    inner.mkdir(parents=True)
    names = [f"class{k}" for k in range(100)]
    (inner / "meta").write_bytes(pickle.dumps({"fine_label_names": names}, protocol=4))
    fine = list(range(100))
    for name in ("train", "test"):
        content = {
            "data": np.zeros((100, 3072), dtype=np.uint8),
            "fine_labels": fine,
            "coarse_labels": [label % 20 for label in fine],
        }
        (inner / name).write_bytes(pickle.dumps(content, protocol=4))
    return inner


def test_cifar10_in_the_official_layout(tmp_path: Path) -> None:
    inner = write_cifar10(tmp_path)
    splits = load_cifar10(tmp_path)
    assert (len(splits.train), len(splits.test)) == (20, 4)
    assert splits.train.shape == (3, 32, 32)
    raw = pickle.loads((inner / "data_batch_2").read_bytes())
    assert splits.train.tensor[5, 1, 2, 3] == raw["data"][1, 1024 + 2 * 32 + 3]
    assert splits.train.given_label[5] == raw["labels"][1]
    assert torch.equal(load_cifar10(inner).train.tensor, splits.train.tensor)


def test_cifar100_knows_its_superclasses(tmp_path: Path) -> None:
    write_cifar100(tmp_path)
    train = load_cifar100(tmp_path).train
    assert len(train.classes) == 100
    assert train.groups is not None
    assert train.groups.tolist() == [k % 20 for k in range(100)]


@pytest.mark.parametrize("protocol", range(6))
def test_cifar_that_somebody_pickled_again(protocol: int, tmp_path: Path) -> None:
    inner = write_cifar10(tmp_path)
    expected = load_cifar10(tmp_path)
    for number, path in enumerate(sorted(inner.iterdir())):
        content = pickle.loads(path.read_bytes())
        if "data" in content:
            order: Literal["F", "C"] = "F" if number % 2 else "C"
            content["data"] = np.asarray(
                content["data"], ">i2" if number % 3 else "u1", order=order
            )
            labels = np.array(content["labels"], np.int8)
            content["labels"] = labels if number % 2 else list(labels)
        if number % 2:  # as it is if the file was read with encoding="bytes"
            content = {key.encode(): value for key, value in content.items()}
        path.write_bytes(old_numpy(content, protocol))
    found = load_cifar10(tmp_path)
    for one, other in ((found.train, expected.train), (found.test, expected.test)):
        assert torch.equal(one.tensor, other.tensor)
        assert torch.equal(one.given_label, other.given_label)
        assert one.classes == other.classes


class Evil:
    """What a stranger could write: a pickle that runs a command when it is read."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch pwned",)


def test_a_pickle_that_would_run_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps({"data": Evil()}))
    with pytest.raises(MentorNetError, match=r"cannot be read as a file of CIFAR: .*system"):
        read_pickle(path)
    assert not (tmp_path / "pwned").exists()


PIXELS = np.zeros((1, 3072), dtype=np.uint8)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda f: (f / "data_batch_3").unlink(), "data_batch_3 is missing"),
    "cut short": (
        lambda f: cut(f / "data_batch_3"),
        "data_batch_3 cannot be read as a file of CIFAR",
    ),
    "empty": (
        lambda f: (f / "data_batch_3").write_bytes(b""),
        "data_batch_3 cannot be read as a file of CIFAR",
    ),
    "text": (
        lambda f: (f / "data_batch_3").write_text("hello"),
        "data_batch_3 cannot be read as a file of CIFAR",
    ),
    "a list": (
        lambda f: (f / "data_batch_3").write_bytes(pickle.dumps([1])),
        "must hold a dict, got list",
    ),
    "no labels": (
        lambda f: (f / "data_batch_3").write_bytes(pickle.dumps({"data": PIXELS})),
        "data_batch_3 must hold whole numbers under 'labels', got NoneType",
    ),
    "labels of text": (
        lambda f: (f / "test_batch").write_bytes(pickle.dumps({"data": PIXELS, "labels": ["a"]})),
        "test_batch must hold whole numbers under 'labels'",
    ),
    "no names": (
        lambda f: (f / "batches.meta").write_bytes(pickle.dumps({})),
        "batches.meta must hold the class names under 'label_names'",
    ),
    "no data": (
        lambda f: (f / "data_batch_3").write_bytes(pickle.dumps({})),
        "must hold images of 3 × 32 × 32",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_cifar(name: str, tmp_path: Path) -> None:
    damage, message = DAMAGE[name]
    damage(write_cifar10(tmp_path))
    with pytest.raises(MentorNetError, match=re.escape(message)):
        load_cifar10(tmp_path)


def idx(array: np.typing.NDArray[np.uint8]) -> bytes:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.tobytes()


def write_fashion(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for part, count in (("train", 6), ("t10k", 3)):
        images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = rng.integers(0, 10, count, dtype=np.uint8)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels))


def test_fashion_mnist_plain_and_compressed(tmp_path: Path) -> None:
    write_fashion(tmp_path)
    splits = load_fashion_mnist(tmp_path)
    assert (len(splits.train), len(splits.test)) == (6, 3)
    assert splits.train.shape == (1, 28, 28)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an IDX file"),
        (b"\x00\x00\x09\x01\x00\x00\x00\x01\x00", "is not an IDX file of bytes"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], "must hold 6 bytes, got 5"),
        (idx(np.zeros((2, 3), np.uint8)) + b"\0", "must hold 6 bytes, got more"),
        (idx(np.zeros((0, 3), np.uint8)), "states the shape (0, 3)"),
        (b"\0\0\x08\3" + b"\xff" * 12, "states the shape (4294967295, 4294967295, 4294967295)"),
        (b"\0\0\x08\3\0\0", "cannot be read as IDX"),
    ],
)
def test_damaged_idx(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read_idx(tmp_path / "x")


def test_a_gzip_bomb_costs_no_more_than_it_states(tmp_path: Path) -> None:
    zeros = gzip.compress(idx(np.zeros(6, np.uint8)) + bytes(1 << 24))
    (tmp_path / "x.gz").write_bytes(zeros)
    with pytest.raises(MentorNetError, match="must hold 6 bytes, got more"):
        read_idx(tmp_path / "x.gz")


def test_train_and_test_images_of_different_sizes_are_refused(tmp_path: Path) -> None:
    for part, side in (("train", 28), ("t10k", 27)):
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(
            idx(np.zeros((10, side, 28), np.uint8))
        )
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(idx(np.arange(10, dtype=np.uint8)))
    with pytest.raises(MentorNetError, match="the test samples have the shape"):
        load_fashion_mnist(tmp_path)


def test_missing_or_broken_fashion_mnist(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="dataset-fashion-mnist"):
        load_fashion_mnist(tmp_path)
    (tmp_path / "x.gz").write_bytes(b"not gzip")
    with pytest.raises(MentorNetError, match="cannot be read"):
        read_idx(tmp_path / "x.gz")
