"""Any text that is written into a table comes back, and no spreadsheet runs it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from mentornet import MentorNetError
from mentornet.cells import csv_rows, csv_text, guard, unguard
from mentornet.verdicts import Verdicts, read_verdicts, verdicts_csv

SIGNS = "=+-@\t\r\n'\" ,;a1.0\u00a0\u2003\ufeff\uff1d\x1c|"


def texts() -> list[str]:
    """All texts of up to two of the signs that matter, and longer ones at random."""
    draw = random.Random(0)
    short = ["", *SIGNS, *(one + other for one in SIGNS for other in SIGNS)]
    long = ["".join(draw.choices(SIGNS, k=draw.randint(3, 8))) for _ in range(3000)]
    return list(dict.fromkeys(short + long))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(csv_text(["x", text] for text in texts()), encoding="utf-8", newline="")
    assert [unguard(row.cells[1]) for row in csv_rows(path)] == texts()


def test_no_cell_begins_as_a_formula_does() -> None:
    for text in texts():
        assert guard(text)[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"}


@pytest.mark.parametrize("name", ["cat", "'tis", "it's", "''", "7", "a-b"])
def test_other_names_are_left_alone(name: str) -> None:
    assert guard(name) == name
    assert unguard(name) == name


def test_verdicts_of_classes_that_differ_in_an_apostrophe(tmp_path: Path) -> None:
    names = ("=a", "'=a", "''=a", "'a", "a", " a", "-1", "'-1")
    given = torch.arange(len(names))
    right = given.roll(1)
    verdicts = Verdicts(given, given == right, right)
    text = verdicts_csv(verdicts, given.tolist(), class_names=names)
    (tmp_path / "v.csv").write_text(text, encoding="utf-8")
    found = read_verdicts(tmp_path / "v.csv", given_label=given, class_names=names)
    assert torch.equal(found.true_label, right)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a" * (1 << 20), "not CSV"),
        (b"a\n" + b"\n" * 1_000_002, "blank lines in a row"),
        (b"a\n\xff", "is not UTF-8 text"),
    ],
    ids=["one line", "blank", "latin"],
)
def test_files_that_are_no_tables(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(MentorNetError, match=message):
        list(csv_rows(tmp_path / "a.csv"))
