"""The verdict on labels, from records of every kind."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from mentornet import MentorLoss, MentorNetError
from mentornet.audit import class_table, cleaning, rank, report, transitions, write_tables
from mentornet.data import load_digits
from mentornet.metrics import auroc
from mentornet.randomness import generator
from mentornet.records import MAX_MARGIN, Records, margins_of, mean_margin


def noisy(count: int = 400, epochs: int = 10, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Every fourth label is wrong: its loss stays high, those of the others fall."""
    draw = np.random.default_rng(seed)
    wrong = np.arange(count) % 4 == 0
    true = draw.integers(0, 5, count)
    given = np.where(wrong, (true + 1 + draw.integers(0, 4, count)) % 5, true)
    falls = np.linspace(2, 0.1, epochs)
    rises = np.linspace(2, 6, epochs)
    loss = np.where(wrong[:, None], rises, falls) * draw.uniform(0.7, 1.3, (count, epochs))
    table = pd.DataFrame(
        {
            "given_label": given, "loss": list(loss), "suggested_label": true,
            "support": draw.uniform(0.5, 1, count),
        }
    )  # fmt: skip
    return table, wrong


def test_wrong_labels_come_first() -> None:
    table, wrong = noisy()
    ranking = rank(table)
    assert wrong[ranking.table["index"].to_numpy()[:100]].all()
    assert (ranking.is_issue == wrong).all()
    assert ranking.wrong.low < 100 < ranking.wrong.high
    assert abs(ranking.wrong.count - 100) <= 2
    assert ((ranking.quality >= 0) & (ranking.quality <= 1)).all()


def test_columns_are_cleanlabs_and_ours() -> None:
    table, _ = noisy()
    table["true_label"] = table["suggested_label"]
    table["path"] = [f"{n}.png" for n in range(len(table))]
    found = rank(table, classes="abcde").table
    assert list(found.columns) == [
        "index", "path", "is_label_issue", "label_quality", "given_label", "predicted_label",
        "predicted_probability", "is_ambiguous", "mean_weight", "learned_epoch", "forgotten",
        "true_label",
    ]  # fmt: skip
    assert set(found["given_label"]) == set("abcde")
    assert found["is_label_issue"].is_monotonic_decreasing


def test_the_noise_rate_can_be_told() -> None:
    table, wrong = noisy()
    ranking = rank(table, noise_rate=0.1, plausible=(0.05, 0.2))
    assert ranking.is_issue.sum() == 40
    assert wrong[ranking.is_issue].all()
    assert (ranking.wrong.count, ranking.wrong.low, ranking.wrong.high) == (40, 20, 80)
    assert not rank(table, noise_rate=0.0).is_issue.any()


@pytest.mark.parametrize(("count", "rate"), [(101, 0.5), (1000, 1e-4), (400, 0.25), (7, 1.0)])
def test_as_many_are_suspect_as_are_thought_wrong(count: int, rate: float) -> None:
    table = pd.DataFrame(
        {
            "given_label": np.zeros(count, int), "margin": np.linspace(-9, -1, count),
            "suggested_label": np.ones(count, int),
        }
    )  # fmt: skip
    found = rank(table, noise_rate=rate)
    assert found.is_issue.sum() == found.wrong.count == round(rate * count)


def test_a_true_class_that_nobody_gives_or_suggests(tmp_path: Path) -> None:
    table, _ = noisy()
    table["true_label"] = 7
    page = report(rank(table), tmp_path)
    assert page.is_file()
    assert "7" in pd.read_csv(tmp_path / "transitions.csv").columns


def test_texts_may_be_a_function_of_the_index(tmp_path: Path) -> None:
    table, _ = noisy()
    table["index"] = np.arange(len(table))[::-1] + 5
    ranking = rank(table)
    page = report(ranking, tmp_path / "a", texts=lambda index: [f"text {n}" for n in index])
    listed = [f"text {n}" for n in ranking.evidence.index]
    assert page.read_text() == report(ranking, tmp_path / "b", texts=listed).read_text()


