"""What is switched on by itself, and what a machine that cannot do it makes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from mentornet.config import MachineConfig
from mentornet.training import speed
from mentornet.training.speed import Trial, choose_machine, images_per_second
from tests.training.runs import prepared

TINY = Trial(
    "small-cnn", {"width": 4}, channels=1, height=8, width=8, classes=10, batch_size=8,
    accelerator="cpu",
)  # fmt: skip


def crashes(channels: int, classes: int) -> nn.Module:
    """A student that kills its process, as some machines do on bf16."""
    import os
    import signal

    os.kill(os.getpid(), signal.SIGILL)
    return nn.Linear(channels, classes)


def test_a_trial_is_timed_in_a_process_of_its_own() -> None:
    speed_found = images_per_second(TINY)
    assert speed_found is not None
    assert speed_found > 0


def test_a_way_that_kills_the_process_is_not_taken() -> None:
    deadly = replace(TINY, student="tests.training.test_speed:crashes", sizes={})
    assert images_per_second(deadly) is None


def test_a_short_run_is_not_worth_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "images_per_second", lambda _: pytest.fail("no trial was due"))
    machine = choose_machine(prepared())
    assert (machine.precision, machine.channels_last, machine.compile) == ("32", "on", "off")


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ({("32", False): 1.0, ("bf16", False): 2.0, ("32", True): 3.0}, ("32", "on")),
        ({("32", False): 1.0, ("bf16", False): 2.0}, ("bf16", "off")),
        ({("32", False): 1.0, ("bf16", True): 0.5}, ("32", "off")),
        ({("bf16", True): 9.0}, ("bf16", "on")),
        ({}, ("32", "off")),
    ],
)
def test_a_long_run_takes_the_fastest_way_that_lives(
    speeds: dict[tuple[str, bool], float],
    expected: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speed, "WORTH_A_TRIAL", 0.0)
    monkeypatch.setattr(
        speed,
        "images_per_second",
        lambda trial: speeds.get((trial.precision, trial.compile)) if trial.channels_last else 0.1,
    )
    machine = choose_machine(prepared())
    assert (machine.precision, machine.compile) == expected
    assert machine.channels_last == ("on" if speeds else "off")  # all others died


def test_what_the_user_said_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "WORTH_A_TRIAL", 0.0)
    monkeypatch.setattr(speed, "images_per_second", lambda trial: float(trial.compile))
    asked = MachineConfig("cpu", precision="32", channels_last="off", compile="auto")
    start = prepared()
    start = replace(start, config=replace(start.config, machine=asked))
    assert choose_machine(start) == replace(asked, compile="on")
    asked = replace(asked, compile="off")
    start = replace(start, config=replace(start.config, machine=asked))
    assert choose_machine(start) == asked


def test_bf16_autocast_reaches_the_student() -> None:
    """Eager convolutions of bf16 work where the CPU's matrix unit does not; logits stay float32."""
    from mentornet.training import Trainer

    trainer = Trainer(prepared("mentornet-pd", precision="bf16", student="fast", epochs=1))
    seen: list[torch.dtype] = []
    block = trainer.module.get_submodule("stem")
    block.register_forward_hook(lambda _, __, output: seen.append(output.dtype))
    summary = trainer.fit()
    assert seen[0] == torch.bfloat16
    assert 0 <= summary["accuracy_last"] <= 1
    assert trainer.records.loss.isfinite().all()
