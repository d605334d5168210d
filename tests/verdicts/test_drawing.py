"""Verdicts that are drawn where the truth is known."""

from __future__ import annotations

import pytest
import torch

from mentornet.errors import MentorNetError
from mentornet.verdicts import draw_verdicts

GIVEN = torch.tensor([0, 1, 2, 0, 1, 2])
TRUE = torch.tensor([0, 1, 2, 1, 2, 0])


def test_what_is_drawn_has_its_true_labels() -> None:
    found = draw_verdicts(GIVEN, TRUE, 5, seed=1)
    assert len(set(found.index.tolist())) == 5
    assert found.index.tolist() == sorted(found.index.tolist())
    assert found.is_correct.tolist() == [bool(GIVEN[at] == TRUE[at]) for at in found.index]
    assert found.true_label.tolist() == [int(TRUE[at]) for at in found.index]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(MentorNetError, match="clean_count is 7, but there are 6 samples"):
        draw_verdicts(GIVEN, TRUE, 7, seed=1)
    with pytest.raises(MentorNetError, match="clean_count needs true labels"):
        draw_verdicts(GIVEN, None, 5, seed=1)