def test_samples_have_names_by_their_number() -> None:
    table, _ = noisy()
    table["index"] = np.arange(len(table)) + 1
    names = [f"{number}.png" for number in range(len(table) + 1)]
    found = rank(table, paths=names).table
    assert found["path"].tolist() == [f"{index}.png" for index in found["index"]]
    with pytest.raises(MentorNetError, match="paths has 400 names, but there is a sample 400"):
        rank(table, paths=names[:-1])


def test_class_names_that_would_be_formulas(tmp_path: Path) -> None:
    table, _ = noisy()
    classes = ('=HYPERLINK("x")', "+b", "c", "d", "e")
    write_tables(tmp_path, rank(table, classes=classes))
    lines = (tmp_path / "transitions.csv").read_text().splitlines()
    assert lines[0].startswith("true,\"'=HYPERLINK")
    assert lines[2].startswith("'+b,")


def test_a_damaged_table(tmp_path: Path) -> None:
    path = tmp_path / "records.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(MentorNetError, match="cannot be read as a parquet file"):
        rank(path)


def test_near_ties_are_ambiguous_not_wrong() -> None:
    table = pd.DataFrame(
        {
            "given_label": [0, 0, 0, 1], "margin": [0.1, -0.1, -5.0, -5.0],
            "suggested_label": [0, 1, 1, 1], "support": [0.5, 0.5, 0.9, 0.9],
        }
    )  # fmt: skip
    ranking = rank(table, noise_rate=0.75)
    assert ranking.is_ambiguous.tolist() == [True, True, False, True]  # the last: it came to agree
    assert ranking.is_issue.tolist() == [False, False, True, False]


def test_margins_count_by_how_firm_the_student_was() -> None:
    draw, number = generator(2), 40
    margins = torch.randn(number, 4, generator=draw)
    predicted = torch.randint(3, (number, 4), generator=draw)
    predicted[7, 2] = predicted[20, 0] = -1
    losses = torch.ones(number, 4)
    losses[5, 1] = losses[9] = torch.nan
    margins[12, 3] = -torch.inf
    index = [torch.randperm(9, generator=draw)[:4] for _ in range(number)]
    label = torch.zeros(4, dtype=torch.long)
    records = Records(9, labels=True)
    sums, weights, seen, before = [0.0] * 9, [0.0] * 9, [0] * 9, [-1] * 9
    same = met = against_same = against = 0.0
    for step in range(number):
        records.add(index[step], losses[step], None, predicted[step], label, step, margins[step])
        same, met, against_same, against = (
            count * 1000 / 1004 for count in (same, met, against_same, against)
        )
        said = dict(zip(index[step].tolist(), predicted[step].tolist(), strict=True))
        for sample, now in said.items():
            if before[sample] >= 0 and now >= 0:
                met, same = met + 1, same + (now == before[sample])
                if now != 0:
                    against, against_same = against + 1, against_same + (now == before[sample])
            before[sample] = now
        constant = same / (met + 10)
        weight = constant**6 * (against_same + 10 * constant) / (against + 10)
        weight = max(weight, 1e-20)
        for place, sample in enumerate(index[step].tolist()):
            margin = float(margins[step, place])
            if losses[step, place].isfinite() and margin > -math.inf:
                sums[sample] += weight * min(margin, MAX_MARGIN)
                weights[sample] += weight
                seen[sample] += 1
    wanted = [total / weight for total, weight in zip(sums, weights, strict=True)]
    assert rank(records).evidence.margin.tolist() == pytest.approx(wanted, rel=1e-4)
    assert records.seen.tolist() == seen
    assert mean_margin(torch.zeros(1), torch.zeros(1)).isnan().all()


