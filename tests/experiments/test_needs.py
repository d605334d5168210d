"""Cells that take the mentors of other cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mentornet.config import MethodConfig
from mentornet.errors import MentorNetError
from mentornet.experiments.cells import Cell, Table
from mentornet.experiments.comparison import common_seeds, compare
from mentornet.experiments.jobs import Job, Tuning
from mentornet.experiments.order import Order
from mentornet.experiments.results import Results
from mentornet.experiments.runs import Run
from mentornet.experiments.work import make_job
from mentornet.mentors import MentorSeries
from mentornet.methods.settings import parse_settings
from tests.experiments.tables import broken, config, run_in_forks, tiny

LEARNS = ("updates=0.3,0.7", "steps=20", "fallback=off", "held_out=0")


def learning() -> Run:
    """DD that learns two mentors."""
    return Run(config("mentornet-dd", set=LEARNS, clean_count=60))


def taking(learned: Run | None = None, tuning: Tuning | None = None) -> Run:
    """DD that takes them."""
    made = config("mentornet-dd", set=(), epochs=1)
    return Run(made, tuning, mentors_of=learned or learning())


def plain() -> Run:
    return Run(config("full-model", epochs=1))


def test_what_is_needed_comes_first_and_once() -> None:
    cells = tuple(
        Cell(row, "0.4", run)
        for row, run in (("one", taking()), ("two", taking()), ("three", learning()))
    )
    runs = [run.key for run in Table("t", "T", cells).runs(2)]
    expected: list[Job] = [learning(), taking()]
    assert runs == [run.with_seed(seed).key for seed in (0, 1) for run in expected]


def test_a_key_changes_with_the_run_that_is_needed() -> None:
    other = replace(learning(), config=replace(learning().config, seed=5))
    assert len({taking().key, taking(other).key, replace(taking(), mentors_of=None).key}) == 3


def test_the_mentors_of_the_run_are_taken(tmp_path: Path) -> None:
    tuning = Tuning((("percentile=0.3",), ("percentile=0.6",)), epochs=1)
    learned, takes = learning(), taking(tuning=tuning)
    results = Results(tmp_path)
    for job in (learned, takes):
        make_job(job, tmp_path)
    found = results.find(takes)
    assert found is not None
    assert found["mentors_of"] == learned.key
    assert found["settings"]["percentile"] in (0.3, 0.6)
    assert "updates" in found["settings"]
    words = parse_settings(tuple(found["config"]["method"]["set"]))
    assert words["mentor"] == f"{results.working(learned) / 'run'}"
    assert MentorSeries.from_pretrained(f"{words['mentor']}").progress == (33, 75)


def test_an_order_waits_for_what_is_needed() -> None:
    order = Order([taking(), plain(), learning()])
    first, second = order.take(), order.take()
    assert [job and job.key for job in (first, second)] == [plain().key, learning().key]
    assert order.take() is None
    assert order.left
    order.made(learning())
    last = order.take()
    assert last is not None
    assert last.key == taking().key
    assert not order.left


def test_what_is_there_already_is_not_waited_for() -> None:
    job = Order([taking()]).take()
    assert job is not None


def test_a_failure_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    lost = broken()
    jobs: list[Job] = [lost, taking(lost), plain()]
    outcomes = {outcome.run.key: outcome for outcome in run_in_forks(jobs, tmp_path, processes=1)}
    assert len(outcomes) == 3
    error = outcomes[taking(lost).key].error or ""
    assert error.startswith(f"it needs {lost.key}, which failed: unknown data 'no-such-folder'")
    assert outcomes[plain().key].result is not None


def test_a_run_without_mentors_is_named(tmp_path: Path) -> None:
    make_job(plain(), tmp_path)
    with pytest.raises(MentorNetError, match=r"has no mentors that .* could take.*move it away"):
        make_job(taking(plain()), tmp_path)


def test_numbers_of_other_formats_and_settings_are_never_averaged(tmp_path: Path) -> None:
    cell = replace(tiny().cells[0], seeds=3)
    table = Table("t", "T", (cell,))
    results = Results(tmp_path)
    jobs = [cell.run.with_seed(seed) for seed in range(3)]
    for job, precision, beta, accuracy in (
        (jobs[0], "32", 0.9, 0.1), (jobs[1], "bf16", 0.9, 0.4), (jobs[2], "bf16", 0.9, 0.6),
        (jobs[2].with_precision("32"), "32", 0.7, 0.9),
    ):  # fmt: skip
        run = {"seed": job.seed, "seconds": 1.0, "accuracy_last": accuracy}
        run |= {"accuracy_best": accuracy, "noise_rate_actual": 0.1}
        stored = {"machine": {"precision": precision}}
        result = {"run": run, "config": stored, "settings": {"beta": beta}, "train_accuracy": 1.0}
        results.write(job, result | {"curve": {}, "tried": None, "conditions": {}})
    (entry,) = compare(table, results).values()
    assert (entry.values, entry.seeds) == ((0.4, 0.6), (1, 2))
    assert (entry.others, entry.full_precision) == ({0: 0.1, 2: 0.9}, False)
    assert common_seeds(entry, replace(entry, seeds=(0,), values=(0.3,), others={})) == (0,)
    assert entry.mean_over((0,)) == 0.1
    (asked,) = compare(table.with_precision("32"), results).values()
    assert asked.full_precision
    assert len(asked.values) == 1  # 0.9 was made with another setting


def test_a_result_that_does_not_say_its_settings(tmp_path: Path) -> None:
    cell = tiny().cells[0]
    make_job(cell.run, tmp_path)
    (entry,) = compare(Table("t", "T", (cell,)), Results(tmp_path)).values()
    assert entry.says_settings
    found = Results(tmp_path).find(cell.run)
    assert found is not None
    Results(tmp_path).write(cell.run, {**found, "settings": None})
    (entry,) = compare(Table("t", "T", (cell,)), Results(tmp_path)).values()
    assert not entry.says_settings


def test_an_asked_format_finds_what_was_made_in_it_without_asking(tmp_path: Path) -> None:
    made = make_job(plain(), tmp_path)
    assert made["config"]["machine"]["precision"] == "32"
    assert Results(tmp_path).find(plain().with_precision("32")) is not None
    assert Results(tmp_path).find(plain().with_precision("bf16")) is None


def test_settings_of_a_result_are_complete(tmp_path: Path) -> None:
    run = Run(replace(config("reed-soft", epochs=1), method=MethodConfig("reed-soft")))
    assert make_job(run, tmp_path)["settings"] == {"beta": 0.95}
