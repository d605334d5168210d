from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from mentornet.errors import MentorNetError
from mentornet.experiments.runner import Job, run_missing


def square(*, x: int, folder: str) -> dict[str, int]:
    """Leaves a mark each time it really runs."""
    with (Path(folder) / "ran.txt").open("a") as file:
        file.write(f"{x}\n")
    if x == -9:
        os.kill(os.getpid(), signal.SIGKILL)
    if x < 0:
        raise RuntimeError("negative")
    return {"y": x * x, "process": os.getpid()}


def jobs(folder: Path, numbers: list[int]) -> list[Job]:
    return [Job(f"square-{x}", square, {"x": x, "folder": str(folder)}) for x in numbers]


def ran(folder: Path) -> list[int]:
    return sorted(int(line) for line in (folder / "ran.txt").read_text().split())


def test_runs_only_what_is_missing(tmp_path: Path) -> None:
    first = dict(_results(tmp_path, [1, 2, 3]))
    assert first == {1: 1, 2: 4, 3: 9}
    assert ran(tmp_path) == [1, 2, 3]
    _, two, three = jobs(tmp_path, [1, 2, 3])
    two.path(tmp_path).unlink()
    three.path(tmp_path).write_text('{"digest": "half-writ')
    assert dict(_results(tmp_path, [1, 2, 3])) == first
    assert ran(tmp_path) == [1, 2, 2, 3, 3]


def test_other_settings_are_another_job(tmp_path: Path) -> None:
    list(run_missing([Job("it", square, {"x": 1, "folder": str(tmp_path)})], tmp_path))
    list(run_missing([Job("it", square, {"x": 2, "folder": str(tmp_path)})], tmp_path))
    assert ran(tmp_path) == [1, 2]


def test_what_finished_before_a_failure_is_kept(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=r"1 of 3 failed: square--1: RuntimeError: .*negative"):
        list(run_missing(jobs(tmp_path, [4, -1, 5]), tmp_path, processes=1))
    assert len(list(tmp_path.glob("square-4-*.json"))) == 1
    assert len(list(tmp_path.glob("square-5-*.json"))) == 1


def test_a_process_that_dies(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match=r"a process died, .* the same command goes on"):
        list(run_missing(jobs(tmp_path, [6, -9, 7]), tmp_path, processes=1))
    assert len(list(tmp_path.glob("square-6-*.json"))) == 1


def _results(folder: Path, numbers: list[int]) -> list[tuple[int, int]]:
    finished = run_missing(jobs(folder, numbers), folder)
    return [(job.settings["x"], result["y"]) for job, result in finished]
