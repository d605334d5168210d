"""Cross-validation, what cleanlab keeps by it, and students that predict when all is done."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet.methods import METHODS
from mentornet.training import Observer, RunFolder, prepare, pruning, train
from mentornet.training.prediction import load_student, predict
from mentornet.training.pruning import cross_validated, prune
from tests.training.runs import small


class Heard(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_every_sample_is_judged_by_a_student_that_has_not_seen_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(small("cleanlab-prune", epochs=1))
    trained: list[torch.Tensor] = []
    judged: list[torch.Tensor] = []
    real, ask = pruning._plain, pruning.predicted

    def plain(whole: object, stay: torch.Tensor) -> object:
        trained.append(stay)
        return real(whole, stay)  # type: ignore[arg-type]

    def predicted(trainer: object, pixels: torch.Tensor) -> torch.Tensor:
        judged.append(pixels)
        return ask(trainer, pixels)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "_plain", plain)
    monkeypatch.setattr(pruning, "predicted", predicted)
    found, seconds = cross_validated(prepared, 3, tmp_path, Observer())
    assert torch.allclose(found.sum(1), torch.ones(len(prepared.train)), atol=1e-5)
    assert seconds > 0
    left_out = torch.stack([~stay for stay in trained])
    assert (left_out.sum(0) == 1).all()  # each in one fold
    for stay, pixels in zip(trained, judged, strict=True):
        assert len(pixels) == int((~stay).sum())
    again, same = cross_validated(prepared, 3, tmp_path, Observer())
    assert len(trained) == 3  # nothing was trained twice
    assert torch.equal(again, found)
    assert same == pytest.approx(seconds)


def test_folds_are_trained_as_long_as_asked() -> None:
    stay = torch.ones(192, dtype=torch.bool)
    for length, epochs in (("1", 6), ("0.5", 3), ("0.01", 1)):
        prepared = prepare(small("cleanlab-prune", set=(f"length={length}",)))
        assert pruning._plain(prepared, stay).config.optimiser.epochs == epochs


def test_what_is_kept_is_better_than_what_was_given(tmp_path: Path) -> None:
    heard = Heard()
    prepared = prepare(small("cleanlab-prune", epochs=15, limit=600, width=16, set=("folds=3",)))
    pruned = prune(prepared, tmp_path, heard)
    assert pruned.kept is not None
    train_set = prepared.train
    assert train_set.true_label is not None
    right = torch.eq(train_set.given_label, train_set.true_label)
    assert right[pruned.kept].float().mean() > right.float().mean() + 0.15
    assert heard.notes[-1] == f"cleanlab leaves out {int((~pruned.kept).sum())} of 600 samples"


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].students == 2])
def test_a_pair_predicts_with_its_first(method: str, tmp_path: Path) -> None:
    summary = train(small(method, epochs=2), tmp_path / "run")
    prepared = prepare(small(method, epochs=2))
    student = load_student(RunFolder(tmp_path / "run"))
    found = predict(student, prepared.test.tensor).argmax(1)
    right = (found == prepared.test.given_label).double().mean().item()
    assert right == pytest.approx(summary["accuracy_last"])
