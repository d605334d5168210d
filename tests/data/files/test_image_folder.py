from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import LoadOptions, Splits, load_image_folder
from mentornet.data.files.decode import read_image
from mentornet.data.holdout import hold_out
from mentornet.randomness import generator
from tests.data.image_files import write_png


def write_part(home: Path, counts: dict[str, int], *shape: int) -> None:
    """`counts` images of each class below `home`, each with pixels of its own."""
    for offset, (name, count) in enumerate(sorted(counts.items())):
        for number in range(count):
            write_png(home / name / f"{number:03}.png", *shape, seed=1000 * offset + number)


def test_three_parts(tmp_path: Path) -> None:
    write_part(tmp_path / "train", {"dog": 3, "cat": 2})
    write_part(tmp_path / "valid", {"cat": 1, "dog": 1})
    write_part(tmp_path / "test", {"dog": 2})
    nested = write_png(tmp_path / "train" / "cat" / "more" / "x.PNG", seed=99)
    splits = load_image_folder(tmp_path)
    assert splits.train.classes == ("cat", "dog")
    assert splits.train.shape == (3, 8, 8)
    assert splits.train.paths == (
        "train/cat/000.png", "train/cat/001.png", "train/cat/more/x.PNG",
        "train/dog/000.png", "train/dog/001.png", "train/dog/002.png",
    )  # fmt: skip
    assert splits.train.given_label.tolist() == [0, 0, 0, 1, 1, 1]
    assert np.array_equal(splits.train.tensor[2].permute(1, 2, 0).numpy(), nested)
    assert splits.train.true_label is None
    assert splits.test.paths == ("test/dog/000.png", "test/dog/001.png")
    assert splits.test.given_label.tolist() == [1, 1]
    assert splits.validation is not None
    assert splits.validation.paths == ("valid/cat/000.png", "valid/dog/000.png")
    assert splits.notes == ()


def test_val_serves_as_test_where_there_is_none(tmp_path: Path) -> None:
    write_part(tmp_path / "train", {"a": 2, "b": 2})
    write_part(tmp_path / "val", {"a": 1, "b": 2})
    splits = load_image_folder(tmp_path)
    assert (len(splits.train), len(splits.test)) == (4, 3)
    assert splits.validation is None
    assert splits.notes == ("no test samples: the 3 validation samples are used for testing",)


def test_a_tenth_of_each_class_is_held_out_in_the_same_way_every_time(tmp_path: Path) -> None:
    write_part(tmp_path, {"a": 30, "b": 4, "c": 1})
    one, two = load_image_folder(tmp_path), load_image_folder(tmp_path)
    assert one.test.paths == two.test.paths
    assert one.train.paths is not None
    assert one.test.paths is not None
    assert not set(one.train.paths) & set(one.test.paths)
    assert len(one.train) + len(one.test) == 35
    assert torch.bincount(one.test.given_label, minlength=3).tolist() == [3, 1, 0]
    (note,) = one.notes
    assert "10 % of the training samples are held out for testing, 4 samples" in note
    assert "as noisy as the training labels" in note


def test_holding_out_is_drawn_and_not_the_first_ones() -> None:
    label = torch.randint(3, (1000,), generator=generator(0))
    stay, held = hold_out(label)
    assert sorted([*stay.tolist(), *held.tolist()]) == list(range(1000))
    for value in range(3):
        count = int((label == value).sum())
        assert int((label[held] == value).sum()) == round(0.1 * count)
    assert held[0] < 100  # spread over the whole
    assert held[-1] > 900
    assert held.tolist() != list(range(len(held)))


def test_size_and_channels(tmp_path: Path) -> None:
    write_part(tmp_path / "train", {"a": 3, "b": 3}, 20, 31)
    write_part(tmp_path / "test", {"a": 1}, 50, 50)
    assert load_image_folder(tmp_path).train.shape == (1, 20, 20)
    assert load_image_folder(tmp_path, LoadOptions(image_size=16)).test.shape == (1, 16, 16)
    write_png(tmp_path / "train" / "a" / "colour.png", 20, 20, 3)
    assert load_image_folder(tmp_path).test.shape == (3, 20, 20)


def test_what_is_no_image_or_hidden_is_left_alone(tmp_path: Path) -> None:
    write_part(tmp_path / "train", {"a": 2, "b": 2, ".cache": 1})
    write_part(tmp_path / "test", {"a": 1})
    (tmp_path / "train" / "a" / "Thumbs.db").write_bytes(b"x")
    write_png(tmp_path / "train" / "a" / "._000.png")
    write_png(tmp_path / "train" / "a" / ".trash" / "1.png")
    write_png(tmp_path / "train" / "stray.png")
    (tmp_path / "train" / "README.md").write_text("hello")
    splits = load_image_folder(tmp_path)
    assert splits.train.classes == ("a", "b")
    assert len(splits.train) == 4
    assert splits.notes == (f"1 images directly in {tmp_path / 'train'} have no class: left out",)


