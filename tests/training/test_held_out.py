"""What is held out to choose by has the labels it was given, and nobody looks at true ones."""

from __future__ import annotations

from benchmarks.accuracy.tables import benchmark
from mentornet.training import Trainer, prepare
from tests.training.runs import small


def test_it_has_given_labels_only_as_wrong_as_the_others() -> None:
    whole = prepare(small("full-model", limit=1000, noise="symmetric:0.4"))
    held = prepare(small("full-model", limit=1000, noise="symmetric:0.4", validation=0.3))
    validation = held.validation
    assert validation is not None
    assert validation.true_label is None
    assert len(validation) + len(held.train) == len(whole.train)
    assert whole.train.true_label is not None
    assert held.train.true_label is not None
    wrong = whole.train.given_label != whole.train.true_label
    others = held.train.given_label != held.train.true_label
    given = sorted([*held.train.given_label.tolist(), *validation.given_label.tolist()])
    assert given == sorted(whole.train.given_label.tolist())  # so the rest of the wrong ones
    assert 0.3 < (int(wrong.sum()) - int(others.sum())) / len(validation) < 0.5


def test_the_best_epoch_is_chosen_by_it_and_read_on_the_test_images() -> None:
    trainer = Trainer(prepare(small("full-model", limit=400, validation=0.2, epochs=8)))
    summary = trainer.fit()
    rows = trainer.metrics
    chosen = max(rows, key=lambda row: row["validation_accuracy"])  # the first of equals
    assert summary["best_epoch"] == chosen["epoch"]
    assert summary["accuracy_best"] == chosen["test_accuracy"]


def test_early_stopping_is_that_number() -> None:
    cells = [cell for cell in benchmark().cells if cell.row == "early-stopping"]
    assert len(cells) == 3
    for cell in cells:
        assert cell.reads == "accuracy_best"
        assert cell.run.config.files.validation == 0.1
        assert cell.run.config.optimiser.evaluate_every == 1
        assert cell.run.config.method.method == "full-model"
