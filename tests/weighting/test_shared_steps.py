"""`MentorLoss` in somebody's own DDP loop: what one process with the whole batch would do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mentornet import MentorLoss, MentorNetError
from mentornet.distributed import Processes
from tests.processes import run_ranks
from tests.weighting import loops


@pytest.mark.parametrize(
    ("loop", "main"),
    [
        (loops.loop, loops.main),
        (loops.tagging_loop, loops.tag),
        (loops.early_loop, loops.judge),
    ],
)
def test_two_processes_equal_one(
    tmp_path: Path, loop: Callable[[], dict[str, Any]], main: Callable[[str], None]
) -> None:
    for code, told in run_ranks(tmp_path, main, f"{tmp_path}/found"):
        assert code == 0, told[-3000:]
    one = loop()
    assert len(one["notes"]) == (2 if loop is loops.loop else 0)  # mentors were learned on the way
    for rank in range(2):
        two = torch.load(tmp_path / f"found-{rank}", weights_only=True)
        assert two["notes"] == one["notes"]
        for part, close in (("student", 1e-5), ("criterion", 1e-4)):
            assert two[part].keys() == one[part].keys()
            for name, value in one[part].items():
                same = torch.allclose(
                    value.float(), two[part][name].float(), atol=close, equal_nan=True
                )
                assert same, (rank, name)


def uneven() -> None:
    processes = Processes.join()
    logits = torch.zeros(4 + processes.rank, 3, requires_grad=True)
    MentorLoss(total_steps=9)(logits, torch.zeros(4 + processes.rank, dtype=torch.long))


def test_batches_of_other_sizes_are_refused_by_all(tmp_path: Path) -> None:
    ended = run_ranks(tmp_path, uneven)
    assert len(ended) == 2
    for code, told in ended:
        assert code != 0
        assert "the processes have batches of [4, 5] samples" in told


def test_auto_drops_nothing_at_random() -> None:
    with pytest.raises(MentorNetError, match=r"'auto' drops no samples, got burn_in_drop=0\.5"):
        MentorLoss(total_steps=9, burn_in_drop=0.5)


def test_without_logits_burn_in_lasts_as_long_as_it_was_told_to() -> None:
    """Where only losses are known, nothing can stand out early."""
    criterion = MentorLoss(total_steps=100, burn_in=0.5)
    losses = torch.cat([torch.full((8,), 0.1), torch.full((8,), 5.0)])
    for _ in range(50):
        assert (criterion.weigh(losses) == 1).all()
    for _ in range(30):
        weights = criterion.weigh(losses)
    assert weights[8:].max() < 1


def test_records_keep_the_weights_from_the_moment_auto_begins() -> None:
    """Wrong labels that stand out are left out before burn-in ends, and the records say so."""
    criterion = MentorLoss(total_steps=100, burn_in=0.5, samples=40)
    truth = torch.arange(40) % 4
    given = torch.where(torch.arange(40) < 12, (truth + 1) % 4, truth)
    logits = (8.0 * torch.nn.functional.one_hot(truth, 4)).requires_grad_()
    for _ in range(20):
        criterion(logits, given, index=torch.arange(40))
    assert criterion.weights[:12].max() < 0.5
    assert criterion.records is not None
    assert torch.equal(criterion.records.weight, criterion.weights)
