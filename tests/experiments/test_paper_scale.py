"""Paper scale is exact: the resolved settings against a list of App. E's facts, typed by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from mentornet.config import FilesConfig, StudentConfig, TrainConfig
from mentornet.data import Samples, Splits
from mentornet.experiments.cells import Cell, Scale
from mentornet.experiments.jobs import Job
from mentornet.experiments.large_tables import table4, table5
from mentornet.experiments.paper_tables import table1, table2, table3
from mentornet.experiments.runs import with_settings
from mentornet.mentors import LearnedCard, MentorSeries, make_mentor, read_card, shipped
from mentornet.methods import make_method
from mentornet.methods.settings import parse_settings
from mentornet.methods.weighted import WeightingMethod
from mentornet.students import STUDENTS, WideResNet
from mentornet.training import Trainer, prepare, preview
from mentornet.training.presets import deviations
from mentornet.training.schedules import learning_rate

FACTS: dict[str, dict[str, Any]] = {
    "resnet101": {
        "steps": 39_000, "drops at": (19_500, 25_000, 30_000), "weight decay": 2e-4, "keep": 1.0,
    },
    "inception": {"steps": 120_000, "drops at": (78_000,), "weight decay": 4e-3, "keep": 0.5},
}  # fmt: skip
TRIED: dict[str, tuple[str, list[float]]] = {
    "forgetting": ("dropout", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]),  # keep 0.9 … 0.2
    "self-paced": ("percentile", [0.5, 0.6, 0.75]),
    "focal": ("gamma", [1, 2, 3]),
    "reed-soft": ("beta", [0.7, 0.8, 0.9, 0.95]),
    "reed-hard": ("beta", [0.7, 0.8, 0.9, 0.95]),
    "mentornet-dd": ("percentile", [0.3, 0.45, 0.6, 0.75]),
}


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The mentors of a run of DD on CIFAR-10: they read 10 labels, and were learned twice."""
    folder = tmp_path_factory.mktemp("learned")
    points = [(at, make_mentor("bilstm", seed=at, num_classes=10)) for at in (21, 75)]
    MentorSeries(points).save_pretrained(folder)
    return f"{folder}"


def taking(run: Job, series: str) -> TrainConfig:
    """The config that a cell is made with, once the run whose mentors it takes is there."""
    config: TrainConfig = run.config
    return with_settings(config, [f"mentor={series}"]) if run.needs else config


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
    assert optimiser.nesterov is False
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
        assert method.settings["teaches_verified"] is False
        assert (method.settings["fallback"], method.settings["held_out"]) == (False, 0)
        assert method.settings["mentor_classes"] == 0
        if config.data == "cifar10":
            assert config.labels.clean_count == 5_000
            assert method.settings["reads_label"] is True
            assert method.settings["updates"] == (0.21, 0.75)
            assert cell.run.needs == ()
        else:
            assert config.labels.clean_count is None
            check_transfer(cell.run)
    else:
        assert cell.run.needs == ()
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


def check_transfer(run: Job) -> None:
    """Its mentors are those of the CIFAR-10 cell with the same student and noise."""
    (learned,) = run.needs
    same = [
        cell.run.key
        for cell in table2("paper").cells
        if cell.row == "mentornet-dd"
        and cell.run.config.data == "cifar10"
        and cell.run.config.student.student == run.config.student.student
        and cell.run.config.labels.noise == run.config.labels.noise
    ]
    assert [learned.key] == same
    assert "mentor" not in parse_settings(run.config.method.set)  # none that ships


def test_a_transfer_is_two_mentors_with_label_0(series: str) -> None:
    for cell in every_cell():
        if cell.run.needs:
            config = preview(taking(cell.run, series))
            settings = parse_settings(config.method.set)
            assert (settings["mentor"], settings["updates"]) == (series, "")
            assert settings["reads_label"] is False
            assert deviations(config) == []


