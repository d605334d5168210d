"""The corpus of the universal mentor: its runs, what is learned of them, and the result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.universal.__main__ import RESULT
from benchmarks.universal.carry_over import carry_over
from benchmarks.universal.collect import collect, store
from benchmarks.universal.learn import Moment, family, judged, learn, read
from benchmarks.universal.page import page
from benchmarks.universal.pools import draw_labels
from benchmarks.universal.runs import Spec, specs
from mentornet.files import read_json
from mentornet.mentors.universal import UNIVERSAL, UniversalMentor, universal_mentor
from mentornet.randomness import generator

TINY = Spec(7, "wine", None, 200, "symmetric", 0.3, 8, 10, 32, 0.05, "early")


def test_more_rounds_have_the_same_first_runs() -> None:
    assert specs(2)[: len(specs(1))] == specs(1)
    assert len({spec.name for spec in specs()}) == len(specs())


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "pairflip", "paired", "instance", "weak"])
def test_the_rate_comes_out(kind: str) -> None:
    true, x = torch.arange(4000) % 4, torch.randn(4000, 6, generator=generator(0))
    given = draw_labels(kind, 0.4, x, true, 4, 3)
    expected = {"uniform": 0.3, "paired": 0.2}.get(kind, 0.4)
    assert (given != true).double().mean().item() == pytest.approx(expected, abs=0.03)


def test_a_run_is_kept_and_read(tmp_path: Path) -> None:
    path = store(TINY, tmp_path)
    before = path.stat().st_mtime_ns
    assert store(TINY, tmp_path).stat().st_mtime_ns == before
    again = collect(TINY)
    with np.load(path) as stored:
        assert all(np.array_equal(stored[name], values) for name, values in again.items())
    moments = read(TINY, path)
    assert [moment.progress for moment in moments][-1] == 1.0
    assert all(len(value) == len(one.correct) for one in moments for value in one.evidence.values())


def moments(data: str, rate: float, seed: int, count: int = 400) -> list[Moment]:
    """Return moments of a run in which log-odds are 2 · posterior − margin + its rate."""
    draws, found = generator(seed), []
    spec = Spec(seed, data, None, count, "uniform", rate, 8, 9, 9, 0.1, "early")
    for progress in (0.3, 0.6, 1.0):
        evidence = {
            name: torch.randn(count, generator=draws).double()
            for name in ("posterior", "margin", "mean_loss", "smoothed_loss", "agreement")
        }
        s = 2 * evidence["posterior"] - evidence["margin"] + rate
        correct = torch.rand(count, generator=draws) < s.sigmoid()
        found.append(Moment(spec, progress, evidence, correct, rate))
    return found


def test_weights_are_found_whatever_the_rates_are() -> None:
    runs = [moments("digits", rate, seed) for seed, rate in enumerate((-2.0, 0.0, 3.0) * 4)]
    mentor = learn([one for run in runs for one in run], ("posterior", "margin"))
    assert mentor.weights["posterior"] == pytest.approx(2.0, abs=0.35)
    assert mentor.weights["margin"] == pytest.approx(-1.0, abs=0.25)


def test_calibration_is_good_if_mentor_and_rate_are_right() -> None:
    found = judged(
        moments("digits", 0.0, 5, 20_000), UniversalMentor({"posterior": 2.0, "margin": -1.0})
    )
    assert found["error_true_rate"] < 0.02
    assert found["universal"] > found["posterior"] > 0.6 > found["mean_loss"]
    assert found["error_estimated_rate"] > 0.2  # by the rate 0


def test_a_dataset_is_left_out_with_all_that_is_like_it() -> None:
    runs = [
        moments(data, 0.5, seed)
        for seed, data in enumerate(("digits", "cifar100", "cifar100-features", "cifar10"))
    ]
    rows = carry_over(runs)
    assert {row["data"] for row in rows} == {"digits", "cifar100", "cifar100-features", "cifar10"}
    assert family("cifar100") == family("cifar100-features") != family("cifar10")
    assert "0.3, 0.6 and 1.0 of training" in page(universal_mentor(), rows, 4)


def test_the_mentor_and_its_card_are_those_of_the_stored_result() -> None:
    found = read_json(RESULT)
    assert dict(universal_mentor().weights) == pytest.approx(found["weights"])
    card = (UNIVERSAL / "README.md").read_text(encoding="utf-8")
    assert card == page(universal_mentor(), found["left_out"], found["runs"])
