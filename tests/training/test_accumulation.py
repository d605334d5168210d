"""A batch worked through in parts gives what the whole batch gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.randomness import seeded
from mentornet.training import Trainer, train
from tests.processes import run_ranks
from tests.training.runs import outcome, prepared, small
from tests.training.sharing import SETTINGS, config

NORMLESS = "tests.training.sharing:Normless"


@pytest.mark.parametrize("method", list(SETTINGS))
def test_parts_equal_the_whole(method: str, tmp_path: Path) -> None:
    """100 steps, mentors learned on the way; parts of 11 and 10."""
    for folder, parts in (("whole", None), ("parts", 3)):
        train(config(method, student=NORMLESS, accumulate=parts), tmp_path / folder)
    (weights, records), (same, too) = (outcome(tmp_path / name) for name in ("whole", "parts"))
    for name in weights:
        assert torch.allclose(weights[name], same[name], atol=1e-5), name
    for column in ("last_weight", "margin", "support"):
        assert np.allclose(records[column], too[column], atol=1e-4), column
    assert np.allclose(np.stack(records["loss"]), np.stack(too["loss"]), atol=1e-4)
    assert (records["predicted_label"] == too["predicted_label"]).all()


def in_parts(out: str) -> None:
    """Several processes share the batches, and each works through its share in two parts."""
    train(config("mentornet-pd", student=NORMLESS, accumulate=2), out)


def test_two_processes_in_parts_equal_one(tmp_path: Path) -> None:
    for code, told in run_ranks(tmp_path, in_parts, f"{tmp_path}/two"):
        assert code == 0, told[-3000:]
    train(config("mentornet-pd", student=NORMLESS), tmp_path / "one")
    weights, same = (outcome(tmp_path / name)[0] for name in ("one", "two"))
    for name in weights:
        assert torch.allclose(weights[name], same[name], atol=1e-5), name


class Counting(nn.Module):
    """Remembers how many images it has seen, and drops some of what it sees."""

    seen: Tensor

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.classify = nn.Linear(channels * 64, classes)
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))
        self.told: list[Tensor] = []

    def forward(self, images: Tensor) -> Tensor:
        if self.training:
            self.seen += len(images)
        logits: Tensor = self.classify(nn.functional.dropout(images.flatten(1), 0.5, self.training))
        self.told.append(logits.detach())
        return logits


@pytest.mark.parametrize(("method", "looks"), [("mentornet-pd", 2), ("full-model", 1)])
def test_both_looks_see_the_same_and_count_once(method: str, looks: int) -> None:
    """Dropout draws alike in both; running averages move once. Unweighed, one look does."""
    start = prepared(method, student="tests.training.test_accumulation:Counting", width=None)
    optimiser = replace(start.config.optimiser, accumulate=4)
    trainer = Trainer(replace(start, config=replace(start.config, optimiser=optimiser)))
    student = trainer.module
    assert isinstance(student, Counting)
    trainer.student.train()
    student.told.clear()
    before = int(student.seen)
    with seeded(0):
        trainer.step(next(trainer.batches.epoch(0)), 0)
    assert student.seen == before + 32
    assert [len(part) for part in student.told] == [8] * 4 * looks
    if looks == 2:
        assert torch.equal(torch.cat(student.told[:4]), torch.cat(student.told[4:]))


@pytest.mark.parametrize("method", ["co-teaching", "mentormix", "mentor-bootstrap"])
def test_a_method_that_needs_the_whole_batch_says_so(method: str, tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=f"{method} needs each batch as a whole; leave out"):
        train(small(method, accumulate=2), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_batch_too_small_for_its_parts(tmp_path: Path) -> None:
    message = "accumulated from 17 parts: it must be at least 34, got batches of 32"
    with pytest.raises(MentorNetError, match=message):
        train(small(accumulate=17), tmp_path / "run")
    with pytest.raises(MentorNetError, match="accumulate must be ≥ 1, got 0"):
        small(accumulate=0)
