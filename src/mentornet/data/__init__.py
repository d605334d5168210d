"""Datasets, files of the user, label noise and augmentation."""

from __future__ import annotations

from mentornet.data.augmentation import augment, standardise
from mentornet.data.batch import Batch
from mentornet.data.files.decode import UnreadableImage, read_image
from mentornet.data.files.image_folder import load_image_folder
from mentornet.data.files.label_file import read_labels
from mentornet.data.files.manifest import load_manifest
from mentornet.data.files.reading import read_images
from mentornet.data.loading import load_data
from mentornet.data.noise.kinds import NOISES, Noise, noise_rate
from mentornet.data.noise.transitions import corrupt
from mentornet.data.noise_setting import (
    AnyNoise,
    HumanNoise,
    LabelNoise,
    TransitionNoise,
    corrupt_samples,
    corrupt_splits,
    parse_noise,
)
from mentornet.data.options import LoadOptions
from mentornet.data.progress import Progress
from mentornet.data.samples import HeldOut, Kind, Samples, Splits, check_images, check_inputs
from mentornet.data.sets.cifar import load_cifar10, load_cifar100
from mentornet.data.sets.cifar_archive import fetch_cifar
from mentornet.data.sets.dataset import Dataset
from mentornet.data.sets.digits import load_digits
from mentornet.data.sets.download import download
from mentornet.data.sets.fashion_mnist import load_fashion_mnist
from mentornet.data.sets.registry import DATASETS

__all__ = [
    "DATASETS",
    "NOISES",
    "AnyNoise",
    "Batch",
    "Dataset",
    "HeldOut",
    "HumanNoise",
    "Kind",
    "LabelNoise",
    "LoadOptions",
    "Noise",
    "Progress",
    "Samples",
    "Splits",
    "TransitionNoise",
    "UnreadableImage",
    "augment",
    "check_images",
    "check_inputs",
    "corrupt",
    "corrupt_samples",
    "corrupt_splits",
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
