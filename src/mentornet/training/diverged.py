"""The error of a run whose loss has become NaN or infinite, and what may help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mentornet.config import TrainConfig
from mentornet.errors import MentorNetError

__all__ = ["DivergedError"]


class DivergedError(MentorNetError):
    """The loss has become NaN or infinite."""

    @classmethod
    def at(
        cls, step: int, total_steps: int, checkpoints: Sequence[Path], config: TrainConfig
    ) -> DivergedError:
        """Return the error of a run of that config.

        Args:
            step: the first step whose loss is not finite.
            total_steps: the number of steps of the run.
            checkpoints: the checkpoints so far.
            config: the config of the run.
        """
        good = "there is no checkpoint yet"
        if checkpoints:
            good = f"the last good checkpoint is {checkpoints[-1]}"
        advice = f"Try a learning_rate below {config.optimiser.learning_rate:g}"
        machine = config.machine
        doubtful = [f"compile={machine.compile}"] if machine.compile == "on" else []
        if machine.precision == "bf16":
            doubtful.append(f"precision={machine.precision}")
        if doubtful:
            advice += (
                f", or leave out {' or '.join(doubtful)}, which some processors compute wrongly"
            )
        return cls(f"the loss is NaN or infinite at step {step} of {total_steps}; {good}. {advice}")
