"""What verdicts do in a run: learned from, or followed; several files; the default method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mentornet.config import LabelsConfig, MethodConfig, TrainConfig
from mentornet.data import Samples, Splits
from mentornet.errors import MentorNetError
from mentornet.training import Prepared, prepare, train
from mentornet.verdicts import verdicts_csv
from tests.training.runs import small
from tests.training.test_resume import interrupted

CLASSES = ("cat", "dog", "frog")
GIVEN = torch.tensor([0, 0, 1, 1] + [0, 1, 2] * 32)


def prepared(
    folder: Path, *files: str, method: str | None = None, head: str | None = None
) -> Prepared:
    """A run on images that nobody looks at, with verdicts in files `0.csv`, `1.csv`, …"""
    images = Samples(torch.zeros(100, 1, 8, 8, dtype=torch.uint8), GIVEN, CLASSES)
    paths = []
    for number, rows in enumerate(files):
        paths.append(folder / f"{number}.csv")
        paths[-1].write_text(f"{head or 'index,given_label,decision,label'}\n{rows}\n")
    config = TrainConfig(
        "digits",
        labels=LabelsConfig(verdicts=tuple(map(str, paths))),
        method=MethodConfig(method),
    )
    return prepare(config, splits=Splits(images, images))


def labels_of(found: Prepared) -> list[int]:
    return found.train.given_label.tolist()


# Followed: methods that do not learn from verdicts.


def test_relabel_drop_and_keep_are_followed(tmp_path: Path) -> None:
    found = prepared(tmp_path, "0,cat,drop,\n1,cat,relabel,frog\n2,dog,keep,dog")
    assert labels_of(found) == [2, *GIVEN[2:].tolist()]
    assert found.samples is not None
    assert found.samples.tolist() == list(range(1, 100))
    assert found.verdicts is None
    done = "verdicts: 1 samples are relabelled, 1 are left out, 1 keep their label"
    assert done in found.notes


def test_the_other_spelling_is_followed_too(tmp_path: Path) -> None:
    rows = "0,false,\n1,,frog\n2,true,"
    other = prepared(tmp_path, rows, head="index,is_correct,true_label")
    assert labels_of(other) == [2, *GIVEN[2:].tolist()]


def test_nothing_left_out_needs_no_numbers(tmp_path: Path) -> None:
    assert prepared(tmp_path, "1,cat,relabel,frog\n2,dog,keep,dog").samples is None


def test_every_sample_dropped(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="the verdicts drop every sample"):
        prepared(tmp_path, "\n".join(f"{at},,drop," for at in range(100)))


# Several files.


def test_a_later_file_takes_back_what_was_dropped(tmp_path: Path) -> None:
    found = prepared(tmp_path, "0,cat,drop,\n1,cat,drop,\n2,dog,drop,", "0,,keep,\n1,,relabel,dog")
    assert found.samples is not None
    assert found.samples.tolist() == [0, 1, *range(3, 100)]
    assert labels_of(found)[:3] == [0, 1, 1]
    assert "2 verdicts of 1.csv replace those of 0.csv" in found.notes


def test_files_that_agree_replace_nothing(tmp_path: Path) -> None:
    found = prepared(tmp_path, "0,cat,drop,\n1,cat,relabel,dog", "1,cat,relabel,dog\n2,dog,keep,")
    assert not any("replace" in note for note in found.notes)
    assert labels_of(found)[0] == 1


def test_three_files(tmp_path: Path) -> None:
    found = prepared(tmp_path, "0,cat,drop,", "1,cat,drop,", "0,cat,keep,\n1,cat,keep,")
    assert "2 verdicts of 2.csv replace those of earlier files" in found.notes
    assert labels_of(found) == GIVEN.tolist()


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ("2,dog,keep,dog", 1),  # the label as it came
        ("2,frog,keep,frog", 2),  # what the first file has made of it
        ("2,,keep,", 2),
        ("2,frog,relabel,cat", 0),
        ("2,dog,relabel,cat", 0),
    ],
)
def test_a_label_that_was_given_twice(tmp_path: Path, row: str, label: int) -> None:
    found = prepared(tmp_path, "2,dog,relabel,frog", row)
    assert labels_of(found)[:4] == [0, 0, label, 1]


def test_is_correct_is_said_of_the_label_in_the_data(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    first = tmp_path / "first" / "first.csv"
    first.write_text("index,decision,label\n2,relabel,frog\n")
    second = tmp_path / "second.csv"
    second.write_text("index,is_correct,true_label\n2,false,frog\n")
    images = Samples(torch.zeros(100, 1, 8, 8, dtype=torch.uint8), GIVEN, CLASSES)
    labels = LabelsConfig(verdicts=(f"{first}", f"{second}"))
    found = prepare(TrainConfig("digits", labels=labels), splits=Splits(images, images))
    assert labels_of(found)[2] == 2


def test_a_file_of_another_run(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="do the verdicts belong to another run"):
        prepared(tmp_path, "2,dog,relabel,frog", "2,cat,keep,")


# Learned from.


def of_each_kind(right: int, wrong: int) -> str:
    """The first samples are right, the next ones are dropped."""
    keep = [f"{at},,keep," for at in range(right)]
    return "\n".join([*keep, *(f"{right + at},,drop," for at in range(wrong))])


def test_enough_of_both_kinds_are_learned_from(tmp_path: Path) -> None:
    found = prepared(tmp_path, of_each_kind(20, 20))
    assert found.config.method.method == "mentornet-early"
    assert any("to learn from: the method is mentornet-early" in note for note in found.notes)
    assert found.verdicts is not None
    assert found.verdicts.is_correct.tolist() == [True] * 20 + [False] * 20
    assert labels_of(found) == GIVEN.tolist()  # all stay, with their given labels
    assert found.samples is None


@pytest.mark.parametrize(
    ("right", "wrong", "more"),
    [(19, 40, "1 more correct labels"), (40, 17, "3 more wrong labels"),
     (40, 0, "20 more wrong labels"), (16, 18, "4 more correct labels and 2 more wrong labels")],
)  # fmt: skip
def test_with_fewer_the_run_says_how_many_it_takes(
    tmp_path: Path, right: int, wrong: int, more: str
) -> None:
    found = prepared(tmp_path, of_each_kind(right, wrong))
    assert found.config.method.method == "mentornet-early"
    assert found.verdicts is None
    assert len(found.train) == 100 - wrong
    said = f"with verdicts on at least {more} they would be learned from"
    assert any(said in note for note in found.notes)


def test_a_method_that_was_named_stays(tmp_path: Path) -> None:
    found = prepared(tmp_path, of_each_kind(29, 29), method="focal")
    assert found.config.method.method == "focal"
    assert len(found.train) == 71
    assert "focal does not learn from verdicts; the method mentornet-early does" in found.notes
    with pytest.raises(MentorNetError, match="cannot be learned from 8 verified samples"):
        prepared(tmp_path, of_each_kind(4, 4), method="mentornet-dd")
    few = prepared(tmp_path, of_each_kind(10, 1), method="mentornet-dd")
    assert few.verdicts is not None


def test_mentor_bootstrap_follows_what_is_too_little_to_learn_from(tmp_path: Path) -> None:
    assert prepared(tmp_path, of_each_kind(20, 20), method="mentor-bootstrap").verdicts is not None
    few = prepared(tmp_path, of_each_kind(0, 3), method="mentor-bootstrap")
    assert few.verdicts is None
    assert len(few.train) == 97


def test_drawn_verdicts_and_files_join(tmp_path: Path) -> None:
    file = tmp_path / "page.csv"
    drawn = prepare(small("mentornet-dd", clean_count=20)).verdicts
    assert drawn is not None
    three, others = drawn.index[:3].tolist(), set(range(192)) - set(drawn.index.tolist())
    dropped = [*three, *sorted(others)[:5]]
    file.write_text("index,decision\n" + "".join(f"{at},drop\n" for at in dropped))
    both = prepare(small("mentornet-dd", clean_count=20, verdicts=(f"{file}",)))
    assert both.verdicts is not None
    assert len(both.verdicts) == 25
    assert "3 verdicts of page.csv replace those drawn" in both.notes
    gone = both.verdicts.index[both.verdicts.true_label < 0]
    assert gone.tolist() == sorted(dropped)


def test_the_digest_depends_on_verdicts(tmp_path: Path) -> None:
    texts = (of_each_kind(20, 20), of_each_kind(21, 20), of_each_kind(20, 21), of_each_kind(6, 3))
    assert len({prepared(tmp_path, text).digest for text in texts}) == 4


def test_a_run_is_resumed_with_the_method_that_verdicts_chose(tmp_path: Path) -> None:
    """And refused if the verdicts have changed in the meantime."""
    data = prepare(small("full-model")).train
    assert data.true_label is not None
    rows = "".join(f"{at},{data.classes[int(data.true_label[at])]}\n" for at in range(60))
    file = tmp_path / "checked.csv"
    file.write_text(f"index,true_label\n{rows}")
    config = small("mentornet-early", clean_count=None, verdicts=(f"{file}",))
    config = replace(config, method=replace(config.method, method=None))
    whole = train(config, tmp_path / "whole")
    assert whole["method"] == "mentornet-early"
    assert any("by 60 verified samples, " in note for note in whole["notes"])
    interrupted(config, tmp_path / "run", 3)
    resumed = train(config, tmp_path / "run", resume=True)
    assert resumed["accuracy_last"] == whole["accuracy_last"]
    interrupted(config, tmp_path / "other", 3)
    file.write_text(f"index,true_label\n{rows}" + "61,0\n")
    with pytest.raises(MentorNetError, match="verified samples differ"):
        train(config, tmp_path / "other", resume=True)


def test_what_the_page_writes_teaches_a_mentor(tmp_path: Path) -> None:
    """Keep, relabel and drop, as a person presses K, R and D on suspects of digits."""
    data = prepare(small("full-model", limit=None)).train
    assert data.true_label is not None
    lines = ["\ufeffindex,name,given_label,decision,label\r\n"]
    for at in range(0, 400, 2):
        given = data.classes[int(data.given_label[at])]
        right = data.classes[int(data.true_label[at])]
        said = ("keep", given) if given == right else ("drop", "") if at % 4 else ("relabel", right)
        lines.append(f"{at},{at},{given},{said[0]},{said[1]}\r\n")
    file = tmp_path / "decisions.csv"
    file.write_bytes("".join(lines).encode())
    config = small("full-model", limit=None, epochs=8, width=8, verdicts=(f"{file}",))
    config = replace(config, method=MethodConfig())
    made = prepare(config)
    assert made.verdicts is not None
    assert len(made.train) == 1437
    wrong = ~made.verdicts.is_correct
    dropped = made.verdicts.index[wrong & (made.verdicts.true_label < 0)]
    assert (dropped % 4 == 2).all()
    again = verdicts_csv(
        made.verdicts, made.train.given_label[made.verdicts.index].tolist(),
        class_names=data.classes, names=[f"{at}" for at in range(0, 400, 2)],
    )  # fmt: skip
    assert again == "".join(lines).removeprefix("\ufeff").replace("\r\n", "\n")
    summary = train(config)
    assert summary["method"] == "mentornet-early"
    assert any("by 200 verified samples, " in note for note in summary["notes"])
    assert summary["weight_auroc"] > 0.8
