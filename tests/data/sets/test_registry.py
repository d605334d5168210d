"""What the registry says of every dataset, held against the data itself where it is at hand."""

from __future__ import annotations

from dataclasses import fields

import pytest

from mentornet.config import FilesConfig
from mentornet.data import DATASETS, LoadOptions, load_digits, load_fashion_mnist
from mentornet.data.sets.fashion_mnist import DEBIAN
from mentornet.data.sets.webvision import MINI


@pytest.mark.parametrize("name", DATASETS)
def test_a_record_is_complete(name: str) -> None:
    dataset = DATASETS[name]
    assert dataset.name == name
    assert dataset.about.endswith(".")
    assert "\n" not in dataset.about
    assert dataset.classes >= 2
    assert dataset.count > dataset.classes
    assert len(dataset.shape) == 3
    settings = {setting.name for setting in fields(FilesConfig)}
    assert set(dataset.options) <= {option.name for option in fields(LoadOptions)} & settings


def test_labels_from_the_web_are_noisy_as_shipped() -> None:
    """`tests/surface.txt` says of every dataset whether clean labels ship."""
    for name in ("webvision", "webvision-mini"):
        assert not DATASETS[name].has_clean_labels
    assert DATASETS["webvision-mini"].classes == MINI


def test_digits_are_as_the_record_says() -> None:
    train, record = load_digits().train, DATASETS["digits"]
    found = (train.shape, len(train.classes), len(train), train.streamed)
    assert found == (record.shape, record.classes, record.count, record.streamed)


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")
def test_fashion_mnist_is_as_the_record_says() -> None:
    train, record = load_fashion_mnist().train, DATASETS["fashion-mnist"]
    assert (train.shape, len(train.classes), len(train)) == (
        record.shape, record.classes, record.count,
    )  # fmt: skip
