from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mentornet import MentorNetError
from mentornet.audit import Decisions, read_decisions

CLASSES = ("cat", "dog", "=frog", "007", "two words, comma")

AS_DOWNLOADED = (
    "\ufeffindex,name,given_label,decision,label\r\n"
    '0,"a ""quoted"" name\nin two lines",cat,keep,cat\r\n'
    "2,b.png,dog,relabel,'=frog\r\n"
    "3,c.png,dog,drop,\r\n"
)


def read(folder: Path, content: str | bytes, **changed: object) -> Decisions:
    path = folder / "decisions.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_decisions(path, **{"class_names": CLASSES, "count": 10, **changed})  # type: ignore[arg-type]


def as_lists(found: Decisions) -> list[tuple[int, str, int]]:
    rows = zip(found.index.tolist(), found.decision.tolist(), found.label.tolist(), strict=True)
    return list(rows)


EXPECTED = [(0, "keep", -1), (2, "relabel", 2), (3, "drop", -1)]

SPELLINGS = {
    "as downloaded": AS_DOWNLOADED,
    "no mark, line feeds": AS_DOWNLOADED[1:].replace("\r\n", "\n"),
    "semicolons": "index;decision;label\n0;keep;\n2;relabel;=frog\n3;drop;\n",
    "tabs": "index\tdecision\tlabel\n0\tkeep\t\n2\trelabel\t=frog\n3\tdrop\t\n",
    "told the separator": "sep=;\r\nindex;decision;label\r\n0;keep;\r\n2;relabel;=frog\r\n3;drop\r\n",
    "everything quoted": '"index","decision","label"\n"0","keep",""\n"2","relabel","=frog"\n"3","drop",""\n',
    "another order, more columns": "label,remark,decision,index\n,,keep,0\n=frog,x,relabel,2\n,,drop,3\n",
    "numbers with decimals": "index,decision,label\n0.0,keep,\n2.0,relabel,=frog\n3.,drop,\n",
    "capitals and blanks": "Index, Decision ,LABEL\n 0 , Keep,\n2,RELABEL,' =frog'\n3,drop,\n".replace("' =frog'", " =frog "),
    "blank lines and rows without decision": "\nindex,decision,label\n0,keep,\n5,,\n2,relabel,=frog\n\n,,\n3,drop,\n\n\n",
    "the same twice": "index,decision,label\n3,drop,\n0,keep,\n2,relabel,=frog\n0,keep,\n",
    "commas at the end": "index,decision,label\n0,keep,,,\n2,relabel,=frog,\n3,drop,\n",
}  # fmt: skip


@pytest.mark.parametrize("content", SPELLINGS.values(), ids=SPELLINGS)
def test_equivalent_spellings(content: str, tmp_path: Path) -> None:
    found = read(tmp_path, content)
    assert as_lists(found) == EXPECTED
    assert len(found) == 3
    assert found.index.dtype == found.label.dtype == np.dtype(np.int64)


