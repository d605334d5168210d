"""How long a run will take is said before it begins, and changes nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from torch import nn

from mentornet.data import Batch
from mentornet.training import Observer, train
from mentornet.training import expected_time as module
from mentornet.training.expected_time import expected_seconds
from tests.training.runs import assert_same_outcome, small


class _Slow(nn.Module):
    """Takes a hundredth of a second forward, as it says on its own clock."""

    def __init__(self, clock: list[float]) -> None:
        super().__init__()
        self.layer, self.clock = nn.Linear(4, 2), clock

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self.clock[0] += 0.01
        logits: torch.Tensor = self.layer(inputs)
        logits.register_hook(self._back)
        return logits

    def _back(self, gradient: torch.Tensor) -> None:
        self.clock[0] += 0.02

    def __deepcopy__(self, _: object) -> _Slow:
        return self


def test_steps_and_evaluations_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    with torch.random.fork_rng():
        student = _Slow(clock)
    batch = Batch(torch.arange(5), torch.zeros(5, 4), torch.zeros(5, dtype=torch.long))
    found = expected_seconds(student, batch, steps=100, evaluated=50)
    assert found == pytest.approx(100 * 0.03 + 50 / 5 * 0.01)


class _Impatient(Observer):
    wants_time = True

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_a_run_is_the_same_with_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WORTH_TELLING", 0.0)
    observer = _Impatient()
    train(small(epochs=1), tmp_path / "told", observer=observer)
    train(small(epochs=1), tmp_path / "not")
    assert "this will take about 1 minute" in observer.notes
    assert_same_outcome(tmp_path / "told", tmp_path / "not")
