"""The length of a run, and the learning rate at every step."""

from __future__ import annotations

import math

from mentornet.config import OptimiserConfig

__all__ = ["learning_rate", "run_length"]


def learning_rate(config: OptimiserConfig, step: int, total_steps: int) -> float:
    """Return the learning rate α_t of step t = 0 … total_steps − 1.

    The rate rises linearly during the warm-up and then falls along the schedule. The schedule
    `steps` divides it by ten at each of the config's `drops`, which are shares of training.

    >>> config = OptimiserConfig(learning_rate=0.1, schedule="steps", warm_up=0, drops=(0.5,))
    >>> [round(learning_rate(config, step, 4), 3) for step in range(4)]
    [0.1, 0.1, 0.01, 0.01]
    """
    assert config.learning_rate is not None
    assert config.schedule is not None
    assert config.warm_up is not None
    warm = config.warm_up * total_steps
    if step < warm:
        return config.learning_rate * min(1.0, (step + 1) / warm)
    if config.schedule == "steps":
        passed = sum(step >= round(share * total_steps) for share in config.drops or ())
        return config.learning_rate * 0.1**passed
    done = (step - warm) / max(1.0, total_steps - warm)
    falls = {"cosine": (1 + math.cos(math.pi * done)) / 2, "linear": 1 - done, "constant": 1.0}
    return config.learning_rate * falls[config.schedule]


def run_length(config: OptimiserConfig, steps: int) -> tuple[int, int]:
    """Return the number of epochs (the last may be shorter) and of steps; `steps` per epoch.

    >>> run_length(OptimiserConfig(steps=25), 10)
    (3, 25)
    """
    if config.steps is not None:
        return -(-config.steps // steps), config.steps
    assert config.epochs is not None
    return config.epochs, config.epochs * steps
