"""Where the files of a dataset are looked for."""

from __future__ import annotations

import os
from pathlib import Path

from mentornet.errors import MentorNetError

__all__ = ["cache_folder", "data_folders"]


def cache_folder() -> Path:
    """Where downloads go: `mentornet/data` in XDG_CACHE_HOME, or else in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mentornet" / "data"


def data_folders() -> list[Path]:
    """The folder that MENTORNET_DATA names, if it does, then the cache."""
    places = [cache_folder()]
    if named := os.environ.get("MENTORNET_DATA"):
        if not Path(named).is_dir():
            raise MentorNetError(f"MENTORNET_DATA names {named}, which is not a folder")
        places.insert(0, Path(named))
    return places
