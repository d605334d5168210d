"""What is switched on by itself, and what a machine that cannot do it makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from mentornet.config import MachineConfig, OptimiserConfig, TrainConfig
from mentornet.training import DivergedError, speed
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


class _Spoilt(torch.autograd.Function):
    """The identity, with a gradient of NaN: what bf16 compiled becomes on some processors."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:
        return values.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * torch.nan


class Miscalculating(nn.Module):
    """A student with right outputs and wrong gradients."""

    def __init__(self, channels: int = 1, classes: int = 10) -> None:
        super().__init__()
        self.classify = nn.Linear(channels, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = _Spoilt.apply(self.classify(images.mean((2, 3))))
        return logits


def test_a_way_whose_gradients_are_not_finite_is_not_taken() -> None:
    wrong = replace(TINY, student="tests.training.test_speed:Miscalculating", sizes={})
    assert images_per_second(wrong) is None


def test_divergence_names_the_settings_that_may_be_at_fault() -> None:
    config = TrainConfig("digits", machine=MachineConfig("cpu", precision="bf16", compile="on"))
    config = replace(config, optimiser=OptimiserConfig(learning_rate=0.2))
    said = f"{DivergedError.at(1, 36, [], config)}"
    assert "learning_rate below 0.2, or leave out compile=on or precision=bf16" in said
    plain = replace(config, machine=MachineConfig("cpu", precision="32", compile="off"))
    assert f"{DivergedError.at(1, 36, [], plain)}".endswith("below 0.2")


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
