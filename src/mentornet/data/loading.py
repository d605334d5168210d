"""One door to all data: a dataset by name, a folder of images, or a manifest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from mentornet.data.files.image_folder import load_image_folder
from mentornet.data.files.manifest import load_manifest
from mentornet.data.progress import Progress
from mentornet.data.samples import Splits
from mentornet.data.sets.cifar import CIFAR_FOLDERS, has_cifar, load_cifar10, load_cifar100
from mentornet.data.sets.cifar_archive import fetch_cifar
from mentornet.data.sets.digits import load_digits
from mentornet.data.sets.fashion_mnist import load_fashion_mnist
from mentornet.data.sets.imagenet import load_imagenet
from mentornet.data.sets.places import cache_folder, data_folders
from mentornet.data.sets.webvision import load_webvision
from mentornet.data.stream.shards import has_shards, load_shards
from mentornet.data.stream.streamed import SIDE
from mentornet.errors import MentorNetError
from mentornet.names import did_you_mean

__all__ = ["CLEAN", "DATASETS", "load_data"]


def load_data(
    source: str,
    *,
    folder: Path | None = None,
    mirror: str | None = None,
    size: int | None = None,
    skip_bad: bool = False,
    stream: bool = False,
    imagenet: Path | None = None,
    on_progress: Progress | None = None,
) -> Splits:
    """The data that `source` names, ready to train on.

    Args:
        source: a name in `DATASETS`, or the path of a folder of images (`load_image_folder`) or
            of shards (`load_shards`), or of a `.csv` or `.parquet` manifest (`load_manifest`). A
            folder that is called like a dataset is `./digits`.
        folder: of Fashion-MNIST's or CIFAR's files. Without it CIFAR is looked for in the folder
            that MENTORNET_DATA names and in the cache, and else downloaded into the cache.
        mirror: where to download CIFAR from, as in `fetch_cifar`.
        size: height and width that the images of a folder or a manifest are brought to, and of
            the views of what is streamed.
        skip_bad: leave out images of a folder or a manifest that cannot be read; where they are
            streamed, a grey one stands in for each.
        stream: leave the images of a folder or a manifest in their files.
        imagenet: folder of ImageNet, for WebVision; `imagenet` is looked for like a dataset.
        on_progress: called while files are downloaded and images are read.
    """
    if source in LARGE:
        _refuse(source, mirror=mirror)
        if source == "imagenet":
            _refuse(source, imagenet=imagenet)
        home = folder or _home_of(source)
        if imagenet is not None and imagenet == Path("imagenet") and not imagenet.exists():
            imagenet = _home_of("imagenet")
        splits = LARGE[source](home, imagenet, size or SIDE, on_progress)
    elif source in DATASETS:
        _refuse(source, size=size, skip_bad=skip_bad, stream=stream, imagenet=imagenet)
        splits = DATASETS[source](folder, mirror, on_progress)
    else:
        path = Path(source).expanduser()
        _check_exists(source, path)
        _refuse(source, folder=folder, mirror=mirror, imagenet=imagenet)
        if path.is_dir() and has_shards(path):
            _refuse(source, stream=stream)
            splits = load_shards(path, side=size, on_progress=on_progress)
        else:
            load = load_image_folder if path.is_dir() else load_manifest
            splits = load(
                path, size=size, skip_bad=skip_bad, stream=stream, on_progress=on_progress
            )
    if len(splits.train.given_label.unique()) < 2:
        raise MentorNetError(f"the training images of {source} are of one class only")
    if not len(splits.test):
        raise MentorNetError(f"{source} has no test images")
    return splits


def _digits(folder: Path | None, mirror: str | None, on_progress: Progress | None) -> Splits:
    del on_progress  # they are there at once
    _refuse("digits", folder=folder, mirror=mirror)
    return load_digits()


def _fashion_mnist(folder: Path | None, mirror: str | None, on_progress: Progress | None) -> Splits:
    del on_progress
    _refuse("fashion-mnist", mirror=mirror)
    return load_fashion_mnist(folder)


def _cifar(
    name: str, folder: Path | None, mirror: str | None, on_progress: Progress | None
) -> Splits:
    load = {"cifar10": load_cifar10, "cifar100": load_cifar100}[name]
    if folder is not None:
        if mirror is not None:
            raise MentorNetError("give --folder or --mirror, not both: a folder needs no download")
        if not folder.is_dir():
            raise MentorNetError(f"{folder} is not a folder, so {name} is not in it")
        if not has_cifar(name, folder):
            raise MentorNetError(
                f"{folder} holds neither {CIFAR_FOLDERS[name]} nor parquet files of {name}; "
                "an archive is named with --mirror"
            )
        return load(folder, on_progress=on_progress)
    for place in data_folders():
        if has_cifar(name, place):
            return load(place, on_progress=on_progress)
    fetch_cifar(name, cache_folder(), mirror=mirror, on_progress=on_progress)
    return load(cache_folder(), on_progress=on_progress)


DATASETS: dict[str, Callable[[Path | None, str | None, Progress | None], Splits]] = {
    "digits": _digits,
    "fashion-mnist": _fashion_mnist,
    "cifar10": partial(_cifar, "cifar10"),
    "cifar100": partial(_cifar, "cifar100"),
}
"""Loaders by name; each takes the folder, the mirror and the progress of `load_data`."""

Large = Callable[[Path, Path | None, int, Progress | None], Splits]


def _imagenet(
    folder: Path, imagenet: Path | None, side: int, on_progress: Progress | None
) -> Splits:
    del imagenet  # it is the folder
    return load_imagenet(folder, side=side, on_progress=on_progress)


def _webvision(
    mini: bool, folder: Path, imagenet: Path | None, side: int, on_progress: Progress | None
) -> Splits:
    return load_webvision(folder, mini=mini, imagenet=imagenet, side=side, on_progress=on_progress)


LARGE: dict[str, Large] = {
    "imagenet": _imagenet,
    "webvision": partial(_webvision, False),
    "webvision-mini": partial(_webvision, True),
}
"""What is streamed, from the folder that --folder names or that is called so in MENTORNET_DATA."""

CLEAN = (*DATASETS, "imagenet")
"""Datasets whose labels count as true, as they ship."""


NAMES = (*DATASETS, *LARGE)


def _home_of(source: str) -> Path:
    name = source.removesuffix("-mini")
    for place in data_folders():
        if (place / name).is_dir():
            return place / name
    raise MentorNetError(
        f"{source} is not downloaded for you; put it at {name} in the folder that MENTORNET_DATA "
        "names, or name its own folder (mentornet train --folder)"
    )


def _refuse(source: str, **options: object) -> None:
    """An option that the source has no use for is a mistake, not to be passed over."""
    flags = {"size": "--image-size"}
    for name, value in options.items():
        if value is not None and value is not False:
            flag = flags.get(name, "--" + name.replace("_", "-"))
            raise MentorNetError(f"{flag} has no meaning for {source}; leave it out")


def _check_exists(source: str, path: Path) -> None:
    if not path.exists():
        raise MentorNetError(
            f"unknown data {source!r}; {did_you_mean(source, NAMES)}. A path of your own must "
            "lead to a folder of images or shards, or to a .csv or .parquet file"
        )
