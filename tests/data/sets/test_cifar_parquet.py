from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import Samples, Splits, load_cifar10, load_cifar100
from mentornet.data.sets.cifar_classes import CLASSES
from mentornet.data.sets.cifar_parquet import official_order
from mentornet.randomness import generator
from tests.data.image_files import png, random_pixels, write_parquet
from tests.data.sets.test_datasets import write_cifar10, write_cifar100


def write_as_the_hub(
    home: Path,
    splits: Splits,
    names: tuple[str, ...] | None,
    *,
    fine: str = "label",
    image: str = "img",
    shards: int = 1,
) -> None:
    """The images as PNG inside parquet files, named and described as on the hub."""
    features = {image: {"_type": "Image"}, fine: {"names": names, "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})} if names else None
    for part, images in (("train", splits.train), ("test", splits.test)):
        for shard, places in enumerate(torch.arange(len(images)).chunk(shards)):
            rows = images.rows(places)
            columns: dict[str, list[object]] = {
                image: [
                    {"bytes": png(pixels.permute(1, 2, 0).numpy()), "path": None}
                    for pixels in rows.tensor
                ],
                fine: rows.given_label.tolist(),
            }
            if images.groups is not None:
                columns["coarse_label"] = images.groups[rows.given_label].tolist()
            write_parquet(home / f"{part}-{shard:05}-of-{shards:05}.parquet", columns, metadata)


def same(one: Samples, other: Samples) -> bool:
    groups = (one.groups is None) == (other.groups is None) and (
        one.groups is None or other.groups is None or torch.equal(one.groups, other.groups)
    )
    return (
        groups
        and torch.equal(one.tensor, other.tensor)
        and torch.equal(one.given_label, other.given_label)
    )


@pytest.mark.parametrize("below", [".", "plain_text", "cifar10/plain_text"])
@pytest.mark.parametrize("names", [CLASSES["cifar10"], None])
def test_cifar10_is_that_of_the_python_layout(
    below: str, names: tuple[str, ...] | None, tmp_path: Path
) -> None:
    write_cifar10(tmp_path / "python")
    expected = load_cifar10(tmp_path / "python")
    write_as_the_hub(tmp_path / "hub" / below, expected, names, shards=2)
    calls: list[int] = []
    read = load_cifar10(tmp_path / "hub", on_progress=lambda _, done, total: calls.append(done))
    assert same(read.train, expected.train)
    assert same(read.test, expected.test)
    assert read.train.classes == CLASSES["cifar10"]
    assert calls[-1] == len(expected.test)


def test_cifar100_has_its_groups_and_a_crab(tmp_path: Path) -> None:
    write_cifar100(tmp_path / "python")
    expected = load_cifar100(tmp_path / "python")
    as_on_the_hub = tuple("cra" if name == "crab" else name for name in CLASSES["cifar100"])
    write_as_the_hub(tmp_path / "hub", expected, as_on_the_hub, fine="fine_label", image="image")
    read = load_cifar100(tmp_path / "hub")
    assert same(read.train, expected.train)
    assert same(read.test, expected.test)
    assert read.train.groups is not None
    assert read.train.classes[26] == "crab"


def test_the_right_one_of_several(tmp_path: Path) -> None:
    write_cifar10(tmp_path / "python")
    write_cifar100(tmp_path / "python")
    ten, hundred = load_cifar10(tmp_path / "python"), load_cifar100(tmp_path / "python")
    hub = tmp_path / "hub"
    write_as_the_hub(hub / "ten", ten, CLASSES["cifar10"])
    write_as_the_hub(hub / "hundred", hundred, CLASSES["cifar100"], fine="fine_label")
    write_as_the_hub(hub / "mnist", ten, tuple("0123456789"), image="image")
    assert same(load_cifar10(hub).test, ten.test)
    assert same(load_cifar100(hub).test, hundred.test)
    write_as_the_hub(hub / "again", ten, None)
    with pytest.raises(MentorNetError, match=r"may be cifar10 are in .*again and .*ten; name one"):
        load_cifar10(hub)
    assert same(load_cifar10(hub / "again").test, ten.test)


def test_the_official_order_is_restored_only_for_the_official_labels() -> None:
    label = torch.randint(10, (50_000,), generator=generator(0))
    assert official_order(label).tolist() == list(range(50_000))
    assert official_order(label[:7]).tolist() == list(range(7))


def tiny(**changes: list[Any]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "img": [{"bytes": png(random_pixels(32, 32, 3, seed=row)), "path": None} for row in (0, 1)],
        "label": [0, 1],
    }
    return columns | changes


SMALL = [{"bytes": png(np.zeros((28, 28), np.uint8)), "path": None}] * 2

MISTAKES: dict[str, tuple[dict[str, list[Any]], str]] = {
    "other images": (tiny(img=SMALL), "must hold colour images of 32 × 32"),
    "missing label": (tiny(label=[0, None]), "label must be a class number in every row"),
    "text": (tiny(label=["0", "1"]), "label must be a class number in every row"),
    "beyond": (tiny(label=[0, 10]), "given labels must be in 0–9, got 0 to 10"),
    "damaged": (
        tiny(img=[tiny()["img"][0], {"bytes": b"", "path": None}]),
        "train-0.parquet, row 2 cannot be read as an image: it is empty",
    ),
    "no image": (
        tiny(img=[tiny()["img"][0], {"bytes": None, "path": "a.png"}]),
        "train-0.parquet, row 2 cannot be read as an image: it is empty",
    ),
    "no column": ({"label": [0, 1]}, "batches.meta is missing"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str, tmp_path: Path) -> None:
    columns, message = MISTAKES[name]
    for part in ("train", "test"):
        write_parquet(tmp_path / f"{part}-0.parquet", columns)
    with pytest.raises(MentorNetError, match=re.escape(message)) as caught:
        load_cifar10(tmp_path)
    assert "--skip-bad" not in str(caught.value)


def test_a_file_that_is_cut_short(tmp_path: Path) -> None:
    for part in ("train", "test"):
        write_parquet(tmp_path / f"{part}-0.parquet", tiny())
    path = tmp_path / "train-0.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(MentorNetError, match=r"train-0.parquet cannot be read as a parquet file"):
        load_cifar10(tmp_path)


@pytest.mark.parametrize("column", ["img", "label"])
def test_a_column_that_only_some_files_have(column: str, tmp_path: Path) -> None:
    write_cifar10(tmp_path / "python")
    write_as_the_hub(tmp_path / "hub", load_cifar10(tmp_path / "python"), None)
    path = tmp_path / "hub" / "test-00000-of-00001.parquet"
    columns: dict[str, list[Any]] = {"img": [b""], "label": [0], "other": [0]}
    del columns[column]
    write_parquet(path, columns)
    with pytest.raises(MentorNetError, match=f"{path.name} has no column {column}"):
        load_cifar10(tmp_path / "hub")
