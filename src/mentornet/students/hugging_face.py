"""Image classifiers of Hugging Face transformers, as students: `hf:FOLDER` or `hf:NAME`.

Only plain files are read (JSON and safetensors). No code of a model's own is run and nothing is
unpickled. A run keeps the files that describe the network, so it needs the folder no more.
"""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from mentornet.errors import MentorNetError, cut, first_line
from mentornet.files import read_json
from mentornet.students.preprocessing import Preprocessing, check_channels

__all__ = ["PREFIX", "HuggingFaceImages", "keep_description"]

PREFIX = "hf:"
_CONFIG, _PROCESSOR = "config.json", "preprocessor_config.json"
_DESCRIPTION = (_CONFIG, _PROCESSOR)
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


class HuggingFaceImages:
    """A factory of students: the network of a folder, for images.

    Attributes:
        preprocessing: how the network's own processor prepares images.

    Args:
        folder: the folder of a model, or its name on the Hugging Face hub.
        weights: whether the weights are read, which the folder must then have.
    """

    def __init__(self, folder: str | Path, *, weights: bool = True) -> None:
        self.folder, self.weights = model_folder(f"{folder}", weights=weights), weights
        self.preprocessing = _preprocessing(self.folder)

    def __call__(self, channels: int = 3, classes: int = 2) -> nn.Module:
        """Return the network; its last layer has K outputs and is not trained."""
        from transformers import AutoConfig, AutoModelForImageClassification

        check_channels(channels)
        with _quiet(), _explained(self.folder):
            config = AutoConfig.from_pretrained(
                self.folder, num_labels=classes, trust_remote_code=False
            )
            if not self.weights:
                return _Images(
                    AutoModelForImageClassification.from_config(config, trust_remote_code=False)
                )
            network = AutoModelForImageClassification.from_pretrained(
                self.folder,
                config=config,
                ignore_mismatched_sizes=True,
                use_safetensors=True,
                trust_remote_code=False,
            )
        return _Images(network)


class _Images(nn.Module):
    """A classifier of transformers, which returns more than logits."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.network(pixel_values=images).logits
        return logits


def model_folder(source: str, *, weights: bool = True) -> Path:
    """Return the folder of a model; a name on the hub is downloaded first.

    Args:
        source: a folder, or a name such as `google/vit-base-patch16-224`.
        weights: whether the folder must have the weights of the model.
    """
    folder = Path(source).expanduser()
    if not folder.is_dir():
        folder = _downloaded(source)
    needed = [_CONFIG] if not weights else [_CONFIG, _WEIGHTS[0]]
    for name in needed:
        there = (folder / name).is_file() or (name == _WEIGHTS[0] and _sharded(folder))
        if not there:
            raise MentorNetError(
                f"{cut(f'{folder}', 200)} has no {name}; name the folder of a model that was saved "
                "by save_pretrained of transformers"
            )
    return folder


def keep_description(source: Path, folder: Path) -> None:
    """Copy the files that describe a network into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _DESCRIPTION:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)


def _sharded(folder: Path) -> bool:
    return (folder / _WEIGHTS[1]).is_file()


def _downloaded(name: str) -> Path:
    """Return the folder of a model from the hub, which is downloaded if it is not there yet."""
    from huggingface_hub import snapshot_download

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        with _quiet():
            return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise MentorNetError(
            f"student 'hf:{cut(name, 100)}' is no folder, and no model of that name can be "
            f"downloaded ({first_line(error)}); name the folder of a model, as in hf:models/vit"
        ) from error


def _preprocessing(folder: Path) -> Preprocessing:
    """Read the size, the mean and the deviation of a model's own processor."""
    file = folder / _PROCESSOR
    if not file.is_file():
        raise MentorNetError(
            f"{cut(f'{folder}', 200)} has no {_PROCESSOR}, which says how images are prepared; add "
            "it with save_pretrained of the model's image processor"
        )
    content = read_json(file)
    cropped = bool(content.get("do_center_crop")) and "crop_size" in content
    size = _side(content.get("crop_size" if cropped else "size"), file)
    scale = float(content.get("rescale_factor") or 1 / 255) if content.get("do_rescale", 1) else 1.0
    if content.get("do_normalize", True):
        mean, deviation = (_triple(content, name, file) for name in ("image_mean", "image_std"))
    else:
        mean, deviation = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    red, green, blue = (value / scale for value in mean)
    return Preprocessing(
        size, (red, green, blue), (deviation[0] / scale, deviation[1] / scale, deviation[2] / scale)
    )


def _side(size: Any, file: Path) -> int:
    """Return the side of the square that images are resized to."""
    if isinstance(size, dict):
        size = next((size[key] for key in ("height", "shortest_edge") if key in size), None)
    if type(size) is not int or not 1 <= size <= 10_000:
        raise MentorNetError(f"{file}: size must be a whole number of pixels, got {size!r:.60}")
    return size


def _triple(content: dict[str, Any], name: str, file: Path) -> tuple[float, float, float]:
    values = content.get(name)
    if not isinstance(values, list) or len(values) != 3:
        raise MentorNetError(f"{file}: {name} must be three numbers, got {values!r:.60}")
    if not all(isinstance(value, int | float) for value in values):
        raise MentorNetError(f"{file}: {name} must be three numbers, got {values!r:.60}")
    return float(values[0]), float(values[1]), float(values[2])


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the progress and the hints of transformers, except errors."""
    from transformers.utils import logging as theirs

    level, shown = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        theirs.set_verbosity(level)
        if shown:
            theirs.enable_progress_bar()


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn an error of transformers into one line."""
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, json.JSONDecodeError) as error:
        raise MentorNetError(
            f"{cut(f'{folder}', 200)} cannot be loaded as an image classifier: {first_line(error)}"
        ) from error
