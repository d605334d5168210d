"""Folders of mentors that somebody has changed: one line says what is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from mentornet import Mentor
from mentornet.errors import MentorNetError
from mentornet.mentors import MentorSeries, load_mentor, make_mentor, shipped
from mentornet.mentors.architectures import ARCHITECTURES
from mentornet.mentors.cards import CARD, read_card
from mentornet.mentors.store import CONFIG, INDEX, WEIGHTS


def edited(folder: Path, file: str, change: dict[str, Any]) -> None:
    path = folder / file
    content = {**json.loads(path.read_text()), **change}
    path.write_text(json.dumps({name: value for name, value in content.items() if value != "-"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(shipped()["pd"], tmp_path / "mentor")
    weights = load_file(tmp_path / "mentor" / WEIGHTS)
    save_file(weights, tmp_path / "mentor" / WEIGHTS)  # without the copy of the config
    return tmp_path / "mentor"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": -1}, "has format -1"),
        ({"format": 0}, "has format 0"),
        ({"format": 10**300}, "format a number of many digits"),
        ({"format": "1"}, "has no format number"),
        ({"history": 10**12}, "history must be at most 10000, got 1000000000000"),
        ({"num_classes": 10**12}, "num_classes must be at most 1048576"),
        ({"num_classes": 1 << 20}, "does not hold a 'bilstm' mentor of the sizes"),
        ({"units": 10**12}, "units must be at most 10000"),
        ({"units": 10**4}, "does not hold a 'bilstm' mentor of the sizes"),
        ({"hidden": 10**400}, "hidden must be at most 10000, got a number of many digits"),
        ({"hidden": -1}, "hidden must be a whole number"),
        ({"hidden": [1]}, "hidden must be a whole number"),
        ({"use_label": 1}, "use_label must be true or false"),
        ({"architecture": {}}, "unknown architecture"),
        ({"architecture": "x" * 10**5}, "unknown architecture 'xxx"),
        ({"hidden": "-"}, "there is no 'hidden'"),
        ({"x" * 10**5: 1}, "bilstm has no size 'xxx"),
    ],
)
def test_a_changed_config(change: dict[str, Any], message: str, folder: Path) -> None:
    edited(folder, CONFIG, change)
    with pytest.raises(MentorNetError) as caught:
        load_mentor(folder)
    said = f"{caught.value}"
    assert message in said
    assert f"{folder}" in said
    assert "\n" not in said
    assert len(said) < 1000


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 8, b"\xff\xff\xff\xff\xff\xff\xff\x7f{}", b"\x02\0\0\0\0\0\0\0{}"]
)
def test_changed_weights(content: bytes, folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(content)
    with pytest.raises(MentorNetError, match=WEIGHTS):
        load_mentor(folder)


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.float8_e4m3fn])
def test_weights_of_another_type(dtype: torch.dtype, folder: Path) -> None:
    weights = load_file(folder / WEIGHTS)
    save_file({name: part.to(dtype) for name, part in weights.items()}, folder / WEIGHTS)
    with pytest.raises(MentorNetError, match="must hold finite numbers"):
        load_mentor(folder)


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_every_architecture_is_whole_after_loading(name: str, tmp_path: Path) -> None:
    """Sizes are compared with the weights before memory is taken for them."""
    mentor = make_mentor(name, seed=3)
    mentor.save_pretrained(tmp_path)
    found = Mentor.from_pretrained(tmp_path)
    assert not any(part.is_meta for part in (*found.parameters(), *found.buffers()))
    assert all(
        torch.equal(part, mentor.state_dict()[key]) for key, part in found.state_dict().items()
    )


@pytest.mark.parametrize(
    "mentors",
    [
        3, [3], [{}], {"number": 1}, [{"number": 1, "progress": 21, "folder": 3}],
        *([{"number": 1, "progress": 21, "folder": name}] for name in ("..", "", "a/b", "a\0b")),
        [{"number": 10**12, "progress": 21, "folder": "one"}],
        [{"number": 1, "progress": 10**12, "folder": "one"}],
        [{"number": True, "progress": 21, "folder": "one"}], [],
    ],
)  # fmt: skip
def test_a_changed_series(mentors: Any, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "series" / "one")
    (tmp_path / "series" / INDEX).write_text(json.dumps({"format": 1, "mentors": mentors}))
    with pytest.raises(MentorNetError) as caught:
        MentorSeries.from_pretrained(tmp_path / "series")
    assert INDEX in f"{caught.value}"
    assert "\n" not in f"{caught.value}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mse": "small"}, "mse must be a number"),
        ({"settings": [1]}, "settings must be an object"),
        ({"mse": "-"}, "missing or unknown keys: mse"),
    ],
)
def test_a_changed_card(change: dict[str, Any], message: str, folder: Path) -> None:
    edited(folder, CARD, change)
    with pytest.raises(MentorNetError, match=message):
        read_card(folder)


def test_weights_of_a_terabyte(folder: Path) -> None:
    with (folder / WEIGHTS).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(MentorNetError, match=r"model\.safetensors has 1,099,511,627,776 bytes"):
        load_mentor(folder)
