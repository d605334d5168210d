"""The one reader: every spelling of the same verdicts is the same `Verdicts`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from mentornet import MentorNetError
from mentornet.verdicts import Verdicts, read_verdicts, verdicts_csv

CLASSES = ("cat", "dog", "=frog", "007", "two words, comma")
GIVEN = torch.tensor([0, 0, 1, 1, 0, 0, 0, 0, 0, 0])
PATHS = [f"{at}.png" for at in range(8)] + ["=8.png", "a, b.png"]

AS_DOWNLOADED = (
    "\ufeffindex,name,given_label,decision,label\r\n"
    '0,"a ""quoted"" name\nin two lines",cat,keep,cat\r\n'
    "2,b.png,dog,relabel,'=frog\r\n"
    "3,c.png,dog,drop,\r\n"
)


def read(folder: Path, content: str | bytes, **changed: Any) -> Verdicts:
    path = folder / "verdicts.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_verdicts(path, **{"class_names": CLASSES, "given_label": GIVEN, **changed})


def as_lists(found: Verdicts) -> list[tuple[int, bool, int]]:
    columns = (found.index, found.is_correct, found.true_label)
    return list(zip(*(column.tolist() for column in columns), strict=True))


EXPECTED = [(0, True, 0), (2, False, 2), (3, False, -1)]
"""Sample 0 is right, sample 2 is a frog, and sample 3 is wrong."""

SPELLINGS = {
    "as downloaded": AS_DOWNLOADED,
    "no mark, line feeds": AS_DOWNLOADED[1:].replace("\r\n", "\n"),
    "semicolons": "index;decision;label\n0;keep;\n2;relabel;=frog\n3;drop;\n",
    "tabs": "index\tdecision\tlabel\n0\tkeep\t\n2\trelabel\t=frog\n3\tdrop\t\n",
    "told the separator": "sep=;\r\nindex;decision;label\r\n0;keep;\r\n2;relabel;=frog\r\n3;drop\r\n",
    "everything quoted": '"index","decision","label"\n"0","keep",""\n"2","relabel","=frog"\n"3","drop",""\n',
    "another order, more columns": "label,remark,decision,index\n,,keep,0\n=frog,x,relabel,2\n,,drop,3\n",
    "numbers with decimals": "index,decision,label\n0.0,keep,\n2.0,relabel,=frog\n3.,drop,\n",
    "capitals and blanks": "Index, Decision ,LABEL\n 0 , Keep,\n2,RELABEL, =frog \n3,drop,\n",
    "blank lines and rows without decision": "\nindex,decision,label\n0,keep,\n5,,\n2,relabel,=frog\n\n,,\n3,drop,\n\n\n",
    "the same twice": "index,decision,label\n3,drop,\n0,keep,\n2,relabel,=frog\n0,keep,\n",
    "commas at the end": "index,decision,label\n0,keep,,,\n2,relabel,=frog,\n3,drop,\n",
    "is_correct and true_label": "index,is_correct,true_label\n0,true,\n2,false,=frog\n3,false,\n",
    "true_label where it is known": "index,is_correct,true_label\n0,,cat\n2,,'=frog\n3,no,\n",
    "both where they agree": "index,is_correct,true_label\n0,yes,cat\n2,no,=frog\n3,0,\n",
    "numbers for true and false": "index,is_correct,true_label\n0,1.0,\n2,,=frog\n3,0.0,\n",
    "shouted, semicolons": "\ufeffINDEX;Is_Correct;True_Label\r\n0.0;TRUE;\r\n2.0;FALSE;'=frog\r\n3.0;FALSE;\r\n\r\n",
    "with the given label": "index,given_label,is_correct,true_label\n0,cat,true,\n2,dog,,=frog\n3,dog,no,\n",
    "by path": "path,is_correct,true_label\n0.png,true,\n2.png,,=frog\n3.png,false,\n",
    "by path, decisions": "path;decision;label\n 0.png ;keep;cat\n'2.png;relabel;=frog\n3.png;drop;\n",
    "by path and index": "index,path,decision,label\n0,0.png,keep,\n,2.png,relabel,=frog\n3,,drop,\n",
    "both spellings": "index,decision,label,is_correct,true_label\n0,keep,cat,true,cat\n2,relabel,=frog,no,=frog\n3,drop,,no,\n",
    "both spellings, each in part": "index,decision,label,is_correct,true_label\n0,,,true,\n2,relabel,,,=frog\n3,drop,,,\n",
    "relabel to what it is": "index,decision,label\n0,relabel,cat\n2,relabel,=frog\n3,drop,\n",
}  # fmt: skip


@pytest.mark.parametrize("content", SPELLINGS.values(), ids=SPELLINGS)
def test_equivalent_spellings(content: str, tmp_path: Path) -> None:
    found = read(tmp_path, content, paths=PATHS)
    assert as_lists(found) == EXPECTED
    assert len(found) == 3
    assert found.index.dtype == found.true_label.dtype == torch.int64
    assert found.is_correct.dtype == torch.bool


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("spelling", ["tabs", "is_correct and true_label"])
def test_unicode_text_of_a_spreadsheet(spelling: str, encoding: str, tmp_path: Path) -> None:
    content = f"\ufeff{SPELLINGS[spelling]}".encode(encoding)
    assert as_lists(read(tmp_path, content)) == EXPECTED


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    found = read(tmp_path, AS_DOWNLOADED)
    names = ["=1+1.png", "-2.png", 'a "b", c.png']
    text = verdicts_csv(found, GIVEN[found.index].tolist(), class_names=CLASSES, names=names)
    assert text.splitlines()[1:3] == ["0,'=1+1.png,cat,keep,cat", "2,'-2.png,dog,relabel,'=frog"]
    assert as_lists(read(tmp_path, text)) == EXPECTED


@pytest.mark.parametrize(
    "content", ["5\n2\n0\n", "\ufeff5.0\r\n2.0\r\n0.0\r\n", "index\n5\n2\n0\n", "path\n5.png\n2.png\n0.png\n"]
)  # fmt: skip
def test_a_bare_list_is_of_right_labels(content: str, tmp_path: Path) -> None:
    found = read(tmp_path, content, paths=PATHS)
    assert as_lists(found) == [(0, True, 0), (2, True, 1), (5, True, 0)]
    truth = torch.where(torch.arange(10) == 2, 4, GIVEN)
    compared = read(tmp_path, content, paths=PATHS, true_label=truth)
    assert as_lists(compared) == [(0, True, 0), (2, False, 4), (5, True, 0)]


@pytest.mark.parametrize(
    ("written", "label"), [("7", 3), ("7.0", 3), ("007", 3), ('"two words, comma"', 4)]
)
@pytest.mark.parametrize("head", ["index,decision,label\n1,relabel,", "index,true_label\n1,"])
def test_class_names_that_spreadsheets_change(
    head: str, written: str, label: int, tmp_path: Path
) -> None:
    assert read(tmp_path, head + written).true_label.tolist() == [label]


def test_a_name_wins_over_its_plain_form(tmp_path: Path) -> None:
    found = read(tmp_path, "index,decision,label\n1,relabel,7\n", class_names=("007", "7"))
    assert found.true_label.tolist() == [1]


def test_a_number_is_a_name_where_classes_are_numbers(tmp_path: Path) -> None:
    numbered = {"class_names": ("1", "10", "2"), "given_label": torch.tensor([0, 1, 2])}
    assert read(tmp_path, "index,true_label\n0,10\n", **numbered).true_label.tolist() == [1]
    with pytest.raises(MentorNetError, match="unknown class '0'"):
        read(tmp_path, "index,true_label\n0,0\n", **numbered)
    named = read(tmp_path, "index,true_label\n0,1\n", class_names=("cat", "dog"))
    assert named.true_label.tolist() == [1]


def test_no_verdict_at_all(tmp_path: Path) -> None:
    """As an audit that suspects nothing writes it."""
    assert len(read(tmp_path, "index,decision\n")) == 0


def test_numbers_of_samples_that_are_elsewhere(tmp_path: Path) -> None:
    rows = f"index,decision\n1,drop\n{len(GIVEN)},drop\n{len(GIVEN) + 2},keep\n"
    found = read(tmp_path, rows, others=3)
    assert found.index.tolist() == [1]
    with pytest.raises(MentorNetError, match=f"there is no sample {len(GIVEN) + 2}, only 0 to"):
        read(tmp_path, rows, others=2)


def test_paths_of_samples_that_are_elsewhere(tmp_path: Path) -> None:
    rows = "path,is_correct\nheld.png,true\n1.png,true\n"
    found = read(tmp_path, rows, paths=PATHS, elsewhere=("held.png",))
    assert as_lists(found) == [(1, True, 0)]
    with pytest.raises(MentorNetError, match="names no sample that is trained on"):
        read(tmp_path, rows[:-11], paths=PATHS, elsewhere=("held.png",))


def test_given_labels_must_agree(tmp_path: Path) -> None:
    message = "line 5: sample 3 is given as 'dog', and in the data as 'cat'; do the verdicts"
    with pytest.raises(MentorNetError, match=message):
        read(tmp_path, AS_DOWNLOADED, given_label=torch.where(torch.arange(10) == 2, 1, 0))


HEAD = "index,given_label,decision,label\n"
BOTH = "index,decision,label,is_correct,true_label\n"
WRONG = {
    "line 3: there is no sample 10, only 0 to 9; do the verdicts belong to another run?": HEAD + "1,,keep,\n10,,keep,\n",
    "line 2: index must be a whole number, got '1,234'; did a spreadsheet change it?": HEAD + '"1,234",,keep,\n',
    "line 2: index must be a whole number, got '-1'": HEAD + "-1,,keep,\n",
    "line 1: index must be a whole number, got '-1'": "-1\n2\n",
    "line 2: index must be a whole number, got ''": HEAD + ",,keep,\n",
    "line 2: index must be a whole number, got 'five'": "index,is_correct\nfive,true\n",
    "line 3: there is no sample 12, only 0 to 9": "index,is_correct\n5,true\n12,true\n",
    "line 2: path is empty": "path,is_correct\n,true\n",
    "line 2: unknown sample 'x.png'": "path,is_correct\nx.png,true\n",
    "line 2: index is 3, but the path is that of sample 4": "index,path,is_correct\n3,4.png,true\n",
    "line 2: unknown decision 'Relable'; did you mean 'relabel'?": HEAD + "1,,Relable,dog\n",
    "line 2: unknown class 'dgo' in label; did you mean 'dog'?": HEAD + "1,,relabel,dgo\n",
    "line 2: unknown class 'dgo' in true_label; did you mean 'dog'?": "index,true_label\n1,dgo\n",
    "line 2: unknown class '²' in true_label": "index,true_label\n1,²\n",
    "line 2: unknown class 'bird' in given_label; Known: ": HEAD + "1,bird,keep,\n",
    "line 2: is_correct must be true or false, got 'maybe'": "index,is_correct\n1,maybe\n",
    "line 2: the row does not say whether the label is right": "index,is_correct,true_label\n3,,\n",
    "line 3: the row does not say whether": "index,true_label\n3,dog\n4,\n",
    "line 2: sample 1 is to be relabelled, and label is empty": HEAD + "1,cat,relabel,\n",
    "line 2: sample 1 is to keep the label 'cat', and the label says 'dog'; did you mean relabel?": HEAD + "1,cat,keep,dog\n",
    "line 2: is_correct is true, but the given label is 'cat' and true_label 'dog'": "index,is_correct,true_label\n1,true,dog\n",
    "line 2: is_correct is no, but the given label is 'cat' and true_label 'cat'": "index,is_correct,true_label\n1,no,cat\n",
    "line 2: is_correct is false, but the given label is 'cat' and decision keep": BOTH + "1,keep,,false,\n",
    "line 2: is_correct is true, but the given label is 'cat' and decision drop": BOTH + "1,drop,,true,\n",
    "line 2: is_correct is 1, but the given label is 'cat' and decision relabel": BOTH + "1,relabel,dog,1,\n",
    "line 2: decision is keep, but the given label is 'cat' and true_label 'dog'": BOTH + "1,keep,,,dog\n",
    "line 2: decision is drop, but the given label is 'cat' and true_label 'dog'": BOTH + "1,drop,,,dog\n",
    "line 2: decision is relabel, but the given label is 'cat' and true_label '=frog'": BOTH + "1,relabel,dog,,=frog\n",
    "line 4: sample 1 is to be dropped here and to be kept in line 2; keep one of the two": HEAD + "1,,keep,\n2,,keep,\n1,,drop,\n",
    "sample 1 is to be relabelled 'dog' here and to be kept in line 2": HEAD + "1,,relabel,cat\n1,,relabel,dog\n",
    "line 3: sample 5 is to be dropped here and to be kept in line 2": "index,is_correct\n5,true\n5,false\n",
    "has a column 'decisions'; did you mean 'decision'?": "index,decisions\n1,keep\n",
    "has a column 'true_lable'; did you mean 'true_label'?": "index,is_correct,true_lable\n1,no,dog\n",
    "has no column decision, is_correct or true_label; it has index, correct": "index,correct\n1,true\n",
    "has no column decision, is_correct or true_label; it has path, label": "path,label\n1.png,dog\n",
    "has no column index or path; it has id, decision": "id,decision\n1,keep\n",
    "has no column index or path; it has a b, decision": '"a\nb",decision\n1,keep\n',
    "has the column 'index' twice": "index,index,decision\n1,1,keep\n",
    "line 3: 6 cells for 4 columns; put quotes": HEAD + "1,cat,keep,\n1,two, words,comma,keep,\n",
    "is empty": "\n\n",
    "lists no samples": "index,is_correct\n",
    "line 2: not CSV": HEAD + '1,"cat"x,keep,\n',
    "line 2: not CSV (field larger than field limit": "index,is_correct\n" + "5" * 140_000 + ",true\n",
    "is a workbook, not CSV; save it as CSV UTF-8": "PK\x03\x04 and so on",
}  # fmt: skip


@pytest.mark.parametrize(("message", "content"), WRONG.items(), ids=range(len(WRONG)))
def test_mistakes(message: str, content: str, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read(tmp_path, content, paths=PATHS)


def test_data_without_paths(tmp_path: Path) -> None:
    message = "unknown sample 'a.png'; this data has no paths, use index"
    with pytest.raises(MentorNetError, match=message):
        read(tmp_path, "path,is_correct\na.png,true\n")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=re.escape("not UTF-8 text")):
        read(tmp_path, "index,decision,label\nä,keep,\n".encode("latin-1"))
    for path, message in ((tmp_path, "cannot be read"), (tmp_path / "none.csv", "is missing")):
        with pytest.raises(MentorNetError, match=message):
            read_verdicts(path, class_names=CLASSES, given_label=GIVEN)


def test_long_hostile_values_make_short_messages(tmp_path: Path) -> None:
    for text in (HEAD + f"1,,relabel,{'x' * 10_000}\n", f"index,true_label\n1,{'9' * 10_000}\n"):
        with pytest.raises(MentorNetError) as caught:
            read(tmp_path, text)
        assert len(str(caught.value)) < 700
    with pytest.raises(MentorNetError) as caught:
        read(tmp_path, ",".join("x" * 100 for _ in range(1000)) + "\n1\n")
    assert len(str(caught.value)) < 700
