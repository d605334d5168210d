from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import DATASETS, LoadOptions, Splits, load_cifar10, load_data, load_digits
from mentornet.data.sets import cifar
from mentornet.data.sets.places import cache_folder
from tests.data.files.test_image_folder import write_part
from tests.data.files.test_manifest import write_csv
from tests.data.sets.test_datasets import write_cifar10, write_cifar100, write_fashion


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no data folder, and no way to the internet."""
    monkeypatch.delenv("MENTORNET_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    return tmp_path / "xdg" / "mentornet" / "data"


def test_datasets_by_name(tmp_path: Path) -> None:
    assert torch.equal(load_data("digits").train.tensor, load_digits().train.tensor)
    write_fashion(tmp_path)
    assert len(load_data("fashion-mnist", LoadOptions(folder=tmp_path)).test) == 3


def test_folders_and_manifests_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_part(tmp_path / "digits", {"a": 3, "b": 3})
    (tmp_path / "digits" / "a" / "bad.png").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    calls: list[tuple[str, int, int]] = []
    splits = load_data(
        "./digits",
        LoadOptions(image_size=16, skip_bad=True, on_progress=lambda *call: calls.append(call)),
    )
    assert splits.train.shape == (3, 16, 16)
    assert calls[-1] == ("reading images", 7, 7)
    assert load_data("digits").train.shape == (1, 8, 8)  # the name goes first
    rows = [(f"digits/{name}/00{row}.png", name) for name in "ab" for row in range(3)]
    manifest = write_csv(tmp_path / "m.csv", ["path", "label"], rows)
    assert load_data(str(manifest)).train.classes == ("a", "b")


def test_cifar_is_looked_for_in_the_folder_then_the_variable_then_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count, home in ((2, cache), (3, tmp_path / "env"), (4, tmp_path / "given")):
        write_cifar10(home, per_batch=count)
    assert len(load_data("cifar10").test) == 2
    monkeypatch.setenv("MENTORNET_DATA", str(tmp_path / "env"))
    assert len(load_data("cifar10").test) == 3
    assert len(load_data("cifar10", LoadOptions(folder=tmp_path / "given")).test) == 4
    write_cifar100(cache)
    assert len(load_data("cifar100").test) == 100  # the variable's folder has none


def test_cifar_is_downloaded_into_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Path, str | None]] = []

    def fetch(name: str, folder: Path, *, mirror: str | None, on_progress: object) -> Path:
        asked.append((name, folder, mirror))
        write_cifar10(folder)
        return folder

    monkeypatch.setattr(cifar, "fetch_cifar", fetch)
    splits = load_data("cifar10", LoadOptions(mirror="usb"))
    assert torch.equal(splits.train.tensor, load_cifar10(cache).train.tensor)
    load_data("cifar10", LoadOptions(mirror="usb"))
    assert asked == [("cifar10", cache, "usb")]


def test_without_internet_the_error_says_what_to_do() -> None:
    with pytest.raises(
        MentorNetError, match=r"toronto\.edu.*cannot be reached.*setting folder.*setting mirror"
    ):
        load_data("cifar10")


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == Path.home() / ".cache" / "mentornet" / "data"


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    write_part(tmp_path / "own", {"a": 2, "b": 2})
    own = str(tmp_path / "own")
    cases: list[tuple[str, dict[str, object], str]] = [
        ("cifar-10", {}, "unknown data 'cifar-10'; did you mean 'cifar10'? Known: cifar10"),
        ("no/such/place", {}, "A path of your own must lead to a folder of images or shards"),
        (str(text), {}, "a manifest must be a .csv or .parquet file, got notes.txt"),
        ("digits", {"image_size": 16}, "the setting image_size has no meaning for digits"),
        ("digits", {"skip_bad": True}, "the setting skip_bad has no meaning for digits"),
        ("digits", {"folder": tmp_path}, "the setting folder has no meaning for digits"),
        ("fashion-mnist", {"mirror": "x"}, "the setting mirror has no meaning for fashion-mnist"),
        (own, {"mirror": "x"}, "the setting mirror has no meaning for"),
        ("cifar10", {"folder": tmp_path / "none"}, "none is not a folder, so cifar10 is not in it"),
        ("cifar10", {"folder": tmp_path}, "holds neither cifar-10-batches-py nor parquet"),
        ("cifar10", {"folder": tmp_path, "mirror": "x"}, "give the setting folder or mirror"),
    ]  # fmt: skip
    for source, options, message in cases:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            load_data(source, LoadOptions(**options))  # type: ignore[arg-type]
    monkeypatch.setenv("MENTORNET_DATA", str(tmp_path / "none"))
    with pytest.raises(MentorNetError, match=r"MENTORNET_DATA names .*none, which is not a folder"):
        load_data("cifar10")


def _given(splits: Splits, options: LoadOptions) -> Splits:
    return splits


def test_one_class_is_nothing_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = load_digits()
    zeros = digits.train.rows(digits.train.given_label == 0)
    for train, test, message in [
        (zeros, digits.test, "all training samples of digits have the same class"),
        (digits.train, digits.test.rows(slice(0)), "digits has no test samples"),
    ]:
        splits = Splits(train, test)
        changed = replace(DATASETS["digits"], load=partial(_given, splits))
        monkeypatch.setitem(DATASETS, "digits", changed)
        with pytest.raises(MentorNetError, match=message):
            load_data("digits")
