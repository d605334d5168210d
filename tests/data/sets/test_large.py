"""ImageNet and WebVision as they are laid out, and what is wrong with a layout."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import LoadOptions, load_data
from mentornet.data.stream.streamed import LooseFiles
from tests.data.layouts import SYNSETS, jpeg, put, write_imagenet, write_webvision


@pytest.mark.parametrize("flat", [False, True], ids=["folders", "kaggle"])
def test_imagenet(tmp_path: Path, flat: bool) -> None:
    home = tmp_path / "ILSVRC/Data/CLS-LOC" if flat else tmp_path
    write_imagenet(home, flat=flat)
    if flat:
        (home / "LOC_val_solution.csv").rename(tmp_path / "LOC_val_solution.csv")
    splits = load_data("imagenet", LoadOptions(folder=tmp_path))
    assert splits.train.classes == SYNSETS
    assert splits.train.shape == (3, 299, 299)
    assert len(splits.train) == 36
    assert splits.train.given_label.bincount().tolist() == [12, 12, 12]
    assert splits.train.paths is not None
    assert splits.train.paths[0] == "train/n01440764/n01440764_0.JPEG"
    assert splits.test.given_label.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert isinstance(splits.test.inputs, LooseFiles)
    for place in splits.test.inputs.places(range(12)):
        assert Path(place.file).is_file()


def test_imagenet_with_a_numbered_list(tmp_path: Path) -> None:
    write_imagenet(tmp_path, flat=True)
    (tmp_path / "LOC_val_solution.csv").unlink()
    put(tmp_path / "val.txt", "ILSVRC2012_val_00000010.JPEG 1\nILSVRC2012_val_00000000.JPEG 0\n")
    (tmp_path / "train" / "n01484850").rename(tmp_path / "later")
    test = load_data("imagenet", LoadOptions(folder=tmp_path, image_size=64)).test
    assert test.paths == ("val/ILSVRC2012_val_00000010.JPEG", "val/ILSVRC2012_val_00000000.JPEG")
    assert test.given_label.tolist() == [1, 0]
    assert test.shape == (3, 64, 64)
    put(tmp_path / "val.txt", "ILSVRC2012_val_00000020.JPEG 2\n")
    with pytest.raises(
        MentorNetError, match=r"val\.txt:1 has class 2, but .* has only 2 class folders"
    ):
        load_data("imagenet", LoadOptions(folder=tmp_path))


def test_webvision(tmp_path: Path) -> None:
    folder = write_webvision(tmp_path / "webvision")
    imagenet = write_imagenet(tmp_path / "imagenet")
    splits = load_data("webvision", LoadOptions(folder=folder, imagenet=imagenet))
    assert splits.train.classes == SYNSETS
    assert len(splits.train) == 48
    assert splits.train.true_label is None
    assert splits.train.paths is not None
    assert splits.train.paths[0] == "google/q0001/0_0.jpg"
    assert splits.test.paths is not None
    assert splits.test.paths[0] == "val_images_256/val000000.jpg"
    assert len(splits.further["imagenet"]) == 12


def test_mini_is_googles_part_of_the_first_50_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mentornet.data.sets.webvision.MINI", 2)
    monkeypatch.setenv("MENTORNET_DATA", str(tmp_path))
    write_webvision(tmp_path / "webvision")
    imagenet = write_imagenet(tmp_path / "imagenet")
    splits = load_data("webvision-mini", LoadOptions(imagenet=imagenet))
    assert splits.train.classes == SYNSETS[:2]
    assert splits.train.given_label.bincount().tolist() == [8, 8]
    assert splits.train.paths is not None
    assert all(path.startswith("google/") for path in splits.train.paths)
    assert splits.test.given_label.max() == splits.further["imagenet"].given_label.max() == 1


def _append(name: str, line: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "info" / name
        path.write_text(path.read_text() + line + "\n")

    return change


BAD_WEBVISION: list[tuple[Callable[[Path], object], str]] = [
    (_append("train_filelist_google.txt", "google/q0001/gone.jpg 0"), "google.txt:25 names google/q0001/gone.jpg"),
    (_append("train_filelist_google.txt", f"{'x' * 5000}.jpg 0"), "google.txt:25 names xxx"),
    (_append("train_filelist_google.txt", "google/q0001/a.jpg"), "google.txt:25 must be a file and a class number"),
    (_append("train_filelist_google.txt", "google/q0001/a.jpg 3"), "google.txt:25: classes are 0–2, got 3"),
    (_append("train_filelist_flickr.txt", "../../etc/passwd 0"), "flickr.txt:25 leads out of the folder"),
    (_append("train_filelist_flickr.txt", "/etc/passwd 0"), "flickr.txt:25 leads out of the folder"),
    (_append("queries_synsets_map.txt", "7"), "map.txt:7 must be a query and a class number"),
    (_append("queries_synsets_map.txt", "7 9"), "map.txt:7: classes are 1–3, got 9"),
    (lambda folder: put(folder / "info/queries_synsets_map.txt", "1 2\n"), "found by a query of class 1, but its label is 0"),
    (lambda folder: (folder / "info/synsets.txt").unlink(), "synsets.txt is missing"),
    (lambda folder: put(folder / "info/synsets.txt", "n1 a\nn1 b\n"), "must name each class once"),
    (lambda folder: put(folder / "info/val_filelist.txt", "\n"), "val_filelist.txt lists no images"),
    (lambda folder: put(folder / "info/synsets.txt", "n1\nn2\nn3\nn4\n"), "lists no training images of class n4"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD_WEBVISION)
def test_bad_webvision(tmp_path: Path, change: Callable[[Path], object], message: str) -> None:
    folder = write_webvision(tmp_path)
    change(folder)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        load_data("webvision", LoadOptions(folder=folder))


def test_bad_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MENTORNET_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for source, folder, message in (
        (
            "imagenet",
            None,
            "imagenet is not downloaded for you; put it into a folder called imagenet inside",
        ),
        ("imagenet", tmp_path / "gone", "is not a folder, so ImageNet is not in it"),
        ("imagenet", tmp_path, "holds neither train nor val"),
        ("webvision", tmp_path, "has no folder info"),
    ):
        with pytest.raises(MentorNetError, match=message):
            load_data(source, LoadOptions(folder=folder))
    write_imagenet(tmp_path / "one", flat=True)
    (tmp_path / "one" / "LOC_val_solution.csv").unlink()
    with pytest.raises(MentorNetError, match=r"none of LOC_val_solution\.csv.* to tell the class"):
        load_data("imagenet", LoadOptions(folder=tmp_path / "one"))
    (tmp_path / "two/train/n1").mkdir(parents=True)
    (tmp_path / "two/train/n2").mkdir()
    with pytest.raises(MentorNetError, match="n1 holds no images"):
        load_data("imagenet", LoadOptions(folder=tmp_path / "two"))


def test_a_folder_of_ones_own_can_be_streamed(tmp_path: Path) -> None:
    for label, name in enumerate(("cat", "dog")):
        for number in range(20):
            put(tmp_path / "photos" / name / f"{number}.jpg", jpeg(label, number))
    rows = ["path,label"] + [f"photos/cat/{n}.jpg,cat" for n in range(20)]
    rows += [f"{tmp_path}/photos/dog/{n}.jpg,dog" for n in range(20)]
    put(tmp_path / "list.csv", "\n".join(rows))
    folder = load_data(f"{tmp_path / 'photos'}", LoadOptions(stream=True, image_size=32))
    listed = load_data(f"{tmp_path / 'list.csv'}", LoadOptions(stream=True, image_size=32))
    for splits in (folder, listed):
        assert splits.train.streamed
        assert (len(splits.train), len(splits.test)) == (36, 4)
        assert isinstance(splits.train.inputs, LooseFiles)
        assert all(Path(place.file).is_file() for place in splits.train.inputs.places(range(36)))
        with pytest.raises(MentorNetError, match="are streamed, but here they must be in memory"):
            _ = splits.train.tensor
    assert torch.equal(folder.train.given_label, listed.train.given_label)
    with pytest.raises(MentorNetError, match="stream has no meaning for digits"):
        load_data("digits", LoadOptions(stream=True))
