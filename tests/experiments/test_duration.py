"""How long runs will take: every table can be asked, and none takes long to answer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mentornet.config import TrainConfig
from mentornet.experiments import duration
from mentornet.experiments.catalogue import TABLES, find_table
from mentornet.experiments.cells import Scale
from mentornet.experiments.fits import Fit, FitSettings
from mentornet.students import make_student
from tests.experiments.tables import tiny

TRAINED = [name for name in TABLES if name != "table6"]


@pytest.mark.parametrize("scale", ["small", "paper"])
@pytest.mark.parametrize("name", TRAINED)
def test_every_table_has_an_estimate(
    name: str, scale: Scale, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[tuple[Any, ...]] = []

    def step(config: TrainConfig, batch: int) -> float:
        timed.append((config, batch))
        return 1.0

    monkeypatch.setattr(duration, "_time_step", step)
    runs = list(find_table(name, scale).runs(1))
    assert duration.Clock().minutes(runs) > len(runs) * 100 / 60
    assert len(timed) <= 40  # methods × students: not once for each candidate that is tuned over
    assert {batch for _, batch in timed} == {4}  # a second for four images: nobody waits for 128


def test_a_step_of_a_verified_run_is_timed() -> None:
    config = next(
        cell.run.config
        for cell in find_table("table5", "small").cells
        if cell.run.config.labels.verdicts
    )
    assert 0 < duration._time_step(config, 4) < 60


def test_trials_are_counted() -> None:
    run = next(run for run in tiny().runs() if run.tuning)
    clock = duration.Clock()
    alone = clock.minutes([run.untuned()])
    assert clock.minutes([run]) > 1.5 * alone  # two trials of an epoch beside two epochs
    assert clock.minutes([run, run.with_seed(1)]) < 3.5 * alone  # tuned once


def test_a_fit_of_each_architecture_is_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    timed: list[str] = []

    def fit(job: Fit, steps: int) -> float:
        timed.append(job.config.arch)
        return 0.01 * steps

    monkeypatch.setattr(duration, "_time_fit", fit)
    table = find_table("table6", "paper")
    fits = 32 * (3 + 5)  # three learning rates, then five seeds
    assert duration.Clock().minutes(table.runs()) == pytest.approx(fits * 60 / 60)
    assert len(timed) == 2 * 5


def test_a_short_fit_is_timed() -> None:
    fit = Fit(FitSettings("linear", "mlp", samples=300))
    assert 0 < duration._time_fit(fit, 10) < 60


def test_operations_of_a_student_are_those_of_its_layers() -> None:
    """Convolutions and linear layers, counted layer by layer; nothing else is of any weight."""
    run = next(
        cell.run for cell in find_table("table2", "paper").cells if "inception" in cell.column
    )
    config, total = run.config, 0

    def add(layer: nn.Module, inputs: tuple[Tensor, ...], outputs: Tensor) -> None:
        nonlocal total
        assert isinstance(layer, nn.Conv2d | nn.Linear)
        each = layer.weight[0].numel()  # products for one value of the result
        total += 2 * each * outputs[0].numel()

    student = make_student("inception", channels=3, classes=100)
    for layer in student.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.register_forward_hook(add)
    student.eval()(torch.zeros(1, 3, 32, 32))
    seconds = 3 * 128 * total / duration.GPU_RATE
    assert duration.counted_step(config) == pytest.approx(seconds)
    steps = 120_000
    assert duration.Clock(duration.counted_step).minutes([run.untuned()]) == pytest.approx(
        steps * seconds / 60
    )
