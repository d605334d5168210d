"""The list of all named datasets. Each is described in its own file."""

from __future__ import annotations

from mentornet.data.sets.cifar import CIFAR10, CIFAR100
from mentornet.data.sets.dataset import Dataset
from mentornet.data.sets.digits import DIGITS
from mentornet.data.sets.fashion_mnist import FASHION_MNIST
from mentornet.data.sets.imagenet import IMAGENET
from mentornet.data.sets.webvision import WEBVISION, WEBVISION_MINI

__all__ = ["DATASETS"]

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        DIGITS, FASHION_MNIST, CIFAR10, CIFAR100, IMAGENET, WEBVISION, WEBVISION_MINI,
    )
}  # fmt: skip
"""All datasets by name, in the order in which help texts list them."""
