"""The folders in which the files of a dataset are searched for."""

from __future__ import annotations

import os
from pathlib import Path

from mentornet.errors import MentorNetError

__all__ = ["cache_folder", "data_folders", "folder_of"]


def cache_folder() -> Path:
    """The folder for downloads: `mentornet/data` in XDG_CACHE_HOME, or else in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mentornet" / "data"


def data_folders() -> list[Path]:
    """The folder that MENTORNET_DATA names, if it is set, then the cache."""
    places = [cache_folder()]
    if named := os.environ.get("MENTORNET_DATA"):
        if not Path(named).is_dir():
            raise MentorNetError(f"MENTORNET_DATA names {named}, which is not a folder")
        places.insert(0, Path(named))
    return places


def folder_of(name: str) -> Path:
    """The folder called `name` in one of `data_folders`, for a dataset that is not downloaded."""
    for place in data_folders():
        if (place / name).is_dir():
            return place / name
    raise MentorNetError(
        f"{name} is not downloaded for you; put it into a folder called {name} inside the folder "
        "that MENTORNET_DATA names, or name its folder in the setting folder"
    )
