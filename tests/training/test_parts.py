"""Schedules, weight decay, batches, records: the small parts of the trainer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from mentornet.config import (
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.data import Batch, load_digits
from mentornet.randomness import seeded
from mentornet.records import Records, read_records, write_records
from mentornet.training import Trainer, preview
from mentornet.training.assembly import make_fabric
from mentornet.training.batches import BatchSettings, InMemoryBatches, steps_per_epoch
from mentornet.training.schedules import learning_rate
from mentornet.training.step import StepResult
from mentornet.weighting.weight_decay import add_weight_decay
from tests.training.runs import METHOD_SETTINGS, prepared


def rates(total: int = 100, **settings: object) -> list[float]:
    chosen: Any = {"schedule": "cosine", "warm_up": 0.1, **settings}
    config = OptimiserConfig(learning_rate=0.1, **chosen)
    return [learning_rate(config, step, total) for step in range(total)]


def test_warm_up_rises_in_a_line() -> None:
    assert rates(warm_up=0.1)[:11] == pytest.approx(
        [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.1]
    )


def test_cosine_and_linear_fall_to_nearly_nothing() -> None:
    cosine, linear = rates(warm_up=0.0), rates(warm_up=0.0, schedule="linear")
    assert cosine[0] == linear[0] == 0.1
    assert cosine[50] == pytest.approx(0.05)
    assert linear[25] == pytest.approx(0.075)
    assert 0 < cosine[-1] < linear[-1] < 0.0011


def test_the_papers_steps() -> None:
    """39,000 steps, a tenth at 19,500, 25,000 and 30,000 (App. E)."""
    config = OptimiserConfig(
        learning_rate=0.1, schedule="steps", warm_up=0.0, drops=(0.5, 25 / 39, 30 / 39)
    )
    at = [learning_rate(config, step, 39_000) for step in (0, 19_499, 19_500, 25_000, 30_000)]
    assert at == pytest.approx([0.1, 0.1, 0.01, 0.001, 0.0001])


def test_constant() -> None:
    assert set(rates(warm_up=0.0, schedule="constant")) == {0.1}


def test_weight_decay_follows_the_weights() -> None:
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    weight.grad = torch.zeros(2)
    unused = torch.nn.Parameter(torch.ones(1))
    add_weight_decay([weight, unused], 0.1, torch.tensor([1.0, 0.5, 0.0]))
    assert weight.grad.tolist() == pytest.approx([0.05, -0.1])
    assert unused.grad is None
    add_weight_decay([weight], 0.1, torch.zeros(3))
    assert weight.grad.tolist() == pytest.approx([0.05, -0.1])


@pytest.mark.parametrize("method", ["full-model", "mentornet-pd"])
@pytest.mark.parametrize("decayed", ["weights", "all"])
def test_weight_decay_shrinks_what_the_setting_says(method: str, decayed: str) -> None:
    """A first step differs by α θ₀ w from one without decay: for all w, or those of layers only."""
    settings = {"momentum": 0.0, "nesterov": False, "warm_up": 0.0, "learning_rate": 0.1}
    after, started = [], {}
    for decay in (0.0, 0.5):
        trainer = Trainer(prepared(method, decayed=decayed, weight_decay=decay, **settings))
        with torch.no_grad():
            for part in trainer.module.parameters():
                part.add_(0.25)  # else biases would be 0, which do not shrink
        started = {name: part.detach().clone() for name, part in trainer.module.named_parameters()}
        with seeded(0):
            batch = next(trainer.batches.epoch(0))
            trainer.step(batch, 0)
        after.append(dict(trainer.module.named_parameters()))
    shares = {
        name: ((after[0][name] - after[1][name]) / (0.1 * 0.5 * value)).mean().item()
        for name, value in started.items()
    }
    kinds = {type(layer) for layer in trainer.module.modules()}
    assert {torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.Linear} <= kinds
    layers = {
        f"{place}.weight"
        for place, layer in trainer.module.named_modules()
        if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear)
    }
    mean_weight = trainer.records.weight[batch.index].mean().item()
    assert (mean_weight == 1) == (method == "full-model")  # burn-in drops about half of PD's
    for name, share in shares.items():
        expected = mean_weight if decayed == "all" or name in layers else 0.0
        assert share == pytest.approx(expected, abs=1e-4), name


@pytest.mark.parametrize(
    ("student", "decayed"),
    [
        ("inception", "weights"), ("resnet101", "weights"), ("inception-resnet-v2", "weights"),
        ("small-cnn", "all"), ("fast", "all"), ("resnet", "all"), (None, "all"),
    ],
)  # fmt: skip
def test_the_students_of_the_paper_decay_their_weights_alone(
    student: str | None, decayed: str
) -> None:
    config = TrainConfig(
        "digits", student=StudentConfig(student), method=MethodConfig("full-model")
    )
    assert preview(config).optimiser.decayed == decayed
    for asked in ("weights", "all"):
        other = replace(config, optimiser=replace(config.optimiser, decayed=asked))
        assert preview(other).optimiser.decayed == asked


def test_an_epoch_sees_every_sample_once_in_equal_batches() -> None:
    images = load_digits().train.rows(slice(0, 101))
    batches = InMemoryBatches(images, BatchSettings(32, 0), padding=1)
    seen = [batch.index for batch in batches.epoch(0)]
    assert [len(part) for part in seen] == [26, 25, 25, 25]
    assert torch.cat(seen).sort().values.tolist() == list(range(101))
    assert steps_per_epoch(101, 32) == batches.steps == 4


def test_batches_depend_on_seed_and_epoch_only() -> None:
    images = load_digits().train.rows(slice(0, 64))
    for seed, epoch, same in ((0, 3, True), (0, 4, False), (1, 3, False)):
        one = next(InMemoryBatches(images, BatchSettings(32, 0), padding=1).epoch(3))
        other = next(InMemoryBatches(images, BatchSettings(32, seed), padding=1).epoch(epoch))
        assert torch.equal(one.inputs, other.inputs) == same
        assert torch.equal(one.index, other.index) == same


def test_without_augmentation_images_are_as_they_are() -> None:
    images = load_digits().train.rows(slice(0, 8))
    one, other = (
        {int(i): x for b in it.epoch(e) for i, x in zip(b.index, b.inputs, strict=True)}
        for it, e in (
            (InMemoryBatches(images, BatchSettings(4, s), padding=None), s) for s in (0, 1)
        )
    )
    assert all(torch.equal(one[i], other[i]) for i in range(8))


def test_records_by_hand(tmp_path: Path) -> None:
    """Three samples, three epochs: learned at once, learned and forgotten, never learned."""
    records = Records(3)
    given = torch.tensor([0, 1, 2])
    predictions = [[0, 0, 1], [0, 1, 1], [0, 2, 1]]
    for epoch, predicted in enumerate(predictions):
        losses = torch.tensor([0.1, 1.0, 3.0]) + epoch
        weights = torch.tensor([1.0, 0.5, 0.0])
        records.add(torch.arange(3), losses, weights, torch.tensor(predicted), given, epoch)
        records.save_losses(tmp_path / "losses", epoch)
    write_records(
        tmp_path / "records.parquet", records, trajectories=tmp_path / "losses", epochs=3,
        given_label=given, true_label=torch.tensor([0, 1, 0]), sample_paths=("a", "b", "c"),
    )  # fmt: skip
    table = read_records(tmp_path / "records.parquet")
    assert table["path"].tolist() == ["a", "b", "c"]
    assert table["learned_epoch"].tolist() == [1, 2, 0]
    assert table["forgotten"].tolist() == [0, 1, 0]
    assert table["predicted_label"].tolist() == [0, 2, 1]
    assert table["mean_weight"].tolist() == [1.0, 0.5, 0.0]
    assert table["true_label"].tolist() == [0, 1, 0]
    assert table["loss"][1].tolist() == [1.0, 2.0, 3.0]


def test_plain_training_counts_as_weight_1() -> None:
    records = Records(2)
    records.add(torch.tensor([1]), torch.ones(1), None, torch.zeros(1), torch.zeros(1), 0)
    assert records.weight_sum.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("method", list(METHOD_SETTINGS))
def test_state_at_most_64_bytes_a_sample(method: str) -> None:
    """All tensors of a run that have a row for every sample, but the images themselves (T = 1)."""
    if method in ("mentornet", "mentornet-dd", "mentor-bootstrap"):
        settings = tuple(word for word in METHOD_SETTINGS[method] if "=0" in word)
        trainer = Trainer(prepared(method, set=settings))
    else:
        trainer = Trainer(prepared(method))
    count = len(trainer.prepared.train)
    held = {id(part): part for part in _tensors(trainer) if part.shape[:1] == (count,)}
    assert isinstance(trainer.batches, InMemoryBatches)
    held.pop(id(trainer.batches.pixels), None)
    held.pop(id(trainer.prepared.train.tensor), None)
    size = sum(part.numel() * part.element_size() for part in held.values()) / count
    classes = len(trainer.prepared.train.classes)
    predictions = method in (
        "elr", "mentor-bootstrap", "mentornet-features", "mentornet-posterior",
    )  # fmt: skip
    remembered = 4 * classes if predictions else 0
    if method == "mentornet-early":  # two averages of them
        remembered = 8 * classes
    assert 20 <= size <= 64 + remembered


def _tensors(thing: object, seen: set[int] | None = None) -> Iterator[torch.Tensor]:
    """Every tensor that can be reached from `thing`."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from _tensors(value, seen)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from _tensors(value, seen)
    elif type(thing).__module__.startswith(("mentornet", "torch.nn")):
        yield from _tensors(vars(thing), seen)