def test_losses_of_epochs_count_by_how_firm_the_student_was() -> None:
    odds = np.array([[-1.0, 2.0, 3.0], [-2.0, -1.0, 2.0], [1.0, 3.0, -1.0], [-1.0, -1.0, -1.0]])
    table = pd.DataFrame({"given_label": [0, 1, 0, 1], "loss": list(np.log1p(np.exp(-odds)))})
    second, third = 3 / 14, 2 / 14  # the share of those as before, ten more counted as not
    weight = np.array(
        [
            1e-20,
            second**6 * (2 + 10 * second) / 12,
            third**6 * (1 + 10 * third) / 12,
        ]
    )
    wanted = (odds * weight).sum(1) / weight.sum()
    assert rank(table).evidence.margin.tolist() == pytest.approx(wanted.tolist(), rel=1e-4)


def test_labels_learned_by_heart_are_still_found() -> None:
    """Of 40 % wrong labels all are preferred in the end, one after another, and yet they show."""
    draw = np.random.default_rng(0)
    wrong = np.arange(500) < 200
    falls = draw.uniform(5, 25, 500)
    epochs = np.arange(40)
    odds = np.where(wrong[:, None], np.where(epochs < falls[:, None], -3.0, 3.0), 2.0)
    odds = odds + draw.normal(0, 1.5, odds.shape)
    table = {"given_label": np.zeros(500, int), "loss": list(np.log1p(np.exp(-odds)))}
    right = torch.from_numpy(~wrong)
    found, plain = (
        auroc(torch.from_numpy(score), right) for score in (rank(table).quality, odds.mean(1))
    )
    assert found > plain + 0.05


def test_margins_are_of_the_given_label_over_the_best_other() -> None:
    logits = torch.randn(50, 7, generator=generator(0))
    label = torch.randint(7, (50,), generator=generator(1))
    wanted = [
        row[y] - max(value for place, value in enumerate(row) if place != y)
        for row, y in zip(logits.tolist(), label.tolist(), strict=True)
    ]
    assert margins_of(logits, label).tolist() == pytest.approx(wanted, abs=1e-6)


def test_samples_that_were_never_seen_are_left_out_and_told() -> None:
    table, _ = noisy()
    losses = list(table["loss"])
    losses[3] = np.full(10, np.nan)
    losses[5] = np.where(np.arange(10) < 5, np.nan, losses[5])
    ranking = rank(table.assign(loss=losses))
    assert ranking.notes == ("1 of 400 samples were never seen, so they are left out",)
    assert 3 not in ranking.table["index"].to_numpy()
    assert np.isfinite(ranking.quality).all()


def test_records_of_a_run_and_of_a_criterion(tmp_path: Path) -> None:
    digits = load_digits().train
    draw = generator(0)
    wrong = torch.rand(len(digits), generator=draw) < 0.3
    shift = torch.randint(1, 10, (len(digits),), generator=draw)
    given = torch.where(wrong, (digits.given_label + shift) % 10, digits.given_label)
    images = digits.tensor.float().flatten(1) / 255
    with torch.random.fork_rng():
        student = torch.nn.Linear(64, 10)
    sgd = torch.optim.SGD(student.parameters(), lr=0.5)
    criterion = MentorLoss(total_steps=300, samples=len(images))
    for _ in range(20):
        for batch in torch.randperm(len(images), generator=draw).split(100):
            loss = criterion(student(images[batch]), given[batch], index=batch)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
    ranking = criterion.audit(classes=digits.classes)
    assert auroc(torch.from_numpy(1 - ranking.quality), wrong) > 0.97
    assert ranking.wrong.low < int(wrong.sum()) < ranking.wrong.high
    page = report(ranking, tmp_path, title="my digits", pictures=lambda i: digits.tensor[i].numpy())
    assert page.is_file()
    with pytest.raises(MentorNetError, match="needs records of every sample: give samples="):
        MentorLoss(total_steps=10).audit()
    with pytest.raises(MentorNetError, match="no sample has been trained on yet"):
        MentorLoss(total_steps=10, samples=5).audit()
    with pytest.raises(MentorNetError, match="do not keep the given labels"):
        rank(Records(5))


