"""Datasets that Hugging Face `datasets` has saved, as its versions 1.5, 1.18 and 5.2 write them."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from mentornet import MentorNetError
from mentornet.cli import main
from mentornet.data import LoadOptions, Samples, Splits, load_data
from mentornet.data.encoding import Rows, Texts, Vectors
from mentornet.data.stream.streamed import Streamed, read_place
from mentornet.data.stream.views import view
from tests.data.image_files import write_png

SAVED = Path(__file__).parent / "saved"
VERSIONS = ("1.5.0", "1.18.4", "5.2.0")
TEXTS = [f"this is review number {number} of twelve" for number in range(12)]
QUICK = ("--epochs", "2", "--batch-size", "4")


def load(path: Path, **options: Any) -> Splits:
    return load_data(f"{path}", LoadOptions(**options))


def texts(samples: Samples) -> list[str]:
    assert isinstance(samples.raw, Texts)
    return list(samples.raw.texts)


@pytest.mark.parametrize("version", VERSIONS)
def test_parts_have_their_roles(version: str) -> None:
    splits = load(SAVED / version / "parts")
    assert texts(splits.train) == TEXTS
    assert splits.train.classes == ("neg", "pos")
    assert splits.train.given_label.tolist() == [0, 1] * 6
    assert splits.train.row is not None
    assert splits.train.row.tolist() == list(range(12))
    assert texts(splits.test) == TEXTS[2:4]
    assert splits.test.given_label.tolist() == [0, 1]
    assert "part of parts not used: unsupervised" in splits.notes
    assert "the test samples have no labels: not used" in splits.notes


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_are_in_the_order_of_the_dataset(version: str) -> None:
    """Version 1.5 wrote the rows as they were, and their order beside them."""
    assert (SAVED / version / "chosen" / "indices.arrow").exists() == (version == "1.5.0")
    splits = load(SAVED / version / "chosen")
    order, found = [5, 3, 1, 0, 2, 4], dict[int, str]()
    for part in (splits.train, splits.test):
        assert part.row is not None
        found |= dict(zip(part.row.tolist(), texts(part), strict=True))
    assert [found[place] for place in range(6)] == [TEXTS[number] for number in order]


def test_rows_of_several_files_follow_one_another() -> None:
    assert len(list((SAVED / "5.2.0" / "files").glob("*.arrow"))) == 3
    splits = load(SAVED / "5.2.0" / "files")
    assert sorted(texts(splits.train) + texts(splits.test)) == sorted(TEXTS)
    assert splits.train.row is not None
    assert texts(splits.train) == [TEXTS[row] for row in splits.train.row]


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_of_a_table(version: str) -> None:
    train = load(SAVED / version / "rows").train
    assert isinstance(train.raw, Rows)
    assert train.row is not None
    first = train.row.tolist().index(0)
    cells = {name: column[first] for name, column in train.raw.columns.items()}
    assert cells == {"age": "", "city": "a", "member": "True"}
    assert train.classes == ("x", "y")


@pytest.mark.parametrize("version", VERSIONS)
def test_vectors(version: str) -> None:
    train = load(SAVED / version / "vectors").train
    assert isinstance(train.raw, Vectors)
    assert train.row is not None
    expected = [[float(row), 1.5] for row in train.row.tolist()]
    assert train.raw.values.tolist() == expected


@pytest.mark.parametrize(
    ("version", "name"),
    [("1.18.4", "images"), ("5.2.0", "images"), ("5.2.0", "files of images")],
)
def test_images_in_memory_and_streamed(version: str, name: str) -> None:
    folder = SAVED / version / name
    train = load(folder).train
    assert train.shape == (3, 8, 8)
    assert train.row is not None
    grey = torch.tensor([20 * row for row in train.row.tolist()])
    assert torch.equal(train.tensor, grey.byte()[:, None, None, None].expand(-1, 3, 8, 8))
    assert train.given_label.tolist() == [row % 2 for row in train.row.tolist()]
    streamed = load(folder, stream=True, image_size=8).train
    assert isinstance(streamed.inputs, Streamed)
    for number, place in enumerate(streamed.inputs.places(range(len(streamed)))):
        assert np.array_equal(view(read_place(place), 8), np.full((8, 8, 3), int(grey[number])))


def run(*words: object) -> None:
    assert main([f"{word}" for word in words]) == 0


def predicted(run_folder: Path, source: Path, out: Path) -> list[dict[str, str]]:
    run("predict", run_folder, source, "--out", out)
    with out.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_train_audit_and_predict_texts(tmp_path: Path) -> None:
    source, done = SAVED / "5.2.0" / "parts", tmp_path / "run"
    run("train", source, "--out", done, *QUICK)
    run("audit", done)
    with (done / "audit" / "issues.csv").open() as file:
        issues = list(csv.DictReader(file))
    assert sorted(int(issue["row"]) for issue in issues) == list(range(12))
    assert all(issue["text"] == TEXTS[int(issue["row"])] for issue in issues)
    rows = predicted(done, source / "unsupervised", tmp_path / "p.csv")
    assert [row["review"] for row in rows] == TEXTS[:3]
    run("train", done / "audit" / "cleaned.csv", "--config", done / "config.toml", "--out",
        tmp_path / "again")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=["in memory", "streamed"])
def test_train_audit_and_predict_images(tmp_path: Path, stream: tuple[str, ...]) -> None:
    source, done = SAVED / "5.2.0" / "images", tmp_path / "run"
    size = ("--image-size", "8", "--width", "4", "--student", "fast", *stream)
    run("train", source, "--out", done, *QUICK, *size)
    run("audit", done)
    page = (done / "audit" / "report.html").read_text()
    assert "data:image" in page
    cleaned = (done / "audit" / "cleaned.csv").read_text()
    assert cleaned.startswith("index,")  # verdicts, because no table can hold such images
    run("train", "--config", done / "config.toml", "--verdicts", done / "audit" / "cleaned.csv",
        "--out", tmp_path / "again")  # fmt: skip
    rows = predicted(done, source, tmp_path / "p.csv")
    assert [row["row"] for row in rows] == [f"{number}" for number in range(12)]


@pytest.mark.slow
def test_train_and_predict_rows_and_vectors(tmp_path: Path) -> None:
    for name in ("rows", "vectors"):
        run("train", SAVED / "1.18.4" / name, "--out", tmp_path / name, *QUICK)
        rows = predicted(tmp_path / name, SAVED / "5.2.0" / name, tmp_path / f"{name}.csv")
        assert len(rows) == 12


# Bad input: every mistake is one line that names the file.


def edit(**values: Any) -> Callable[[Path], None]:
    """Change values of the JSON file of that name, in which `_` stands for the point."""
    ((name, changes),) = values.items()

    def change(folder: Path) -> None:
        path = folder / name.replace("_json", ".json")
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def remove(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return change


def cut(name: str, count: int) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:-count])

    return change


def rewrite(**options: Any) -> Callable[[Path], None]:
    """Write the rows again with other options of Arrow."""

    def change(folder: Path) -> None:
        (path,) = folder.glob("*.arrow")
        with path.open("rb") as file:
            table = pa.ipc.open_stream(file).read_all()
        write(path, table, **options)

    return change


def replace_by(table: Callable[[], Any]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (path,) = folder.glob("*.arrow")
        write(path, table())

    return change


def write(path: Path, table: Any, **options: Any) -> None:
    chosen = pa.ipc.IpcWriteOptions(**options)
    with path.open("wb") as file, pa.ipc.new_stream(file, table.schema, options=chosen) as stream:
        stream.write_table(table)


def many_rows(folder: Path) -> None:
    """State 2^40 rows of columns that take no bytes."""
    (path,) = folder.glob("*.arrow")
    write(path, pa.table([pa.nulls(77_777)] * 2, ["review", "label"]))
    few, many = ((77_777).to_bytes(8, "little"), (1 << 40).to_bytes(8, "little"))
    assert few in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(few, many))


DATA = "data-00000-of-00001.arrow"
NAMED = "cannot be read as an Arrow stream"


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("chosen", edit(state_json={"_data_files": [{"filename": "../../x.arrow"}]}), "state.json names '../../x.arrow', which is not in its folder"),
        ("chosen", edit(state_json={"_data_files": [{"filename": "/etc/passwd"}]}), "state.json names '/etc/passwd', which is not in its folder"),
        ("chosen", edit(state_json={"_data_files": [{"filename": ".."}]}), "state.json names '..', which is not in its folder"),
        ("chosen", edit(state_json={"_data_files": [{"filename": "a\0b"}]}), "state.json names 'a\\x00b', which is not in its folder"),
        ("chosen", edit(state_json={"_data_files": [{"filename": 3}]}), "every file must have a filename as text"),
        ("chosen", edit(state_json={"_data_files": [{"filename": "gone.arrow"}]}), "gone.arrow is missing"),
        ("chosen", edit(state_json={"_data_files": []}), "state.json lists no files"),
        ("chosen", edit(state_json={"_data_files": "all"}), "state.json: _data_files must be a list of an object of anything, got 'all'"),
        ("chosen", remove("state.json"), "has no state.json, which save_to_disk of Hugging Face datasets writes; was it copied in part?"),
        ("chosen", remove("dataset_info.json"), "has no dataset_info.json"),
        ("chosen", remove(DATA), f"{DATA} is missing"),
        ("chosen", cut("state.json", 9), "state.json is not JSON"),
        ("chosen", cut(DATA, 1), f"{DATA} has no end; was it cut short?"),
        ("chosen", cut(DATA, 8), f"{DATA} has no end; was it cut short?"),
        ("chosen", rewrite(compression="zstd"), f"{DATA} has packed rows; write it again without compression"),
        ("chosen", many_rows, "states 1,099,511,627,776 rows or more, too many for a file of"),
        ("chosen", replace_by(lambda: pa.table({"label": pa.array(["a", "b"]).dictionary_encode(), "n": [1, 2]})), "holds a dictionary, expected rows only"),
        ("chosen", replace_by(lambda: pa.table({"review": ["a", "b"]})), "has no column 'label'; name the column of labels in the setting label"),
        ("chosen", replace_by(lambda: pa.table({"label": [0, 1]})), "has labels, but no column of texts or features"),
        ("chosen", replace_by(lambda: pa.table({"review": [""] * 4, "label": [0, 1] * 2})), "row 1 has an empty text in column 'review'"),
        ("parts", edit(dataset_dict_json={"splits": ["train", "../train"]}), "dataset_dict.json names '../train', which is not in its folder"),
        ("parts", edit(dataset_dict_json={"splits": []}), "dataset_dict.json lists no parts"),
        ("parts", edit(dataset_dict_json={"splits": ["train", "more"]}), "more is missing; was the dataset copied in part?"),
        ("parts", edit(dataset_dict_json={"splits": ["test", "unsupervised"]}), "has the parts test, unsupervised, but none that is called train"),
        ("parts", remove("train"), "train is missing; was the dataset copied in part?"),
        ("parts", remove("train/state.json"), "train has no state.json"),
        ("parts", remove(f"train/{DATA}"), f"{DATA} is missing"),
        ("vectors", replace_by(lambda: pa.table({"vector": [[1.0], [2.0, 3.0]], "label": [0, 1]})), "row 1 (from 0): its vector has 2 values, expected 1"),
        ("vectors", replace_by(lambda: pa.table({"vector": [[1.0], [float("nan")]] * 4, "label": [0, 1] * 4})), "row 1 (from 0): value 0 is nan"),
    ],
)  # fmt: skip
def test_every_mistake_is_one_line(
    name: str, change: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(SAVED / "5.2.0" / name, tmp_path / "data")
    options = {"text": "review"} if "empty text" in said else {}
    change(folder)
    with pytest.raises(MentorNetError, match=re.escape(said)) as raised:
        load(folder, **options)
    assert "\n" not in f"{raised.value}"


def test_images_that_are_only_named() -> None:
    with pytest.raises(
        MentorNetError, match=r"row 1 has no image in column 'image', only its name"
    ):
        load(SAVED / "1.18.4" / "files of images")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    folder = shutil.copytree(SAVED / "5.2.0" / "images", tmp_path / "data")
    (path,) = folder.glob("*.arrow")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"bytes\0", b"\xff\xf3\xf4es\0"))
    assert path.read_bytes() != whole
    with pytest.raises(MentorNetError, match="cannot be read as an Arrow stream"):
        load(folder)


def test_a_folder_of_images_may_have_a_state_of_its_own(tmp_path: Path) -> None:
    for number in range(8):
        write_png(tmp_path / "ab"[number % 2] / f"{number}.png", 8, 8)
    (tmp_path / "state.json").write_text("{}")
    assert len(load(tmp_path).train) == 6


def test_settings_that_have_no_meaning() -> None:
    with pytest.raises(MentorNetError, match="image_size has no meaning"):
        load(SAVED / "5.2.0" / "parts", image_size=32)
    with pytest.raises(MentorNetError, match="labels has no meaning"):
        load(SAVED / "5.2.0" / "parts", labels=Path("labels.csv"))


def test_an_order_that_names_no_row(tmp_path: Path) -> None:
    folder = shutil.copytree(SAVED / "1.5.0" / "chosen", tmp_path / "data")
    write(folder / "indices.arrow", pa.table({"indices": pa.array([0, 12], pa.uint64())}))
    with pytest.raises(MentorNetError, match=r"names row 12, but there are 12 rows from 0"):
        load(folder)


def test_repeated_vectors_do_not_fill_the_memory(tmp_path: Path) -> None:
    """The order repeats a row of 200 kB a million times, which would be 200 GB."""
    folder = shutil.copytree(SAVED / "1.5.0" / "vectors", tmp_path / "data")
    write(folder / "dataset.arrow", pa.table({"vector": [[0.5] * 25_000] * 2, "label": [0, 1]}))
    order = pa.array(np.zeros(1_000_000, np.uint64))
    write(folder / "indices.arrow", pa.table({"indices": order}))
    edit(state_json={"_indices_data_files": [{"filename": "indices.arrow"}]})(folder)
    with pytest.raises(MentorNetError, match=r"has rows of [0-9,]+ bytes, too many for files of"):
        load(folder)


def test_predict_says_which_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = SAVED / "5.2.0" / "parts"
    run("train", source, "--out", tmp_path / "run", *QUICK)
    for named, said in (
        (source, "has the parts train, validation, test, unsupervised; name the folder of one"),
        (SAVED / "5.2.0" / "rows", "has no column 'review' of text or numbers"),
    ):
        assert main(["predict", f"{tmp_path / 'run'}", f"{named}"]) == 2
        assert said in " ".join(capsys.readouterr().err.split())


def test_changed_bytes_never_do_more_than_end_in_a_line(tmp_path: Path) -> None:
    """Every byte of the head of a file in turn; a header that lies must not crash Arrow."""
    folder = shutil.copytree(SAVED / "1.5.0" / "chosen", tmp_path / "data")
    path, said = folder / "indices.arrow", list[str]()
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            load(folder)
        except MentorNetError as error:
            said.append(f"{error}")
    assert len(said) > 100
    assert not any("\n" in line for line in said)
