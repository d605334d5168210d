"""cleanlab's pruning in two steps: predictions out of fold, then a run with its verdicts."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks.accuracy import cleanlab_prune
from benchmarks.accuracy.cleanlab_prune import VERDICTS, CleanlabPrune, cross_validate, shortened
from mentornet.config import TrainConfig
from mentornet.data import Splits
from mentornet.errors import MentorNetError
from mentornet.experiments.runs import Run
from mentornet.training import Observer, Prepared, Trainer, prepare
from mentornet.weighting import Evidence
from tests.training.runs import small


def test_every_sample_is_predicted_by_a_student_that_has_not_seen_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(small("full-model", epochs=1))
    splits = Splits(prepared.train, prepared.test)
    config = shortened(prepared.config, 1.0)
    trained: list[int] = []
    held_out: list[torch.Tensor] = []
    ask = cleanlab_prune._predicted

    def starts(made: Prepared) -> Trainer:
        trained.append(len(made.train))
        return Trainer(made)

    def predicted(config: TrainConfig, splits: Splits, held: torch.Tensor) -> torch.Tensor:
        held_out.append(held)
        return ask(config, splits, held)

    monkeypatch.setattr(cleanlab_prune, "Trainer", starts)
    monkeypatch.setattr(cleanlab_prune, "_predicted", predicted)
    found, seconds = cross_validate(config, splits, 3, tmp_path, Observer())
    assert torch.allclose(found.sum(1), torch.ones(len(splits.train)), atol=1e-5)
    assert seconds > 0
    assert torch.cat(held_out).sort().values.tolist() == list(range(len(splits.train)))
    assert trained == [len(splits.train) - len(held) for held in held_out]
    again, same = cross_validate(config, splits, 3, tmp_path, Observer())
    assert len(trained) == 3  # nothing was trained twice
    assert torch.equal(again, found)
    assert same == pytest.approx(seconds)


def test_folds_are_trained_as_long_as_asked() -> None:
    config = prepare(small("full-model")).config
    for length, epochs in ((1.0, 6), (0.5, 3), (0.01, 1)):
        assert shortened(config, length).optimiser.epochs == epochs


def test_what_is_left_is_better_than_what_was_given(tmp_path: Path) -> None:
    pytest.importorskip("cleanlab")
    config = small("full-model", epochs=15, limit=600, width=16)
    second, seconds = CleanlabPrune(folds=3).prepare(config, tmp_path, Observer())
    assert seconds > 0
    prepared = prepare(second)
    samples = prepared.train
    with (tmp_path / VERDICTS).open() as file:
        left = torch.tensor([row["is_correct"] == "true" for row in csv.DictReader(file)])
    assert samples.true_label is not None
    right = torch.eq(samples.given_label, samples.true_label)
    assert right[left].float().mean() > right.float().mean() + 0.15
    trainer = Trainer(prepared)  # the second step: weight 0 for the others, in the same batches
    batch = next(trainer.batches.epoch(0))
    label = batch.given_label
    evidence = Evidence(torch.ones(len(label)), label, label, batch.index)
    weights = trainer.supervision.weights(evidence, 0.1)
    assert weights is not None
    assert weights.tolist() == left[batch.index].float().tolist()
    plain = next(Trainer(prepare(config)).batches.epoch(0))
    assert torch.equal(plain.index, batch.index)


def test_a_run_is_known_by_its_recipe() -> None:
    config = small("verified", clean_count=None, set=())
    run = Run(config, recipe=CleanlabPrune())
    assert "-cleanlab-prune-0-" in run.key
    assert run.with_seed(1).recipe == run.recipe
    assert Run(config, recipe=CleanlabPrune(folds=5)).digest != run.digest
    assert replace(run, recipe=None).digest != run.digest


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folds": 1}, "folds must be ≥ 2, got 1"),
        ({"length": 0.0}, r"length must be in \(0, 1\], got 0"),
    ],
)
def test_bad_settings(settings: dict[str, float], message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        CleanlabPrune(**settings)  # type: ignore[arg-type]