def test_classes_and_transitions(tmp_path: Path) -> None:
    table, wrong = noisy()
    ranking = rank(table, classes="abcde")
    classes = class_table(ranking)
    assert classes["suspect"].sum() == wrong.sum()
    assert classes["samples"].sum() == 400
    chances = transitions(ranking)
    assert chances.sum(1) == pytest.approx(np.ones(5))
    assert np.diag(chances) == pytest.approx(np.full(5, 0.75), abs=0.12)
    names = {path.name for path in write_tables(tmp_path, ranking)}
    assert names == {
        "issues.csv", "issues.parquet", "classes.csv", "transitions.csv", "decisions.csv",
    }  # fmt: skip
    back = pd.read_parquet(tmp_path / "issues.parquet")
    assert back["label_quality"].is_monotonic_increasing or back["is_label_issue"].iloc[0]
    assert len(pd.read_csv(tmp_path / "issues.csv")) == 400


def test_suspects_are_dropped_or_relabelled() -> None:
    table, wrong = noisy()
    ranking = rank(table, classes="abcde")
    dropped = cleaning(ranking)
    assert not dropped.is_correct.any()
    assert (dropped.true_label == -1).all()
    assert sorted(dropped.index.tolist()) == np.flatnonzero(wrong).tolist()
    both = cleaning(ranking, relabel=0.75)
    moved = both.rows(both.true_label >= 0)
    assert 0 < len(moved) < len(both)
    truth = table["suggested_label"].to_numpy()
    assert (truth[moved.index.numpy()] == moved.true_label.numpy()).all()
    with pytest.raises(MentorNetError, match=r"relabel must be a probability in \(0, 1\], got 9"):
        cleaning(ranking, relabel=9)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"given_label": None}, "given_label is missing in row 0"),
    ({"given_label": "cat"}, "given_label must be whole numbers, got 'cat'"),
    ({"given_label": 0.5}, "given_label must be whole numbers, got 0.5"),
    ({"support": "high"}, "support must be numbers, got 'high'"),
    ({"given_label": -1}, "given_label must be ≥ 0, got -1"),
    ({"given_label": 5}, "given_label is 5, but there are only 5 classes"),
    ({"loss": 1.0}, ""),
    ({"given_label": pd.NA}, "given_label must be whole numbers, got <NA>"),
    ({"index": 7}, "index 7 is in several rows"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_records(change: dict[str, Any], message: str) -> None:
    table, _ = noisy(20)
    table = table.assign(**{name: [value] * 20 for name, value in change.items()})
    if not message:
        rank(table, classes="abcde")  # one loss a sample is a trajectory of one epoch
        return
    with pytest.raises(MentorNetError, match=re.escape(message)):
        rank(table, classes="abcde")


def test_tables_that_are_none() -> None:
    for table, message in (
        (pd.DataFrame({"loss": [[1.0]]}), "the records need a column given_label; there are loss"),
        (pd.DataFrame({"given_label": [1]}), "the records need a column loss"),
        (pd.DataFrame({"given_label": [], "loss": []}), "the table is empty"),
        (pd.DataFrame({"given_label": [0, 1], "loss": [[1.0], [1.0, 2.0]]}), "as many losses"),
        ({"given_label": [0, 1], "loss": [[1.0]]}, "loss has 1 rows, but given_label has 2"),
        (pd.DataFrame({"given_label": [0], "loss": [[np.nan]]}), "no sample has a finite loss"),
    ):
        with pytest.raises(MentorNetError, match=message):
            rank(table)
    with pytest.raises(MentorNetError, match=r"noise_rate must be in \[0, 1\], got 2"):
        rank(noisy()[0], noise_rate=2)
    with pytest.raises(MentorNetError, match="plausible must be two rising shares"):
        rank(noisy()[0], noise_rate=0.2, plausible=(0.9, 0.1))


def test_where_margins_are_one_heap_nothing_is_wrong() -> None:
    draw = np.random.default_rng(0)
    for margins in (draw.uniform(-3, 3, 500), draw.normal(2, 1, 500)):
        ranking = rank({"given_label": [0, 1] * 250, "margin": margins})
        assert ranking.wrong.count == 0
        assert not ranking.is_issue.any()
