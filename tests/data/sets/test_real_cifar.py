"""The real files; `.ci/run` unpacks them and names their folder in MENTORNET_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from mentornet.data import DATASETS, Noise, corrupt_samples, load_cifar10, load_cifar100, noise_rate
from mentornet.data.sets.cifar_classes import CLASSES
from mentornet.data.sets.cifar_parquet import official_order


def folder() -> Path:
    where = os.environ.get("MENTORNET_DATA")
    if where is None and os.environ.get("CI"):
        pytest.fail("under CI, MENTORNET_DATA must name the folder of CIFAR's files")
    if where is None:
        pytest.skip("set MENTORNET_DATA to the folder that holds cifar-10-batches-py")
    return Path(where)


def test_cifar10() -> None:
    splits, record = load_cifar10(folder()), DATASETS["cifar10"]
    assert (len(splits.train), len(splits.test)) == (record.count, 10_000)
    assert splits.train.shape == record.shape
    assert len(splits.train.classes) == record.classes
    assert splits.train.classes[3] == "cat"
    assert torch.bincount(splits.train.given_label).tolist() == [5000] * 10
    noisy = corrupt_samples(splits.train, Noise("uniform", 0.4), seed=0)
    assert noisy.true_label is not None
    assert noise_rate(noisy.given_label, noisy.true_label) == pytest.approx(0.36, abs=0.011)


def test_cifar100() -> None:
    train, record = load_cifar100(folder()).train, DATASETS["cifar100"]
    found = (len(train), train.shape, len(train.classes))
    assert found == (record.count, record.shape, record.classes)
    assert train.groups is not None
    assert torch.bincount(train.groups).tolist() == [5] * 20
    noisy = corrupt_samples(train, Noise("asymmetric", 0.4), seed=0)
    assert torch.equal(train.groups[noisy.given_label], train.groups[train.given_label])


def test_the_hubs_order_of_cifar10_is_put_right() -> None:
    label = load_cifar10(folder()).train.given_label
    blocks = label.split(10_000)
    hub = torch.cat([blocks[number - 1] for number in (4, 3, 2, 5, 1)])
    order = official_order(hub)
    assert torch.equal(hub[order], label)
    assert order[:3].tolist() == [40_000, 40_001, 40_002]
    assert torch.equal(official_order(label), torch.arange(50_000))


def test_class_names() -> None:
    assert load_cifar10(folder()).train.classes == CLASSES["cifar10"]
    assert load_cifar100(folder()).train.classes == CLASSES["cifar100"]
