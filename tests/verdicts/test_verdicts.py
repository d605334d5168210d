"""The type of verdicts: joined, counted, checked."""

from __future__ import annotations

import pytest
import torch

from mentornet.errors import MentorNetError
from mentornet.verdicts import Verdicts

GIVEN = torch.arange(20) % 3


def test_without_true_labels_none_is_known() -> None:
    found = Verdicts(torch.tensor([1, 4]), torch.tensor([True, False]))
    assert found.true_label.tolist() == [-1, -1]
    assert found.to("cpu").rows(torch.tensor([False, True])).true_label.tolist() == [-1]


def test_the_later_verdict_holds() -> None:
    first = Verdicts.of({2: 2, 5: -1, 7: 1, 9: 2}, GIVEN)
    later = Verdicts.of({9: 2, 5: 2, 7: -1, 1: 0}, GIVEN)
    joined, replaced = first.followed_by(later)
    expected = {1: 0, 2: 2, 5: 2, 7: -1, 9: 2}
    assert joined.index.tolist() == list(expected)
    assert joined.true_label.tolist() == list(expected.values())
    assert joined.is_correct.tolist() == [int(GIVEN[at]) == expected[at] for at in expected]
    assert replaced == 2  # of sample 9 both say the same
    nothing = Verdicts.of({}, GIVEN)
    for one, other in ((first, nothing), (nothing, first)):
        joined, replaced = one.followed_by(other)
        assert (joined.index.tolist(), replaced) == (first.index.tolist(), 0)


def test_how_many_more_it_takes() -> None:
    found = Verdicts(torch.arange(50), torch.arange(50) < 17)
    assert found.missing == (3, 0)
    assert found.rows(torch.arange(50) < 18).missing == (3, 19)
    assert Verdicts(torch.arange(40), torch.arange(40) < 20).missing == (0, 0)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Verdicts(torch.arange(9), torch.ones(9) > 0), "from 9 verified samples; give at least 10"),
        (Verdicts(torch.arange(12), torch.ones(9) > 0), "one verdict a verified sample"),
        (Verdicts(torch.arange(12), torch.ones(12)), "must be boolean, got torch.float32"),
        (Verdicts(torch.arange(12), torch.ones(12) > 0, torch.ones(9)), "one label a verified"),
        (Verdicts(torch.arange(21), torch.ones(21) > 0), "sample 20 is not one of the 20"),
        (Verdicts(torch.arange(12) // 2, torch.ones(12) > 0), "sample 0 is listed twice"),
        (Verdicts(torch.arange(12), torch.ones(12) < 0), "all 12 verified labels are wrong"),
    ],
)
def test_what_a_mentor_cannot_learn_from(found: Verdicts, message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        found.check(20)
