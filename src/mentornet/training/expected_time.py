"""How long a run will take, from one step that is timed before the first."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING

import torch
from torch import nn

from mentornet.data import Batch
from mentornet.randomness import seeded

if TYPE_CHECKING:
    from mentornet.training.trainer import Trainer

__all__ = ["expected_seconds", "in_words", "tell_time"]

_WORTH_TELLING = 60  # seconds


def tell_time(trainer: Trainer) -> None:
    """Tell the observer how long the rest of a run takes, if that is more than a minute.

    Of streamed images, and of several processes, it is not known beforehand.
    """
    if not trainer.processes.alone or trainer.prepared.train.streamed:
        return
    left = trainer.epochs - trainer.epochs_done
    seconds = expected_seconds(
        trainer.module, next(trainer.batches.epoch(0)),
        steps=trainer.total_steps - trainer.steps_done,
        evaluated=len(trainer.prepared.test) * left // trainer.config.optimiser.evaluate_every,
    )  # fmt: skip
    if seconds > _WORTH_TELLING:
        trainer.observer.note(f"this will take about {in_words(seconds)}")


def expected_seconds(student: nn.Module, batch: Batch, *, steps: int, evaluated: int) -> float:
    """Return about how long the steps and the evaluations of a run take.

    A copy of the student takes two steps on a batch, of which the second is timed.

    Args:
        student: the network.
        batch: a batch of the run.
        steps: the number of steps.
        evaluated: the number of samples in all evaluations together.
    """
    twin = copy.deepcopy(student).train()
    with seeded(0):
        for _ in range(2):
            started = time.perf_counter()
            logits = twin(batch.inputs)
            forward = time.perf_counter() - started
            if logits.requires_grad:
                logits.float().logsumexp(-1).mean().backward()
            _wait(logits.device)
            whole = time.perf_counter() - started
    return steps * whole + evaluated / len(batch.inputs) * forward


def in_words(seconds: float) -> str:
    """Return a duration as people say it.

    >>> in_words(100), in_words(3_000), in_words(90_000), in_words(300_000)
    ('2 minutes', '50 minutes', '25 hours', '3 days')
    """
    for unit, size, most in (("minute", 60, 100), ("hour", 3_600, 48), ("day", 86_400, 10**9)):
        count = max(1, round(seconds / size))
        if count <= most:
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return "longer than anybody waits"


def _wait(device: torch.device) -> None:
    """Wait until the device has done all that it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
