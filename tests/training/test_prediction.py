"""Students that predict when all is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from mentornet.methods import METHODS, make_method
from mentornet.training import RunFolder, prepare, train
from mentornet.training.prediction import load_student, predict
from tests.training.runs import small


@pytest.mark.parametrize(
    "method", [name for name in METHODS if make_method(name).needs.students == 2]
)
def test_a_pair_predicts_with_its_first(method: str, tmp_path: Path) -> None:
    summary = train(small(method, epochs=2), tmp_path / "run")
    prepared = prepare(small(method, epochs=2))
    student = load_student(RunFolder(tmp_path / "run"))
    found = predict(student, prepared.test.inputs).argmax(1)
    right = (found == prepared.test.given_label).double().mean().item()
    assert right == pytest.approx(summary["accuracy_last"])
