"""Files of an experiment that were edited."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from mentornet.errors import MentorNetError
from mentornet.experiments.results import Results
from mentornet.experiments.stored import read_tried, read_under

RESULT: dict[str, Any] = {
    "format": 2, "digest": "abc", "kind": "training",
    "run": {
        "seed": 0, "seconds": 1.5, "accuracy_last": 0.5, "accuracy_best": 0.5,
        "noise_rate_actual": None,
    },
    "train_accuracy": 0.5, "config": {"machine": {"precision": "32"}},
    "curve": {"epoch": [1, 2], "test_accuracy": [None, 0.5]}, "tried": None,
    "conditions": {"torch": "2"},
}  # fmt: skip


def read(folder: Path, result: dict[str, Any]) -> int:
    (folder / "run-abc.json").write_text(json.dumps(result))
    results = Results(folder)
    results.check()
    return results.most_seeds()


def test_a_result_as_it_is_written(tmp_path: Path) -> None:
    assert read(tmp_path, RESULT) == 1


@pytest.mark.parametrize(
    ("group", "change", "message"),
    [
        (None, {"digest": 3}, "digest must be text"),
        (None, {"kind": []}, "has no known kind"),
        (None, {"run": []}, "has no run.seed"),
        (None, {"config": {"machine": 3}}, "machine must be an object"),
        (None, {"curve": {"epoch": 3}}, "curve must be an object of a list"),
        (None, {"tried": [{"set": "beta=1"}]}, "set must be a list of text"),
        (None, {"tried": [{"set": []}]}, "validation_accuracy or mse"),
        ("run", {"seed": 10**12}, "seed must be in 0–9999"),
        ("run", {"seed": "0"}, "seed must be a whole number"),
        ("run", {"accuracy_last": "all"}, "accuracy_last must be a number"),
        ("run", {"accuracy_best": None}, "accuracy_best must be a number"),
        ("run", {"seconds": float("nan")}, "seconds must be a number"),
    ],
)
def test_a_result_with_an_odd_field(
    group: str | None, change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    result = copy.deepcopy(RESULT)
    (result if group is None else result[group]).update(change)
    with pytest.raises(MentorNetError, match=rf"run-abc.json.*{message}.*move it away"):
        read(tmp_path, result)


@pytest.mark.parametrize("content", ['{"tried": []}', '{"tried": [1]}', '{"tried": 1}', "{}"])
def test_odd_trials_and_conditions(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tried.json"
    path.write_text(content)
    for read_it in (read_tried, read_under):
        with pytest.raises(MentorNetError, match=r"tried.json"):
            read_it(path)
