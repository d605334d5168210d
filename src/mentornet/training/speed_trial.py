"""Time one way to run a student. `speed` starts this in its own process, which may crash."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import torch
from lightning_fabric import Fabric

from mentornet.errors import MentorNetError
from mentornet.students import initialised, make_student
from mentornet.training.speed import Trial

__all__ = ["time_trial"]


def time_trial(trial: Trial) -> float:
    """Return images per second over a few steps, after two steps of warm-up.

    Raise if the first gradient is not finite: some processors compute some compiled code wrongly.
    """
    precision: Any = "bf16-mixed" if trial.precision == "bf16" else "32-true"
    fabric = Fabric(accelerator=trial.accelerator, devices=1, precision=precision)
    student: Any = make_student(
        trial.student, channels=trial.channels, classes=trial.classes, **trial.sizes
    )
    student = initialised(student, (trial.channels, trial.height, trial.width))
    shape = trial.batch_size, trial.channels, trial.height, trial.width
    images = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    if trial.channels_last:
        student = student.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    trained = [part for part in student.parameters() if part.requires_grad]
    nothing = [torch.nn.Parameter(torch.zeros(()))]
    sgd = torch.optim.SGD(trained or nothing, lr=0.0, momentum=0.9)
    runnable: Any = torch.compile(student) if trial.compile else student
    student, optimiser = fabric.setup(runnable, sgd)
    images = fabric.to_device(images)
    label = torch.zeros(trial.batch_size, dtype=torch.long, device=fabric.device)
    for step in range(2 + trial.steps):
        if step == 2:
            started = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(student(images), label)
        optimiser.zero_grad()
        if trained:
            fabric.backward(loss)
        if step == 0:
            _check_gradients(trained)
        optimiser.step()
        loss.item()  # waits for the device
    return trial.steps * trial.batch_size / (time.perf_counter() - started)


def _check_gradients(parameters: list[torch.nn.Parameter]) -> None:
    for parameter in parameters:
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            raise MentorNetError("a gradient is NaN or infinite")


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    print(time_trial(Trial(**json.loads(sys.argv[1]))))
