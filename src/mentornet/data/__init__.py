"""Datasets in memory, label noise and augmentation."""

from __future__ import annotations

from mentornet.data.augmentation import augment, standardise
from mentornet.data.batch import Batch
from mentornet.data.cifar import load_cifar10, load_cifar100
from mentornet.data.cifar_archive import fetch_cifar
from mentornet.data.decode import UnreadableImage, read_image
from mentornet.data.digits import load_digits
from mentornet.data.download import download
from mentornet.data.fashion_mnist import load_fashion_mnist
from mentornet.data.image_folder import load_image_folder
from mentornet.data.images import Images, Splits
from mentornet.data.label_file import read_labels
from mentornet.data.manifest import load_manifest
from mentornet.data.noise import (
    NOISES,
    LabelNoise,
    Noise,
    TransitionNoise,
    corrupt,
    corrupt_images,
    noise_rate,
    parse_noise,
)
from mentornet.data.progress import Progress
from mentornet.data.reading import read_images
from mentornet.data.sources import CLEAN, DATASETS, NAMES, load_data

__all__ = [
    "CLEAN",
    "DATASETS",
    "NAMES",
    "NOISES",
    "Batch",
    "Images",
    "LabelNoise",
    "Noise",
    "Progress",
    "Splits",
    "TransitionNoise",
    "UnreadableImage",
    "augment",
    "corrupt",
    "corrupt_images",
    "download",
    "fetch_cifar",
    "load_cifar10",
    "load_cifar100",
    "load_data",
    "load_digits",
    "load_fashion_mnist",
    "load_image_folder",
    "load_manifest",
    "noise_rate",
    "parse_noise",
    "read_image",
    "read_images",
    "read_labels",
    "standardise",
]
