"""The file in which a model of Hugging Face transformers says how its images are prepared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError
from mentornet.files import read_json
from mentornet.students.preprocessing import Preprocessing

__all__ = ["PROCESSOR", "read_preprocessing"]

PROCESSOR = "preprocessor_config.json"


def read_preprocessing(folder: Path) -> Preprocessing:
    """Return the size, the mean and the deviation of a model's own processor."""
    file = folder / PROCESSOR
    content = read_json(file)
    if not isinstance(content, dict):
        raise MentorNetError(f"{file} must hold an object")
    cropped = bool(content.get("do_center_crop")) and "crop_size" in content
    side = _side(content.get("crop_size" if cropped else "size"), file)
    white = 1 / _scale(content, file)  # the value of white before it is scaled to 1
    if not content.get("do_normalize", True):
        return Preprocessing(side, (0.0, 0.0, 0.0), (white, white, white))
    mean, deviation = (_colours(content, name, file) for name in ("image_mean", "image_std"))
    return Preprocessing(
        side,
        (white * mean[0], white * mean[1], white * mean[2]),
        (white * deviation[0], white * deviation[1], white * deviation[2]),
    )


def _scale(content: dict[str, Any], file: Path) -> float:
    """Return the factor of pixels, which is 1/255 in most models."""
    found = content.get("rescale_factor", 1 / 255) if content.get("do_rescale", True) else 1.0
    if not isinstance(found, int | float) or not 0 < found < float("inf"):
        raise MentorNetError(f"{file}: rescale_factor must be a number > 0, got {found!r:.60}")
    return float(found)


def _side(size: Any, file: Path) -> int:
    """Return the side of the square that images are resized to."""
    found = size
    if isinstance(size, dict):
        found = next((size[key] for key in ("height", "shortest_edge") if key in size), None)
    if type(found) is not int or not 1 <= found <= 10_000:
        raise MentorNetError(f"{file}: size must be a whole number of pixels, got {size!r:.60}")
    return found


def _colours(content: dict[str, Any], name: str, file: Path) -> list[float]:
    """Return the values of red, green and blue."""
    values = content.get(name)
    numbers = [value for value in values or () if isinstance(value, int | float)]
    if not isinstance(values, list) or len(values) != 3 or len(numbers) != 3:
        raise MentorNetError(f"{file}: {name} must be three numbers, got {values!r:.60}")
    return [float(value) for value in numbers]
