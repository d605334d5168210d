from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from campaign.worker import resident
from mentornet import MentorNetError, parquet
from mentornet.parquet import plain_values, read_parquet, read_table
from mentornet.records import read_records
from tests.hostile_parquet import BOMBS, page, with_pages, words, write

COUNT = 5_000
COLUMNS = {
    "path": pa.array([f"images/{number % 70}/{number}.png" for number in range(COUNT)]),
    "label": pa.array(["cat", "dog", None, "owl", "cat"] * (COUNT // 5)),
    "number": pa.array(range(COUNT)),
    "list": pa.array([[number, None] * (number % 4) for number in range(COUNT)]),
    "cell": pa.array([{"bytes": b"%d" % number, "path": None} for number in range(COUNT)]),
    "none": pa.nulls(COUNT),
    "large": pa.array([f"{number % 9}" for number in range(COUNT)], pa.large_string()),
    "few": pa.array([b"%04d" % number for number in range(COUNT)], pa.binary(4)),
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data_page_version": "2.0", "compression": "gzip"},
        {"use_dictionary": False, "compression": "none", "row_group_size": 700},
        {"use_dictionary": False, "column_encoding": {"path": "DELTA_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"path": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"data_page_size": 200, "write_batch_size": 10, "dictionary_pagesize_limit": 1_000},
        {"write_page_index": True, "write_page_checksum": True, "store_schema": False},
    ],
    ids=str,
)
def test_files_of_every_kind_are_read(tmp_path: Path, options: dict[str, object]) -> None:
    path, table = tmp_path / "a.parquet", pa.table(COLUMNS)
    pq.write_table(table, path, **options)
    assert read_parquet(path, list(COLUMNS)) == table.to_pydict()
    found = read_table(path)
    for name, column in COLUMNS.items():
        values = [value for chunk in found[name].chunks for value in plain_values(chunk)]
        assert values == column.to_pylist()


def test_a_file_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(COLUMNS).slice(0, 0), path)
    assert read_parquet(path, ["path", "list"]) == {"path": [], "list": []}
    assert read_table(path).column_names == list(COLUMNS)


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("read", [lambda path: read_parquet(path, ["path"]), read_records])
@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_take_little_memory(
    tmp_path: Path, bomb: str, read: Callable[[Path], object]
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(BOMBS[bomb]("path"))
    assert path.stat().st_size < 2_000_000
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    with pytest.raises(MentorNetError, match=r"a\.parquet"):
        read(path)
    assert resident("VmHWM") - before < 700 << 20


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        (page(b"", -1, 20), "a page of 0 bytes that unpacks to -1"),
        (page(b"", 10, -1), "-1 values"),
        (page(b"", 10, 0) * 11_500, "more than 1.,... pages"),
        (b"\x15\0" * 40, "odd fields"),
        (b"\x1c" * 40, "odd fields"),
        (b"\x15" + b"\xff" * 40, "a number without an end"),
        (b"\x15\xff\xff\xff\xff\xff\x01", "more than 32 bits"),
        (b"\x19\x15\0", "a field of type 9"),
        (b"\x15\0\x15\0\x15\0\0", "no details"),
        (b"\x15\0\0", "no number in field 2"),
        (b"\x18\xff\xff\xff\x7f", "there is no page at byte"),
    ],
)
def test_odd_headers_of_pages(tmp_path: Path, pages: bytes, message: str) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(with_pages(write(words(20, 20_000), "path", compression="none"), pages))
    with pytest.raises(MentorNetError, match=f"a.parquet cannot be read.*{message}"):
        read_parquet(path, ["path"])


def test_too_many_groups_and_a_long_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(COLUMNS), path, row_group_size=100)
    monkeypatch.setattr(parquet, "_PARTS", 399)
    with pytest.raises(
        MentorNetError, match=r"a\.parquet has 50 groups of rows with 9 columns each"
    ):
        read_parquet(path, ["path"])
    monkeypatch.setattr(parquet, "_END", 1_000)
    with pytest.raises(MentorNetError, match=r"a\.parquet has an end of .* at most 1,000 are read"):
        read_parquet(path, ["path"])