def test_unicode_text_of_a_spreadsheet(tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        content = SPELLINGS["tabs"]
        assert as_lists(read(tmp_path, f"\ufeff{content}".encode(encoding))) == EXPECTED


@pytest.mark.parametrize(
    ("written", "label"), [("7", 3), ("7.0", 3), ("007", 3), ('"two words, comma"', 4)]
)
def test_class_names_that_spreadsheets_change(written: str, label: int, tmp_path: Path) -> None:
    assert read(tmp_path, f"index,decision,label\n1,relabel,{written}").label.tolist() == [label]


def test_a_name_wins_over_its_plain_form(tmp_path: Path) -> None:
    found = read(tmp_path, "index,decision,label\n1,relabel,7\n", class_names=("007", "7"))
    assert found.label.tolist() == [1]


def test_no_decision_at_all(tmp_path: Path) -> None:
    assert len(read(tmp_path, "index,decision\n")) == 0


def test_given_labels_that_agree(tmp_path: Path) -> None:
    given = np.array([0, 0, 1, 1, 0, 0, 0, 0, 0, 0])
    assert as_lists(read(tmp_path, AS_DOWNLOADED, given_label=given)) == EXPECTED
    message = "line 5: sample 3 is given as 'dog', and in the data as 'cat'; do the decisions"
    with pytest.raises(MentorNetError, match=message):
        read(tmp_path, AS_DOWNLOADED, given_label=np.where(np.arange(10) == 2, 1, 0))


def test_what_the_file_calls_given(tmp_path: Path) -> None:
    assert read(tmp_path, AS_DOWNLOADED).given_label.tolist() == [0, 1, 1]
    assert read(tmp_path, SPELLINGS["tabs"]).given_label.tolist() == [-1, -1, -1]
    twice = "index,given_label,decision\n1,cat,keep\n1,dog,keep\n"
    with pytest.raises(MentorNetError, match="keep one of the two"):
        read(tmp_path, twice)


HEAD = "index,given_label,decision,label\n"
WRONG = {
    "line 3: there is no sample 10, only 0 to 9; do the decisions belong to another run?":
        HEAD + "1,,keep,\n10,,keep,\n",
    "line 2: index must be a whole number, got '1,234'; did a spreadsheet change it?":
        HEAD + '"1,234",,keep,\n',
    "line 2: index must be a whole number, got '-1'": HEAD + "-1,,keep,\n",
    "line 2: index must be a whole number, got ''": HEAD + ",,keep,\n",
    "line 2: unknown decision 'Relable'; did you mean 'relabel'?": HEAD + "1,,Relable,dog\n",
    "line 2: unknown class 'dgo' in label; did you mean 'dog'?": HEAD + "1,,relabel,dgo\n",
    "line 2: unknown class 'bird' in given_label; Known: ": HEAD + "1,bird,keep,\n",
    "line 2: sample 1 is to be relabelled, and label is empty": HEAD + "1,cat,relabel,\n",
    "line 2: sample 1 is to keep the label 'cat', and the label says 'dog'; did you mean relabel?":
        HEAD + "1,cat,keep,dog\n",
    "line 4: sample 1 is to be dropped here and to be kept in line 2; keep one of the two":
        HEAD + "1,,keep,\n2,,keep,\n1,,drop,\n",
    "sample 1 is to be relabelled 'dog' here and to be relabelled 'cat' in line 2":
        HEAD + "1,,relabel,cat\n1,,relabel,dog\n",
    "has no column 'decision'; did you mean 'decisions'?": "index,decisions\n1,keep\n",
    "has no column 'index'; ": "id,decision\n1,keep\n",
    "has the column 'index' twice": "index,index,decision\n1,1,keep\n",
    "line 3: 6 cells for 4 columns; put quotes": HEAD + "1,cat,keep,\n1,two, words,comma,keep,\n",
    "is empty; download the decisions again": "\n\n",
    "line 2: not CSV": HEAD + '1,"cat"x,keep,\n',
    "is a workbook, not CSV; save it as CSV UTF-8": "PK\x03\x04 and so on",
}  # fmt: skip


@pytest.mark.parametrize(("message", "content"), WRONG.items(), ids=range(len(WRONG)))
def test_mistakes(message: str, content: str, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read(tmp_path, content)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape("not UTF-8 text (byte 21")):
        read(tmp_path, "index,decision,label\nä,keep,\n".encode("latin-1"))
    for path, message in ((tmp_path, "cannot be read"), (tmp_path / "none.csv", "is missing")):
        with pytest.raises(MentorNetError, match=message):
            read_decisions(path, class_names=CLASSES, count=1)


def test_long_hostile_values_make_short_messages(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError) as caught:
        read(tmp_path, HEAD + f"1,,relabel,{'x' * 10_000}\n")
    assert len(str(caught.value)) < 700
