"""Paper scale is exact: the resolved settings against a list of App. E's facts, typed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from mentornet.config import FilesConfig, TrainConfig
from mentornet.data import Samples, Splits
from mentornet.experiments.cells import Cell
from mentornet.experiments.large_tables import table4
from mentornet.experiments.paper_tables import table1, table2, table3
from mentornet.mentors.store import load_mentor
from mentornet.methods import make_method
from mentornet.methods.settings import parse_settings
from mentornet.methods.weighted import WeightingMethod
from mentornet.training import Trainer, prepare
from mentornet.training.schedules import learning_rate

FACTS: dict[str, dict[str, Any]] = {
    "resnet101": {
        "steps": 39_000, "drops at": (19_500, 25_000, 30_000), "weight decay": 2e-4, "keep": 1.0,
    },
    "inception": {"steps": 120_000, "drops at": (78_000,), "weight decay": 4e-3, "keep": 0.5},
}  # fmt: skip
TRIED: dict[str, tuple[str, list[float]]] = {
    "forgetting": ("dropout", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
    "self-paced": ("percentile", [0.5, 0.6, 0.75]),
    "focal": ("gamma", [1, 2, 3]),
    "reed-soft": ("beta", [0.7, 0.8, 0.9, 0.95]),
    "reed-hard": ("beta", [0.7, 0.8, 0.9, 0.95]),
}


def every_cell() -> list[Cell]:
    """Those on CIFAR."""
    cells = [cell for table in (table1, table2, table3) for cell in table("paper").cells]
    return [cell for cell in cells if cell.run.config.data != "imagenet"]


def test_how_many_there_are() -> None:
    assert [len(table("paper").cells) for table in (table1, table2, table3)] == [15, 84, 8]
    assert len(every_cell()) == 104


@pytest.mark.parametrize("cell", every_cell(), ids=lambda cell: f"{cell.row}, {cell.column}")
def test_the_settings_of_appendix_e(cell: Cell) -> None:
    config = cell.run.config
    optimiser, student = config.optimiser, config.student.student
    assert student is not None
    facts = FACTS[student]
    assert optimiser.steps == facts["steps"]
    assert optimiser.batch_size == 128
    assert optimiser.momentum == 0.9
    assert not optimiser.nesterov
    assert optimiser.weight_decay == facts["weight decay"]
    assert optimiser.augment
    assert optimiser.padding == 4
    before = 0.1
    for drop in facts["drops at"]:
        assert learning_rate(optimiser, drop - 1, facts["steps"]) == pytest.approx(before)
        before /= 10
        assert learning_rate(optimiser, drop, facts["steps"]) == pytest.approx(before)
    assert learning_rate(optimiser, 0, facts["steps"]) == 0.1
    assert config.files == FilesConfig()  # all images
    method = config.method.method
    if method == "forgetting":
        assert config.student.dropout is None
    else:
        assert config.student.dropout == pytest.approx(1 - facts["keep"])


@pytest.mark.parametrize("cell", every_cell(), ids=lambda cell: f"{cell.row}, {cell.column}")
def test_the_methods_of_appendix_e(cell: Cell) -> None:
    config, tuning = cell.run.config, cell.run.tuning
    name = config.method.method
    assert name is not None
    settings = parse_settings(config.method.set)
    method = make_method(name, **settings)
    if isinstance(method, WeightingMethod):
        assert method.decay == 0.95
        assert method.burn_in == 0.2
        assert method.burn_in_drop == 0.5
        assert method.percentile == 0.75
        assert method.smoothing == method.sharpness == 0
    if name == "mentornet-dd":
        assert method.settings["updates"] == (0.21, 0.75)
        assert method.settings["teaches_verified"] is False
        if config.data == "cifar10":
            assert config.labels.clean_count == 5_000
            assert method.settings["reads_label"] is True
        else:
            rate = round(100 * float((config.labels.noise or "").rpartition(":")[2]))
            assert settings["mentor"] == f"dd-cifar10-{rate}"
            assert method.settings["mentor_classes"] == 0
            load_mentor(f"dd-cifar10-{rate}")
            assert config.labels.clean_count is None
    if name in TRIED:
        key, values = TRIED[name]
        assert tuning is not None
        tried = [parse_settings(words) for words in tuning.candidates]
        assert tried == [{key: value} for value in values]
        assert tuning.epochs is None  # tried at full length
    if name == "self-paced":
        assert method.settings["burn_in"] == 0
    if name == "mentornet-pd":
        assert tuning is not None
        keys = {key for words in tuning.candidates for key in parse_settings(words)}
        assert keys == {"percentile", "lambda2"}


def test_the_noise_of_table_2_is_the_papers() -> None:
    for cell in table2("paper").cells:
        data, student, noise = cell.column.split()
        assert cell.run.config.data == data
        assert cell.run.config.student.student == student
        assert cell.run.config.labels.noise == f"uniform:{noise}"
        assert cell.paper is not None


def test_small_scale_has_the_papers_numbers_beside_it() -> None:
    """Those of resnet101, the better student."""
    for table in (table1, table2, table3):
        paper, small = table("paper").cells, table("small").cells
        for cell in small:
            same = {
                other.paper
                for other in paper
                if other.row.replace("resnet101", "fast") == cell.row
                and other.column.replace("resnet101", "fast") == cell.column
            }
            assert {cell.paper} == same


def test_imagenet_in_table_1_is_that_of_table_4_with_clean_labels() -> None:
    config = table1("paper").cells[-1].run.config
    noisy = next(cell for cell in table4("paper").cells if cell.row == "full-model").run.config
    assert config == replace(noisy, labels=replace(noisy.labels, noise=None))


def test_numbers_of_the_paper() -> None:
    """A few, read off the paper a second time."""
    found = {(cell.row, cell.column): cell.paper for cell in table2("paper").cells}
    assert found["mentornet-dd", "cifar100 resnet101 0.4"] == 0.68
    assert found["mentornet-dd", "cifar10 resnet101 0.8"] == 0.49
    assert found["self-paced", "cifar10 inception 0.2"] == 0.80
    assert found["full-model", "cifar10 resnet101 0.4"] == 0.69
    assert found["forgetting", "cifar100 inception 0.8"] == 0.17


FULL_SIZE = ("cifar10", "resnet101", "full-model", None)
PARAMETERS = {"resnet101": 84e6, "inception": 1.7e6}


def kind(config: TrainConfig) -> tuple[str | None, ...]:
    """What a run is like; of 84M parameters, whatever the noise."""
    student, noise = config.student.student, config.labels.noise
    return (
        config.data, student, config.method.method, noise if student == "inception" else None,
    )  # fmt: skip


def a_run_for_each() -> list[TrainConfig]:
    """The first cell of each kind."""
    seen: dict[tuple[str | None, ...], TrainConfig] = {}
    for cell in every_cell():
        seen.setdefault(kind(cell.run.config), cell.run.config)
    assert FULL_SIZE in seen
    return list(seen.values())


def test_cells_of_a_kind_differ_in_their_noise_alone() -> None:
    """So that one of them speaks for all: in the noise, and in which mentor was learned at it."""
    runs = {kind(config): config for config in a_run_for_each()}
    for cell in every_cell():
        config, other = cell.run.config, runs[kind(cell.run.config)]
        settings = [
            {**parse_settings(one.method.set), "mentor": "dd-cifar10"} for one in (config, other)
        ]
        assert settings[0] == settings[1]
        assert config == replace(
            other,
            labels=replace(other.labels, noise=config.labels.noise),
            method=replace(other.method, set=config.method.set),
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    a_run_for_each(),
    ids=lambda config: "-".join(word for word in kind(config) if word),
)
def test_three_steps_with_the_real_student(config: TrainConfig) -> None:
    """In batches cut to 2 images, so that 84M parameters go through in seconds.

    resnet101 has the same parameters for images of any size. It sees those of CIFAR in the first of
    its runs, and a quarter of them, which takes a quarter of the time, in all others.
    """
    classes = 10 if config.data == "cifar10" else 100
    count, side = 200, 32
    if config.student.student == "resnet101" and kind(config) != FULL_SIZE:
        side = 16
    images = Samples(
        torch.randint(256, (count, 3, side, side), dtype=torch.uint8,
                      generator=torch.Generator().manual_seed(0)),
        torch.arange(count) % classes,
        tuple(f"{place}" for place in range(classes)),
    )  # fmt: skip
    labels = config.labels
    if labels.clean_count is not None:
        labels = replace(labels, clean_count=50)
    cut = replace(config, labels=labels, optimiser=replace(config.optimiser, batch_size=2, steps=3))
    trainer = Trainer(prepare(cut, splits=Splits(images, images.rows(torch.arange(8)))))
    first = next(part for part in trainer.module.parameters() if part.requires_grad)
    before = first.detach().clone()
    trainer.student.train()
    trainer.run_epoch(0)
    assert trainer.steps_done == 3
    assert not torch.equal(first, before)
    parameters = sum(part.numel() for part in trainer.module.parameters())
    student = config.student.student
    assert student is not None
    expected = PARAMETERS[student] * (1.02 if classes == 100 else 1.0)
    assert parameters == pytest.approx(expected, rel=0.05)
