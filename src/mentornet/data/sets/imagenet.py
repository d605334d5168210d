"""ImageNet (ILSVRC12) from the usual layouts of its folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import torch

from mentornet.cells import csv_rows
from mentornet.data.files.image_folder import named_as_image
from mentornet.data.options import LoadOptions
from mentornet.data.progress import Progress
from mentornet.data.samples import Samples, Splits
from mentornet.data.sets.dataset import Dataset
from mentornet.data.sets.places import folder_of
from mentornet.data.stream.streamed import SIDE, LooseFiles
from mentornet.errors import MentorNetError, cut
from mentornet.files import read_lines
from mentornet.names import is_count

__all__ = ["IMAGENET", "imagenet_validation", "load_imagenet"]

_BELOW = "ILSVRC/Data/CLS-LOC"  # in the archive of Kaggle
_LISTS = ("LOC_val_solution.csv", "val.txt", "ILSVRC2012_val.txt")


def load_imagenet(folder: Path, *, side: int = SIDE, on_progress: Progress | None = None) -> Splits:
    """The training images, and the validation images to test on, left in their files.

    `train/` has a folder for each class, named by its WordNet id, such as `n01440764`. `val/` has
    such folders too, or all 50,000 images side by side. In the second case a list of their classes
    lies beside or above them: `LOC_val_solution.csv` of Kaggle, or `val.txt` with a file name and
    a class number in each line. `ILSVRC/Data/CLS-LOC/`, as Kaggle has it, is found as well.

    Args:
        folder: the folder that holds `train/` and `val/`.
        side: height and width of the views.
        on_progress: called after each class.
    """
    home = _home(folder)
    classes = _class_folders(home / "train")
    if len(classes) < 2:
        raise MentorNetError(
            f"{home / 'train'} must have a folder for each class, as n01440764; found "
            f"{', '.join(classes) or 'none'}"
        )
    names, labels = _listed(home, "train", classes, on_progress)
    train = Samples(
        LooseFiles(home, names, side), torch.tensor(labels), tuple(classes), paths=tuple(names)
    )
    return Splits(train, imagenet_validation(folder, classes, side=side))


def imagenet_validation(folder: Path, classes: Sequence[str], *, side: int = SIDE) -> Samples:
    """The validation images of these classes.

    Args:
        folder: the folder of ImageNet, as for `load_imagenet`.
        classes: WordNet ids; images of other classes are left out.
        side: height and width of the views.
    """
    home = _home(folder)
    if not (home / "val").is_dir():
        raise MentorNetError(f"{home} has no folder val with the validation images of ImageNet")
    numbers = {name: number for number, name in enumerate(classes)}
    if found := [name for name in _class_folders(home / "val") if name in numbers]:
        names, places = _listed(home, "val", found, None)
        labels = [numbers[found[place]] for place in places]
    else:
        rows = _val_list(folder, home)
        chosen = [(f"val/{name}", numbers[wanted]) for name, wanted in rows if wanted in numbers]
        names, labels = [name for name, _ in chosen], [label for _, label in chosen]
    if not names:
        raise MentorNetError(f"{home / 'val'} has no images of the {len(classes)} classes")
    pixels = LooseFiles(home, names, side)
    return Samples(pixels, torch.tensor(labels), tuple(classes), paths=tuple(names))


def _home(folder: Path) -> Path:
    folder = folder.expanduser()
    if not folder.is_dir():
        raise MentorNetError(f"{folder} is not a folder, so ImageNet is not in it")
    for home in (folder, folder / _BELOW, folder / "Data" / "CLS-LOC"):
        if (home / "train").is_dir() or (home / "val").is_dir():
            return home.absolute()
    raise MentorNetError(f"{folder} holds neither train nor val, nor {_BELOW} as Kaggle has it")


def _class_folders(folder: Path) -> list[str]:
    if not folder.is_dir():
        raise MentorNetError(f"{folder} is missing; it must hold the training images of ImageNet")
    return sorted(
        entry.name for entry in os.scandir(folder)
        if os.path.isdir(entry) and not entry.name.startswith(".")  # noqa: PTH112 - no error
    )  # fmt: skip


def _listed(
    home: Path, part: str, classes: Sequence[str], on_progress: Progress | None
) -> tuple[list[str], list[int]]:
    """The images in these class folders, and the class of each."""
    names: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        found = sorted(
            entry.name for entry in os.scandir(home / part / name) if named_as_image(entry.name)
        )
        if not found:
            raise MentorNetError(f"the class folder {home / part / name} holds no images")
        names += [f"{part}/{name}/{file}" for file in found]
        labels += [label] * len(found)
        if on_progress is not None:
            on_progress("listing classes", label + 1, len(classes))
    return names, labels


def _val_list(folder: Path, home: Path) -> list[tuple[str, str]]:
    """File names and WordNet ids of validation images that are not in class folders."""
    for place in (home, home / "val", folder.expanduser()):
        for name in _LISTS:
            path = place / name
            if path.is_file():
                return _kaggle(path) if path.suffix == ".csv" else _numbered(path, home / "train")
    raise MentorNetError(
        f"{home / 'val'} has no class folders, and there is none of "
        f"{', '.join(_LISTS)} to tell the class of each image"
    )


def _kaggle(path: Path) -> list[tuple[str, str]]:
    rows = csv_rows(path)
    first = next(rows, None)
    header = [] if first is None else first.cells
    if not {"ImageId", "PredictionString"} <= set(header):
        raise MentorNetError(f"{path} must have the columns ImageId and PredictionString")
    image, label = header.index("ImageId"), header.index("PredictionString")
    found = []
    for row in rows:
        if len(row.cells) <= max(image, label):
            raise MentorNetError(f"{path}, row {row.number} has too few cells")
        name = _inside(f"{path}, row {row.number}", f"{row.cells[image]}.JPEG")
        found.append((name, (row.cells[label] or "?").split(" ")[0]))
    return found


def _inside(place: str, name: str) -> str:
    """The name of a file; an error if it leads out of its folder."""
    if name.startswith("/") or ".." in name.split("/"):
        raise MentorNetError(f"{place} leads out of the folder: {cut(name)!r}")
    return name


def _numbered(path: Path, train: Path) -> list[tuple[str, str]]:
    """File names and WordNet ids; a number in the file counts the sorted folders of `train`."""
    classes = _class_folders(train)
    found = []
    for number, line in enumerate(read_lines(path), 1):
        name, _, label = line.strip().rpartition(" ")
        if not name or not is_count(label):
            raise MentorNetError(f"{path}:{number} must be a file name and a class number")
        if int(label) >= len(classes):
            raise MentorNetError(
                f"{path}:{number} has class {label}, but {train} has only {len(classes)} class "
                "folders, which the number counts: are some missing?"
            )
        found.append((_inside(f"{path}:{number}", name), classes[int(label)]))
    return found


def _load(options: LoadOptions) -> Splits:
    folder = options.folder or folder_of("imagenet")
    return load_imagenet(folder, side=options.image_size or SIDE, on_progress=options.on_progress)


IMAGENET = Dataset(
    "imagenet",
    "ImageNet, the ILSVRC12 photographs. `train/<synset>/` and `val/` with class folders, the list "
    "of Kaggle or a `val.txt`; in `folder`, or in `imagenet` inside MENTORNET_DATA.",
    _load, shape=(3, SIDE, SIDE), classes=1_000, count=1_281_167, has_clean_labels=True,
    streamed=True, options=("folder", "image_size", "skip_bad", "stream"),
)  # fmt: skip
