"""Datasets in memory, label noise and augmentation."""

from __future__ import annotations

from mentornet.data.augmentation import augment, standardise
from mentornet.data.cifar import load_cifar10, load_cifar100
from mentornet.data.digits import load_digits
from mentornet.data.fashion_mnist import load_fashion_mnist
from mentornet.data.images import Images, Splits
from mentornet.data.label_file import read_labels
from mentornet.data.noise import NOISES, Noise, corrupt, corrupt_images, noise_rate, parse_noise

__all__ = [
    "NOISES",
    "Images",
    "Noise",
    "Splits",
    "augment",
    "corrupt",
    "corrupt_images",
    "load_cifar10",
    "load_cifar100",
    "load_digits",
    "load_fashion_mnist",
    "noise_rate",
    "parse_noise",
    "read_labels",
    "standardise",
]