def test_weight_decay_follows_the_weights_that_the_loss_was_taken_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of MentorMix those are of the blends, not v."""
    followed: list[torch.Tensor] = []
    monkeypatch.setattr(
        "mentornet.training.trainer.follow_weights",
        lambda optimiser, decay, weights: followed.append(weights),
    )
    trainer = Trainer(prepared("mentormix", set=("percentile=0.3", "burn_in=0")))
    done = trainer.stepper.take(next(trainer.batches.epoch(0)), 0.1)
    assert done.trust is not None
    assert done.decays is not None
    monkeypatch.setattr(trainer.stepper, "take", lambda *_: done)
    trainer.step(next(trainer.batches.epoch(0)), 0)
    assert followed[0] is done.decays
    assert not torch.equal(done.decays, done.trust)


@pytest.mark.parametrize("method", ["full-model", "mentornet-pd"])
def test_the_weighted_loss_is_that_of_the_mini_batches(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fig. 3 (b): Σ v ℓ of every batch, by hand, over an epoch; batches have the same size."""
    trainer = Trainer(prepared(method))
    found: list[float] = []
    take = trainer.stepper.take

    def taken(batch: Batch, rate: float) -> StepResult:
        done = take(batch, rate)
        weights = [1.0] * len(batch.index) if done.trust is None else done.trust.tolist()
        losses = done.evidence.losses.tolist()
        found.append(sum(v * loss for v, loss in zip(weights, losses, strict=True)) / len(losses))
        return done

    monkeypatch.setattr(trainer.stepper, "take", taken)
    trainer.run_epoch(0)
    row = trainer.close_epoch(1.0)
    assert len(found) == 6
    assert row["weighted_loss"] == pytest.approx(sum(found) / 6, rel=1e-3)
    assert (row["weighted_loss"] == row["train_loss"]) == (method == "full-model")


def test_the_precision_is_not_announced() -> None:
    """A dry run of fifty runs would else say fifty times what was asked for."""
    heard: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("lightning_fabric")
    level = logger.level
    logger.addHandler(listener)
    try:
        make_fabric(MachineConfig(accelerator="cpu", precision="bf16"), None)
    finally:
        logger.removeHandler(listener)
    assert heard == []
    assert logger.level == level
