"""A folder of images: `train/<class>/…`, and optionally `val/` and `test/` of the same form."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mentornet.data.files.entries import Entry, read_entries
from mentornet.data.options import LoadOptions
from mentornet.data.parts import VALIDATION
from mentornet.data.samples import Splits
from mentornet.errors import MentorNetError
from mentornet.names import check_keys

__all__ = ["images_below", "load_image_folder", "named_as_image"]

SUFFIXES = {
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp",
    ".pbm", ".pgm", ".ppm", ".pnm", ".jp2", ".avif",
}  # fmt: skip
"""Suffixes of files that count as images. Other files are ignored."""

UNREAD = {".heic", ".heif"}
"""Suffixes of photographs that Pillow cannot decode. The user is told of them."""


def load_image_folder(folder: Path, options: LoadOptions | None = None) -> Splits:
    """The images below `folder`. Each folder that holds images is a class.

    The classes are the folders in `train/`, or in the folder itself if it has no `train/`. The
    test images are in `test/`, or else in `val/` (or `validation/`, `valid/`). If there is
    neither, a tenth of each training class is held out, in the same way every time.

    Args:
        folder: the folder that holds `train/`, or the class folders themselves.
        options: the size of the images, whether they are streamed, and so on.

    Returns:
        Splits whose `paths` are relative to `folder`, with `/` as the separator.
    """
    folder = folder.expanduser()
    if not folder.is_dir():
        raise MentorNetError(f"{folder} is not a folder")
    homes = _homes(folder)
    classes = tuple(path.name for path in _class_folders("train", homes))
    if len(classes) < 2:
        raise MentorNetError(
            f"{folder} must hold train/ with a folder of images for each of at least 2 classes, "
            f"or such class folders directly; found {', '.join(classes) or 'none'}"
        )
    entries: list[Entry] = []
    for part in homes:
        entries += _entries(part, homes, classes, folder)
    notes = [note for home in homes.values() for note in _strays(home)] + _unread(folder)
    return read_entries(entries, classes, folder, options or LoadOptions(), notes)


def _homes(folder: Path) -> dict[str, Path]:
    """For each part that exists, the folder that holds its class folders."""
    names = {path.name for path in _folders_in(folder)}
    homes = {"train": folder / "train" if "train" in names else folder}
    validation = [name for name in VALIDATION if name in names]
    if len(validation) > 1:
        found = ", ".join(validation)
        raise MentorNetError(f"{folder} must have one validation folder at most, got {found}")
    if validation:
        homes["validation"] = folder / validation[0]
    if "test" in names:
        homes["test"] = folder / "test"
    return homes


def _class_folders(part: str, homes: dict[str, Path]) -> list[Path]:
    return [path for path in _folders_in(homes[part]) if path not in homes.values()]


def _entries(
    part: str, homes: dict[str, Path], classes: tuple[str, ...], folder: Path
) -> list[Entry]:
    """The images of one part. An empty part or an empty training class is an error."""
    class_folders = _class_folders(part, homes)
    complaint = f"{homes[part]} has a class that the training images lack:"
    check_keys((path.name for path in class_folders), classes, complaint)
    entries = []
    for path in class_folders:
        label, files = classes.index(path.name), images_below(path)
        if part == "train" and not files:
            told = "".join(f": {note}" for note in _unread(path))
            raise MentorNetError(f"the class folder {path} holds no images{told}")
        entries += [Entry(file, file.relative_to(folder).as_posix(), part, label) for file in files]
    if not entries:
        raise MentorNetError(f"{homes[part]} holds no class folders with images")
    return entries


def _strays(home: Path) -> list[str]:
    strays = [path for path in home.iterdir() if named_as_image(path.name) and path.is_file()]
    return [f"{len(strays)} images directly in {home} have no class: left out"] if strays else []


def _unread(folder: Path) -> list[str]:
    """A line on photographs at any depth whose format is not read, if there are any."""
    count = sum(Path(name).suffix.lower() in UNREAD for _, name in _files_below(folder))
    told = f"{count} HEIC photographs are not read; convert them to JPEG to use them"
    return [told] if count else []


def _folders_in(folder: Path) -> list[Path]:
    return sorted(
        (path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")),
        key=lambda path: path.name,
    )


def images_below(folder: Path) -> list[Path]:
    """The images at any depth, sorted. Hidden files and folders are ignored."""
    return sorted(Path(home, name) for home, name in _files_below(folder) if named_as_image(name))


def _files_below(folder: Path) -> Iterator[tuple[str, str]]:
    """The folder and the name of each file at any depth, without those in hidden folders."""
    for home, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from ((home, name) for name in files if not name.startswith("."))


def named_as_image(name: str) -> bool:
    """Whether a file of that name counts as an image."""
    return Path(name).suffix.lower() in SUFFIXES and not name.startswith(".")