def test_every_cell_is_the_presets(series: str) -> None:
    """Nothing differs from the paper but what a row of Table 4 is about."""
    for table in (table1, table2, table3, table4, table5):
        for cell in table("paper").cells:
            found = [line.split(": ")[1] for line in deviations(preview(taking(cell.run, series)))]
            about = {line.split()[0] for line in found}
            allowed = (
                {"steps", "drops", "weight_decay", "dropout", "augment"}
                if cell.row.startswith("noreg")
                else set()
            )
            assert about <= allowed, (cell.row, cell.column, found)


@pytest.mark.parametrize("table", [table2, table3, table4, table5])
@pytest.mark.parametrize("scale", ["paper", "small"])
def test_no_mentor_is_of_another_student(table: Any, scale: Scale) -> None:
    for cell in table(scale).cells:
        for learned in cell.run.needs:
            assert learned.config.student.student == cell.run.config.student.student
            assert learned.config.student.width == cell.run.config.student.width
            assert learned.config.data == "cifar10"
            noise = cell.run.config.labels.noise
            assert learned.config.labels.noise == (noise or "uniform:0.4")
        named = parse_settings(cell.run.config.method.set).get("mentor")
        if named:  # one that ships, learned with the small tables' student
            card = read_card(shipped()[f"{named}"])
            assert scale == "small"
            assert isinstance(card, LearnedCard)
            assert card.student == "fast, 275,448 parameters"
            assert cell.run.config.student == StudentConfig("fast", width=16)


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


FULL_SIZE = ("cifar10", "resnet101", "full-model")
PARAMETERS = {"resnet101": 84e6, "inception": 1.7e6}


BOTH = ("full-model", "mentornet-dd")
"""The methods whose resnet101 is tried on both datasets: plain training, and DD, which transfers
its mentors to CIFAR-100. With all others, the two runs differ in the number of classes alone."""

WHOLE = (*BOTH, "forgetting")
"""The methods whose resnet101 has all its 84M parameters: these, and the one that sets its dropout.
All others know nothing of the student but its logits."""


def kind(config: TrainConfig) -> tuple[str | None, ...]:
    """What a run is like, whatever the noise; with resnet101 mostly whatever the data."""
    student, method = config.student.student, config.method.method
    both = student == "inception" or method in BOTH
    return config.data if both else None, student, method


def a_run_for_each() -> list[Job]:
    """The first cell of each kind."""
    seen: dict[tuple[str | None, ...], Job] = {}
    for cell in every_cell():
        seen.setdefault(kind(cell.run.config), cell.run)
    assert FULL_SIZE in seen
    return list(seen.values())


def test_cells_of_a_kind_differ_in_their_noise_and_data_alone() -> None:
    """So that one of them speaks for all."""
    runs = {kind(run.config): run for run in a_run_for_each()}
    for cell in every_cell():
        config, other = cell.run.config, runs[kind(cell.run.config)].config
        labels = replace(other.labels, noise=config.labels.noise)
        assert config == replace(other, data=config.data, labels=labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    a_run_for_each(),
    ids=lambda run: "-".join(word for word in kind(run.config) if word),
)
def test_three_steps_with_the_real_student(
    run: Job, series: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In batches cut to 2 images, so that 84M parameters go through in seconds.

    resnet101 has the same parameters for images of any size. It sees those of CIFAR in the first of
    its runs. In all others it sees a sixteenth of their pixels, which takes a fifth of the time.
    """
    config = taking(run, series)
    classes = 10 if config.data == "cifar10" else 100
    count, side, method = 200, 32, config.method.method
    expected = PARAMETERS[config.student.student or ""] * (1.02 if classes == 100 else 1.0)
    if config.student.student == "resnet101" and kind(config) != FULL_SIZE:
        side = 8
        if method not in WHOLE:
            monkeypatch.setitem(STUDENTS, "resnet101", partial(WideResNet, width=1))  # not 10
            expected /= 10**2
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
    assert parameters == pytest.approx(expected, rel=0.05)
