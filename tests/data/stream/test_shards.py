"""Datasets packed into shards, and read from them again."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import LoadOptions, Samples, Splits, load_data, load_digits
from mentornet.data.stream.packing import pack
from mentornet.data.stream.shards import load_shards
from mentornet.data.stream.streamed import Streamed, read_place
from tests.data.layouts import jpeg, put, write_imagenet, write_webvision


def contents(images: Samples) -> list[bytes]:
    assert isinstance(images.inputs, Streamed)
    return [read_place(place).content for place in images.inputs.places(range(len(images)))]


@pytest.fixture
def imagenet(tmp_path: Path) -> Splits:
    return load_data("imagenet", LoadOptions(folder=write_imagenet(tmp_path / "imagenet")))


def test_files_come_back_byte_for_byte(tmp_path: Path, imagenet: Splits) -> None:
    done = pack(imagenet, tmp_path / "shards", source="imagenet", per_shard=10)
    assert (done.shards, done.samples, done.skipped) == (6, 48, ())
    again = load_data(f"{tmp_path / 'shards'}", LoadOptions(image_size=64))
    for part in ("train", "test"):
        one, other = getattr(imagenet, part), getattr(again, part)
        assert contents(one) == contents(other)
        assert torch.equal(one.given_label, other.given_label)
        assert (one.paths, one.classes) == (other.paths, other.classes)
    assert again.train.shape == (3, 64, 64)
    order = torch.tensor([35, 0, 11])
    assert contents(again.train.rows(order)) == contents(imagenet.train.rows(order))


def test_further_parts_and_true_labels(tmp_path: Path) -> None:
    folder, home = write_webvision(tmp_path / "web"), write_imagenet(tmp_path / "imagenet")
    splits = load_data("webvision", LoadOptions(folder=folder, imagenet=home))
    noisy = splits.train.relabelled((splits.train.given_label + 1) % 3)
    pack(Splits(noisy, splits.test, further=splits.further), tmp_path / "out", source="webvision")
    again = load_shards(tmp_path / "out")
    assert again.train.true_label is not None
    assert torch.equal(again.train.true_label, splits.train.given_label)
    assert torch.equal(again.train.given_label, noisy.given_label)
    assert contents(again.further["imagenet"]) == contents(splits.further["imagenet"])


def test_images_in_memory_stay_so(tmp_path: Path) -> None:
    digits = load_digits()
    pack(digits, tmp_path / "digits", source="digits", per_shard=700)
    again = load_data(f"{tmp_path / 'digits'}")
    assert torch.equal(again.train.tensor, digits.train.tensor)
    assert torch.equal(again.test.tensor, digits.test.tensor)
    assert again.train.paths is None
    assert again.train.fingerprint() == digits.train.fingerprint()
    with pytest.raises(MentorNetError, match="image_size has no meaning"):
        load_data(f"{tmp_path / 'digits'}", LoadOptions(image_size=16))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file left open
def test_others_read_what_we_pack(tmp_path: Path, imagenet: Splits) -> None:
    import webdataset

    pack(imagenet, tmp_path / "shards", source="imagenet", per_shard=20)
    url = f"{tmp_path}/shards/train-{{000000..000001}}.tar"
    samples = list(webdataset.WebDataset(url, shardshuffle=False))
    assert [sample["__key__"] for sample in samples] == [f"{n:09d}" for n in range(36)]
    assert [int(sample["cls"]) for sample in samples] == imagenet.train.given_label.tolist()
    assert [sample["jpeg"] for sample in samples] == contents(imagenet.train)


def test_we_read_what_others_pack(tmp_path: Path) -> None:
    import webdataset

    with webdataset.ShardWriter(f"{tmp_path}/train-%04d.tar", maxcount=5, verbose=0) as sink:
        for number in range(12):
            sink.write(
                {"__key__": f"s{number}", "jpg": jpeg(number % 3, number), "cls": number % 3}
            )
    splits = load_data(f"{tmp_path}", LoadOptions(image_size=32))
    assert (len(splits.train), len(splits.test)) == (9, 3)
    assert splits.train.classes == ("0", "1", "2")
    assert splits.notes == (
        "no test or validation samples: 10 % of the training samples are held out for testing, "
        "3 samples; their labels are as noisy as the training labels",
    )
    assert splits.train.paths is not None
    numbers = [int(path[1:]) for path in splits.train.paths]
    assert splits.train.given_label.tolist() == [number % 3 for number in numbers]
    assert contents(splits.train) == [jpeg(number % 3, number) for number in numbers]


def test_packing_goes_on_where_it_was(
    tmp_path: Path, imagenet: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole"
    pack(imagenet, whole, source="imagenet", per_shard=10)
    part = tmp_path / "part"
    calls = 0

    def stop(what: str, done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(imagenet, part, source="imagenet", per_shard=10, on_progress=stop)
    with pytest.raises(MentorNetError, match="was not packed to the end"):
        load_shards(part)
    put(part / ".train-000003.tar.abc", b"half")
    before = {path.name: path.stat().st_mtime_ns for path in part.glob("*.tar")}
    pack(imagenet, part, source="imagenet", per_shard=10)
    assert len(before) == 3
    assert (
        before.items()
        <= {path.name: path.stat().st_mtime_ns for path in part.glob("*.tar")}.items()
    )
    assert sorted(p.name for p in part.iterdir()) == sorted(p.name for p in whole.iterdir())
    for path in whole.iterdir():
        assert path.read_bytes() == (part / path.name).read_bytes()


def test_bad_images_are_named_or_left_out(tmp_path: Path, imagenet: Splits) -> None:
    put(tmp_path / "imagenet/train/n01443537/n01443537_3.JPEG", jpeg(0, 0)[:300])
    with pytest.raises(
        MentorNetError, match=r"n01443537_3.JPEG cannot .* set skip_bad to leave it out"
    ):
        pack(imagenet, tmp_path / "shards", source="imagenet")
    done = pack(imagenet, tmp_path / "shards", source="imagenet", skip_bad=True)
    assert done.skipped == ("train/n01443537/n01443537_3.JPEG",)
    again = load_shards(tmp_path / "shards")
    assert len(again.train) == 35
    assert again.train.given_label.tolist() == [0] * 12 + [1] * 11 + [2] * 12


def _cut(folder: Path) -> None:
    path = folder / "train-000001.tar"
    path.write_bytes(path.read_bytes()[:3000])


BAD_SHARDS: list[tuple[Callable[[Path], object], str]] = [
    (_cut, "train-000001.tar cannot be read as an image: it is cut short"),
    (lambda folder: (folder / "train-000000.tar").unlink(), "train-000000.tar is missing"),
    (lambda folder: put(folder / "index.parquet", b"x"), "index.parquet cannot be read"),
    (lambda folder: (folder / "index.parquet").unlink(), "was not packed to the end"),
    (
        lambda folder: put(folder / "shards.json", '{"format": 9}'),
        "has format 9, but this version reads format 1",
    ),
    (lambda folder: put(folder / "shards.json", "{"), "is not JSON"),
    (lambda folder: put(folder / "shards.json", '{"format": 1}'), "was not packed to the end"),
]


@pytest.mark.parametrize(("change", "message"), BAD_SHARDS)
def test_damaged_shards(
    tmp_path: Path, imagenet: Splits, change: Callable[[Path], object], message: str
) -> None:
    pack(imagenet, tmp_path / "shards", source="imagenet", per_shard=18)
    change(tmp_path / "shards")
    with pytest.raises(MentorNetError, match=re.escape(message)):
        load_shards(tmp_path / "shards")


def write_tar(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_what_is_held_out_of_the_tars_of_others_has_its_true_labels(tmp_path: Path) -> None:
    members: dict[str, bytes] = {}
    for number in range(6):
        about = f'{{"given_label": {number % 2}, "true_label": 1}}'
        members |= {f"s{number}.jpg": jpeg(0, number), f"s{number}.json": about.encode()}
    write_tar(tmp_path / "train-0.tar", members)
    splits = load_data(f"{tmp_path}", LoadOptions(image_size=32))
    assert splits.test.given_label.tolist() == [1, 1]
    assert sorted(splits.train.given_label.tolist()) == [0, 0, 1, 1]


def test_images_of_others_to_judge_by_have_their_true_labels(tmp_path: Path) -> None:
    for part in ("train", "test"):
        members: dict[str, bytes] = {}
        for number in range(4):
            about = f'{{"given_label": {number % 2}, "true_label": {1 - number % 2}}}'
            members |= {f"s{number}.jpg": jpeg(0, number), f"s{number}.json": about.encode()}
        write_tar(tmp_path / f"{part}-0.tar", members)
    splits = load_data(f"{tmp_path}", LoadOptions(image_size=32))
    assert splits.train.given_label.tolist() == [0, 1, 0, 1]
    assert splits.test.given_label.tolist() == [1, 0, 1, 0]


BAD_TARS: list[tuple[dict[str, bytes], str]] = [
    ({"../../etc/x.jpg": b"1", "../../etc/x.cls": b"1"}, "leads out of its folder"),
    ({"/etc/x.jpg": b"1"}, "leads out of its folder"),
    ({"a.jpg": b"1"}, "a has no label"),
    ({"a.jpg": b"1", "a.json": b"[1]"}, "a.json must hold a JSON object"),
    ({"a.jpg": b"1", "a.json": b"{"}, "a.json is not JSON"),
    ({"a.jpg": b"1", "a.cls": b"\xff"}, "a.cls cannot be read"),
    ({"a.jpg": b"1", "a.cls": b"9" * 12}, "has class 999999999999; is it a number?"),
    ({"a.jpg": b"1", "a.cls": b"9" * 5_000}, "must have a name or a number as its label"),
    ({"a.jpg": b"1", "a.json": b"[" * 100_000}, "a.json is not JSON"),
    ({"a.jpg": b"1", "a.json": b'{"label": ' + b"9" * 5_000 + b"}"}, "a.json is not JSON"),
    ({"a.jpg": b"1", "a.json": b'{"label": [1]}'}, "a must have a name or a number as its label"),
    (
        {"a.jpg": jpeg(0, 0), "a.cls": b"0", "b.jpg": jpeg(1, 0), "b.cls": b"1"},
        "too few training samples to hold any out",
    ),
]


@pytest.mark.parametrize(("members", "message"), BAD_TARS)
def test_tars_of_others(tmp_path: Path, members: dict[str, bytes], message: str) -> None:
    write_tar(tmp_path / "train-0.tar", members)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        load_data(f"{tmp_path}")


def test_a_tar_of_others_that_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "train-0.tar"
    write_tar(path, {"a.jpg": jpeg(0, 0), "a.cls": b"0"})
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(
        MentorNetError, match=r"train-0\.tar (is cut short|cannot be read as a complete tar file)"
    ):
        load_data(f"{tmp_path}")


def test_a_folder_of_another_packing(tmp_path: Path, imagenet: Splits) -> None:
    pack(imagenet, tmp_path / "shards", source="imagenet", per_shard=18)
    with pytest.raises(MentorNetError, match="another packing: its per_shard is 18, not 9"):
        pack(imagenet, tmp_path / "shards", source="imagenet", per_shard=9)
    put(tmp_path / "mine" / "notes.txt", b"")
    with pytest.raises(MentorNetError, match="is not empty, and was not begun by this command"):
        pack(imagenet, tmp_path / "mine", source="imagenet")
    with pytest.raises(MentorNetError, match="per_shard must be ≥ 1, got 0"):
        pack(imagenet, tmp_path / "new", source="imagenet", per_shard=0)


def test_suffixes_that_nobody_knows_are_no_reason_to_leave_out(tmp_path: Path) -> None:
    rows = ["path,label"]
    for number in range(12):
        name = f"{number}.{'jpe' if number % 3 else 'jfif'}"
        put(tmp_path / name, jpeg(number % 2, number))
        rows.append(f"{name},{number % 2}")
    put(tmp_path / "list.csv", "\n".join(rows))
    done = pack(
        load_data(f"{tmp_path / 'list.csv'}", LoadOptions(stream=True, image_size=16)),
        tmp_path / "out",
        source="list",
    )
    assert (done.samples, done.skipped) == (12, ())


def test_a_damaged_shard_is_found_when_packing_goes_on(tmp_path: Path, imagenet: Splits) -> None:
    pack(imagenet, tmp_path / "out", source="imagenet", per_shard=18)
    path = tmp_path / "out" / "train-000000.tar"
    content = bytearray(path.read_bytes())
    content[700:720] = b"x" * 20
    path.write_bytes(content)
    with pytest.raises(MentorNetError, match=r"train-000000\.tar is damaged: train/n01440764"):
        pack(imagenet, tmp_path / "out", source="imagenet", per_shard=18)


def test_a_tar_among_class_folders_is_no_shard(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for number in range(4):
            put(tmp_path / name / f"{number}.jpg", jpeg(0, number))
    put(tmp_path / "val.tar", b"")
    assert len(load_data(f"{tmp_path}", LoadOptions(image_size=8)).train) == 6


def test_numbers_with_zeros_before_them_and_digits_of_other_scripts(tmp_path: Path) -> None:
    members = {}
    for number in range(20):
        members[f"a{number}.jpg"] = jpeg(number % 2, number)
        members[f"a{number}.cls"] = b"01" if number % 2 else b"0"
    write_tar(tmp_path / "train-0.tar", members)
    assert load_data(f"{tmp_path}").train.classes == ("0", "1")
    write_tar(tmp_path / "train-0.tar", {**members, "a1.cls": "\u0661".encode()})
    assert load_data(f"{tmp_path}").train.classes == ("0", "01", "\u0661")


@pytest.fixture(scope="module")
def packed_digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "shards"
    digits = load_digits()
    few = Splits(digits.train.rows(slice(0, 20)), digits.test.rows(slice(0, 5)))
    pack(few, folder, source="digits", per_shard=10)
    return folder


ODD_FIELDS: tuple[Any, ...] = (..., None, 3, "text", [1, None], {}, [[]], 1e300)
PLANS: list[tuple[str, Any]] = [
    (key, value) for key in ("shards", "classes", "streamed", "shape") for value in ODD_FIELDS
] + [
    ("shards", ["../../etc/passwd"] * 3), ("shards", ["train-000000.tar"]), ("shards", []),
    ("classes", ["a", "a"]), ("classes", ["a"]), ("classes", ["a", "b"]),
    ("shape", [1, 8]), ("shape", [1, 8, 9]), ("shape", [1, -8, -8]), ("shape", [2, 8, 8]),
    ("shape", [1, 10**9, 10**9]), ("shape", [1, 16, 16]), ("shape", [3, 8, 8]),
    ("groups", [1]), ("groups", [10**30] * 10), ("groups", "text"), ("groups", [None] * 10),
    ("format", True), ("format", 2), ("format", 10**100),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), PLANS)
def test_every_field_of_the_plan_is_checked(
    key: str, value: Any, packed_digits: Path, tmp_path: Path
) -> None:
    shutil.copytree(packed_digits, tmp_path / "x")
    path = tmp_path / "x/shards.json"
    content = json.loads(path.read_text())
    content[key] = value
    if value is ...:
        del content[key]
    path.write_text(json.dumps(content))
    with pytest.raises(MentorNetError) as error:
        load_shards(tmp_path / "x")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


ODD_VALUES: tuple[Any, ...] = (..., 0.5, [1], b"bytes", "text", -2, 2**62, None, timedelta(1))
INDICES: list[tuple[str, Any]] = [
    (key, value)
    for key in ("part", "shard", "offset", "size", "given_label", "true_label", "path")
    for value in ODD_VALUES
    if (key, value) not in [("path", None), ("path", "text"), ("part", "text")]
]


@pytest.mark.parametrize(("key", "value"), INDICES)
def test_every_column_of_the_index_is_checked(
    key: str, value: Any, packed_digits: Path, tmp_path: Path
) -> None:
    shutil.copytree(packed_digits, tmp_path / "x")
    path = tmp_path / "x/index.parquet"
    columns = pq.read_table(path).to_pydict()
    columns[key] = [value] * len(columns[key])
    if value is ...:
        del columns[key]
    pq.write_table(pa.table(columns), path)
    with pytest.raises(MentorNetError) as error:
        load_shards(tmp_path / "x")
    assert "\n" not in str(error.value)


def test_a_column_that_is_there_twice(packed_digits: Path, tmp_path: Path) -> None:
    shutil.copytree(packed_digits, tmp_path / "x")
    path = tmp_path / "x/index.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("size", table["size"]), path)
    with pytest.raises(MentorNetError, match=r"index\.parquet"):
        load_shards(tmp_path / "x")
