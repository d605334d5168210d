"""Tables 4 and 5: the facts of App. E typed by hand, and a few steps on miniature copies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mentornet.config import LabelsConfig, MachineConfig, TrainConfig
from mentornet.experiments.cells import Cell
from mentornet.experiments.comparison import paper_number
from mentornet.experiments.large_tables import VERIFIED, table4, table5
from mentornet.experiments.paper_tables import table1
from mentornet.experiments.runs import with_settings
from mentornet.methods import make_method
from mentornet.methods.settings import parse_settings
from mentornet.training import train
from mentornet.training.schedules import learning_rate
from tests.data.layouts import SYNSETS, write_imagenet, write_webvision

REGULARISED: dict[str, tuple[int, float, float, bool]] = {
    # steps, weight decay, share that is dropped, augmentation
    "noreg": (500_000, 0.0, 0.0, False),
    "noreg + weight decay": (500_000, 4e-5, 0.0, False),
    "noreg + dropout": (500_000, 0.0, 0.2, False),
    "noreg + augmentation": (500_000, 0.0, 0.0, True),
    "noreg + mentornet": (500_000, 0.0, 0.0, False),
    "full-model": (1_000_000, 4e-5, 0.2, True),
    "mentornet": (1_000_000, 4e-5, 0.2, True),
}


def first(cells: tuple[Cell, ...]) -> dict[str, TrainConfig]:
    return {cell.row: cell.run.config for cell in cells}


def test_table_4_is_as_appendix_e_has_it() -> None:
    table = table4("paper")
    configs = first(table.cells)
    assert len(table.cells) == 16
    for row, (steps, decay, dropped, augmented) in REGULARISED.items():
        config = configs[row]
        assert config.optimiser.steps == steps
        assert config.optimiser.weight_decay == decay
        assert config.optimiser.augment is augmented
        assert config.student.dropout == pytest.approx(dropped)
    for config in configs.values():
        optimiser = config.optimiser
        assert config.labels.noise == "uniform:0.4"
        assert config.student.student == "inception-resnet-v2"
        assert (optimiser.batch_size, optimiser.momentum, optimiser.nesterov) == (32, 0.9, False)
        assert config.files.image_size == 299
        steps = optimiser.steps or 0
        epoch = 1_281_167 / 32
        assert learning_rate(optimiser, 0, steps) == 0.05
        assert learning_rate(optimiser, int(9.99 * epoch), steps) == 0.05
        assert learning_rate(optimiser, int(10.01 * epoch), steps) == pytest.approx(0.005)
        if steps == 1_000_000:
            assert learning_rate(optimiser, int(20.01 * epoch), steps) == pytest.approx(0.0005)
    assert configs["forgetting"].method.set == ("dropout=0.8",)


def test_numbers_of_the_paper() -> None:
    found = {(cell.row, cell.column): cell.paper for cell in table4("paper").cells}
    assert found["noreg + dropout", "top-5"] == 0.807
    assert found["mentornet", "top-1"] == 0.651
    found = {(cell.row, cell.column): cell.paper for cell in table5("paper").cells}
    assert found["entire mentornet*", "WebVision top-1"] == 0.726
    assert found["mini mentornet", "ILSVRC12 top-1"] == 0.638
    assert found["mini mentornet", "WebVision top-1"] is None
    shown = {(cell.row, cell.column): paper_number(cell) for cell in table5("paper").cells}
    assert shown["mini reed-soft", "ILSVRC12 top-1"] == "56.5"


def test_table_5_trains_on_all_or_on_mini_and_is_judged_twice() -> None:
    for row, config in first(table5("paper").cells).items():
        assert config.data == ("webvision" if row.startswith("entire") else "webvision-mini")
        assert config.labels.noise is None  # the web's own
        assert config.files.imagenet == "imagenet"
        assert (config.labels.verdicts == (VERIFIED,)) == row.endswith("*")
        optimiser = config.optimiser
        assert (optimiser.batch_size, optimiser.momentum, optimiser.nesterov) == (32, 0.9, False)
        assert (optimiser.learning_rate, optimiser.weight_decay) == (0.05, 4e-5)
        assert optimiser.augment
        assert optimiser.steps == (1_000_000 if row.startswith("entire") else None)
        assert optimiser.epochs == (None if row.startswith("entire") else 30)  # our choice
        assert config.student.student == "inception-resnet-v2"
        forgets = "forgetting" in row
        assert config.student.dropout == (None if forgets else pytest.approx(0.2))
        method = make_method(config.method.method or "", **parse_settings(config.method.set))
        if forgets:
            assert method.settings == {"dropout": 0.8}
        if "mentornet" in row:
            if row.endswith("*"):
                assert method.settings["reads_label"] is True
            assert method.settings["mentor"] == ""
            facts: dict[str, Any] = {
                "burn_in": 0.2, "burn_in_drop": 0.5, "percentile": 0.75, "decay": 0.95,
                "smoothing": 0.0, "sharpness": 0.0, "teaches_verified": False, "fallback": False,
                "held_out": 0.0, "mentor_classes": 0,
            }  # fmt: skip
            if row.endswith("*"):
                facts["updates"] = (0.21, 0.75)
            assert method.settings | facts == method.settings


def shortened(config: TrainConfig, image_size: int | None = None) -> TrainConfig:
    return replace(
        config,
        files=replace(config.files, limit=None, image_size=image_size or config.files.image_size),
        optimiser=replace(config.optimiser, epochs=None, steps=3, batch_size=2),
        machine=MachineConfig(precision="32", compile="off", channels_last="on", workers=0),
    )


def test_mentors_of_large_data_are_learned_on_cifar_with_the_same_student() -> None:
    for table in (table4("paper"), table5("paper")):
        for cell in table.cells:
            takes = cell.row.endswith("mentornet")
            assert bool(cell.run.needs) == takes
            for learned in cell.run.needs:
                assert learned.config.student.student == "inception-resnet-v2"
                assert learned.config.labels == LabelsConfig("uniform:0.4", clean_count=5_000)
                assert learned.config.optimiser.batch_size == 128


IMAGENET = {
    "table 1": (table1("paper").cells[-1].run.config, None),
    "table 4": (
        with_settings(first(table4("paper").cells)["noreg + mentornet"], ["mentor=dd-cifar10-40"]),
        128,
    ),
}
"""With images of full size, and with a mentor; small images take a third of the time."""


@pytest.mark.slow
@pytest.mark.parametrize(("config", "image_size"), IMAGENET.values(), ids=IMAGENET)
def test_imagenet_makes_three_steps(
    tmp_path: Path, config: TrainConfig, image_size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MENTORNET_DATA", f"{tmp_path}")
    write_imagenet(tmp_path / "imagenet", train=4, val=1)
    summary = train(shortened(config, image_size))
    assert summary["steps"] == 3
    assert summary["parameters"] == pytest.approx(54.3e6 + 1.7e6, rel=0.05)  # of 3 classes


@pytest.mark.slow
def test_table_5_makes_three_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MENTORNET_DATA", f"{tmp_path}")
    monkeypatch.setattr("mentornet.data.sets.webvision.MINI", len(SYNSETS))
    write_imagenet(tmp_path / "imagenet", train=1, val=2)
    write_webvision(tmp_path / "webvision")
    config = first(table5("small").cells)["mini mentornet"]
    summary = train(shortened(with_settings(config, ["mentor=dd-cifar10-40"])))
    assert 0 <= summary["imagenet_accuracy_last"] <= 1
