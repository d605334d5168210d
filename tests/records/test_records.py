"""What is remembered of every sample."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from mentornet import MentorLoss
from mentornet.randomness import generator
from mentornet.records import Records, Steady, columns_of


def follow(sequence: list[int], classes: int | None = None) -> Records:
    records = Records(1, classes=classes)
    for epoch, predicted in enumerate(sequence):
        label = torch.tensor([predicted])
        records.add(torch.tensor([0]), torch.ones(1), None, label, torch.tensor([0]), epoch)
    return records


def column(records: Records, name: str) -> list[float]:
    return columns_of(records.state_dict())[name].tolist()


def suggested(records: Records) -> float:
    return column(records, "suggested_label")[0]


def moving_average(sequence: list[int], late: float = 0.2) -> dict[int, float]:
    """The share of each class among late predictions, with all classes remembered."""
    shares: Counter[int] = Counter()
    for predicted in sequence:
        for name in shares:
            shares[name] *= 1 - late  # type: ignore[assignment]
        shares[predicted] += late  # type: ignore[assignment]
    whole = 1 - (1 - late) ** len(sequence)
    return {name: share / whole for name, share in shares.items()}


@pytest.mark.parametrize(
    "sequence",
    [[1] * 20 + [2] * 10, [1, 2], [1, 2, 2, 2], [1] * 8, [1, 2] * 6, [3, 1, 1, 3, 1, 1, 1]],
)
def test_the_suggested_label_is_what_was_predicted_most_often_of_late(sequence: list[int]) -> None:
    records, wanted = follow(sequence), moving_average(sequence)
    best = max(wanted, key=lambda name: wanted[name])
    assert suggested(records) == best
    assert column(records, "support") == [pytest.approx(wanted[best], abs=2e-3)]


def test_among_many_classes_it_is_nearly_so() -> None:
    draw = generator(0)
    right = 0
    for _ in range(100):
        sequence = torch.where(
            torch.rand(30, generator=draw) < 0.5, 7, torch.randint(10, (30,), generator=draw)
        ).tolist()
        wanted = moving_average(sequence)
        right += suggested(follow(sequence)) == max(wanted, key=lambda n: wanted[n])
    assert right >= 90


def test_who_predicts_nothing_has_no_vote() -> None:
    records = follow([-1, -1])
    assert suggested(records) == -1
    assert suggested(follow([1, -1, 1])) == 1


def test_bytes_of_a_sample() -> None:
    assert Records(100, classes=1000).bytes_per_sample == 37
    assert Records(100).votes.dtype == torch.int32  # any number of classes


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_criterion_that_is_cast_goes_on(dtype: torch.dtype) -> None:
    criterion = MentorLoss(total_steps=10, samples=8).to(dtype)
    logits = torch.randn(4, 3, generator=generator(0)).to(dtype)
    for _ in range(3):
        criterion(logits, torch.tensor([0, 1, 2, 0]), index=torch.arange(4))
    assert criterion.records is not None
    assert criterion.records.seen.tolist() == [3] * 4 + [0] * 4
    assert len(criterion.audit().quality) == 4


def test_images_of_labels_have_no_label_to_suggest() -> None:
    criterion = MentorLoss(total_steps=10, samples=4)
    logits = torch.randn(4, 3, 5, 5, generator=generator(0))
    labels = torch.randint(3, (4, 5, 5), generator=generator(1))
    criterion(logits, labels, index=torch.arange(4))
    table = criterion.audit(classes=("a", "b", "c")).table
    assert (table["predicted_label"] == "").all()
    assert table["predicted_probability"].isna().all()


def test_on_whom_the_student_is_of_one_mind() -> None:
    records = Records(6, labels=True)
    everyone, given = torch.arange(4), torch.tensor([0, 1, 2, 3])
    for epoch in range(20):
        wavers = epoch % 2
        predicted = torch.tensor([0, 5, wavers, -1])  # right, against, torn, nothing
        records.add(everyone, torch.ones(4), None, predicted, given, epoch)
    once = torch.tensor([7])
    records.add(torch.tensor([4]), torch.ones(1), None, once, once, 20)
    assert records.steady() == Steady(count=2, share=0.5, against=0.5)  # no class of the fourth


def test_nobody_is_of_one_mind_before_anything_was_seen() -> None:
    assert Records(3, labels=True).steady() == Steady(0, 0.0, 0.0)


def test_looks_are_counted_up_to_what_is_held() -> None:
    records = follow([0, 0])
    records.seen[:] = 2**15 - 2
    for epoch in range(3):
        label = torch.zeros(1).long()
        records.add(torch.tensor([0]), torch.ones(1), None, label, label, epoch)
    assert records.seen.tolist() == [2**15 - 1]


def test_the_mean_weight_is_over_the_times_a_sample_was_seen() -> None:
    records = Records(3)
    for weights in ([1.0, 0.5], [0.0, 0.5]):
        label = torch.zeros(2).long()
        records.add(torch.arange(2), torch.ones(2), torch.tensor(weights), label, label, 0)
    assert column(records, "mean_weight") == [0.5, 0.5, 0.0]