def test_photographs_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    write_part(tmp_path, {"a": 12, "b": 12})
    for name in ("a/1.HEIC", "b/inner/2.heif", ".trash/3.heic", "b/.4.heic"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"ftypheic")
    told = "2 HEIC photographs are not read; convert them to JPEG to use them"
    assert told in load_image_folder(tmp_path).notes
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "5.heic").write_bytes(b"ftypheic")
    with pytest.raises(MentorNetError, match="c holds no images: 1 HEIC photographs are not read"):
        load_image_folder(tmp_path)
    with pytest.raises(
        MentorNetError, match=r"5\.heic cannot be read .*: HEIC is not supported; co"
    ):
        read_image(tmp_path / "c" / "5.heic", size=8, channels=3)


def test_bad_images_stop_or_are_skipped_and_told(tmp_path: Path) -> None:
    write_part(tmp_path / "train", {"a": 15, "b": 2})
    write_part(tmp_path / "test", {"a": 2})
    bad = tmp_path / "train" / "a" / "003.png"
    bad.write_bytes(b"")
    with pytest.raises(MentorNetError, match=re.escape(f"{bad} cannot be read") + ".*set skip_bad"):
        load_image_folder(tmp_path)
    splits = load_image_folder(tmp_path, LoadOptions(skip_bad=True))
    assert splits.notes == (f"left out: {bad} cannot be read as an image: it is empty",)
    assert splits.train.paths is not None
    assert len(splits.train) == 16
    assert "train/a/003.png" not in splits.train.paths
    assert splits.train.given_label.tolist() == [0] * 14 + [1] * 2
    for number in range(12):
        (tmp_path / "train" / "a" / f"{number:03}.png").write_bytes(b"")
    notes = load_image_folder(tmp_path, LoadOptions(skip_bad=True)).notes
    assert len(notes) == 12
    assert all(f"{number:03}.png" in note for number, note in enumerate(notes))
    for number in range(2):
        (tmp_path / "train" / "b" / f"{number:03}.png").write_bytes(b"")
    with pytest.raises(MentorNetError, match="none of the training images of class 'b' can be"):
        load_image_folder(tmp_path, LoadOptions(skip_bad=True))
    for number in range(2):
        (tmp_path / "test" / "a" / f"{number:03}.png").write_bytes(b"")
    with pytest.raises(MentorNetError, match="none of the test images can be read"):
        load_image_folder(tmp_path, LoadOptions(skip_bad=True))


def test_progress_counts_all_parts_together(tmp_path: Path) -> None:
    write_part(tmp_path / "train", {"a": 3, "b": 3})
    write_part(tmp_path / "test", {"a": 2})
    calls: list[tuple[str, int, int]] = []
    load_image_folder(tmp_path, LoadOptions(on_progress=lambda *call: calls.append(call)))
    assert calls == [("reading images", done, 8) for done in range(1, 9)]


Make = Callable[[Path], object]


def folders(*names: str) -> Make:
    def make(home: Path) -> None:
        for name in names:
            (home / name).mkdir(parents=True)

    return make


def classes(below: str, *names: str, count: int = 2) -> Make:
    return lambda home: write_part(home / below, dict.fromkeys(names, count))


def both(one: Make, other: Make) -> Make:
    return lambda home: (one(home), other(home))


MISTAKES: dict[str, tuple[Make, str]] = {
    "nothing": (folders(), "must hold train/ with a folder of images for each of at least 2"),
    "one class": (classes("train", "a"), "or such class folders directly; found a"),
    "other name": (classes("Train", "a", "b"), "found Train"),
    "empty class": (folders("train/a", "train/b"), "train/a holds no images"),
    "unknown class": (
        both(classes("train", "cat", "dog"), classes("test", "dgo")),
        "test has a class that the training images lack: 'dgo'; did you mean 'dog'?",
    ),
    "empty test": (
        both(classes("train", "cat", "dog"), folders("test/cat")),
        "test holds no class folders with images",
    ),
    "two validations": (
        folders("train/a", "train/b", "val", "valid"),
        "one validation folder at most, got val, valid",
    ),
    "one image each": (
        classes("train", "a", "b", count=1),
        "too few training samples to hold any out",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str, tmp_path: Path) -> None:
    make, message = MISTAKES[name]
    make(tmp_path)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        load_image_folder(tmp_path)


def test_a_size_or_a_folder_that_cannot_be(tmp_path: Path) -> None:
    write_part(tmp_path, {"a": 2, "b": 2})
    with pytest.raises(MentorNetError, match="image_size must be at least 8 pixels, got 4"):
        load_image_folder(tmp_path, LoadOptions(image_size=4))
    with pytest.raises(MentorNetError, match="none is not a folder"):
        load_image_folder(tmp_path / "none")


def test_classes_beside_test_are_the_training_part(tmp_path: Path) -> None:
    write_part(tmp_path, {"a": 2, "b": 2})
    write_part(tmp_path / "test", {"b": 1})
    splits: Splits = load_image_folder(tmp_path)
    assert splits.train.classes == ("a", "b")
    assert splits.test.paths == ("test/b/000.png",)
