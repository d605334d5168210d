"""What was killed goes on to the same end, bit for bit."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from mentornet.config import TrainConfig, write_config
from mentornet.errors import MentorNetError
from mentornet.training import RunFolder, train
from tests.processes import mentornet, start
from tests.training.runs import METHOD_SETTINGS, assert_same_outcome, small
from tests.training.stopping import StoppedError, StopsAfter


def interrupted(config: TrainConfig, folder: Path, after: int) -> None:
    """A run that ends before the checkpoint of its epoch `after` is written."""
    with pytest.raises(StoppedError):
        train(config, folder, observer=StopsAfter(after))


@pytest.mark.parametrize("method", list(METHOD_SETTINGS))
def test_a_run_goes_on_to_the_same_end(method: str, tmp_path: Path) -> None:
    config = small(method)
    train(config, tmp_path / "whole")
    for after in (1, 4):
        folder = tmp_path / f"stopped-{after}"
        interrupted(config, folder, after)
        train(config, folder, resume=True)
        assert_same_outcome(tmp_path / "whole", folder)


def test_it_goes_on_between_two_looks_at_the_student(tmp_path: Path) -> None:
    config = small(evaluate_every=2)
    whole, stopped = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "stopped")
    train(config, whole.path)
    interrupted(config, stopped.path, 4)
    train(config, stopped.path, resume=True)
    assert_same_outcome(whole.path, stopped.path)
    assert stopped.best.read_bytes() == whole.best.read_bytes()
    kept = ("epoch", "test_accuracy")
    rows = [
        [{name: row.get(name) for name in kept} for row in run.read_metrics()]
        for run in (whole, stopped)
    ]
    assert rows[0] == rows[1]


def test_mentors_learned_before_the_stop_are_kept(tmp_path: Path) -> None:
    config = small("mentornet-dd")
    train(config, tmp_path / "whole")
    interrupted(config, tmp_path / "stopped", 5)
    train(config, tmp_path / "stopped", resume=True)
    files = [
        sorted(path.read_bytes() for path in (tmp_path / name / "mentors").rglob("*.*"))
        for name in ("whole", "stopped")
    ]
    assert files[0]
    assert files[0] == files[1]


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path: Path) -> None:
    config = small()
    train(config, tmp_path / "whole")
    interrupted(config, tmp_path / "stopped", 5)
    run = RunFolder(tmp_path / "stopped")
    last = run.checkpoints.paths()[-1]
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 1
    last.write_bytes(content)
    observer = StopsAfter(99)
    train(config, run.path, resume=True, observer=observer)
    assert any("damaged" in note and last.name in note for note in observer.notes)
    assert "continuing after epoch 3 of 6" in observer.notes
    assert_same_outcome(tmp_path / "whole", run.path)


def test_all_checkpoints_damaged_means_from_the_start(tmp_path: Path) -> None:
    config = small()
    train(config, tmp_path / "whole")
    interrupted(config, tmp_path / "stopped", 4)
    run = RunFolder(tmp_path / "stopped")
    for path in run.checkpoints.paths():
        path.write_bytes(path.read_bytes()[:100])
    train(config, run.path, resume=True)
    assert_same_outcome(tmp_path / "whole", run.path)


def test_only_two_checkpoints_are_kept(tmp_path: Path) -> None:
    train(small(), tmp_path)
    assert [path.name[:10] for path in RunFolder(tmp_path).checkpoints.paths()] == [
        "epoch-0005",
        "epoch-0006",
    ]


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    first = train(small(), tmp_path)
    observer = StopsAfter(99)
    assert train(small(), tmp_path, resume=True, observer=observer) == first
    assert "there is nothing left to do" in observer.notes[-1]


def test_another_config_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    interrupted(small(), tmp_path / "run", 2)
    with pytest.raises(MentorNetError, match=r"another config: optimiser.batch_size is 32, not 16"):
        train(small(batch_size=16), tmp_path / "run", resume=True)


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    train(small(epochs=1), tmp_path)
    with pytest.raises(MentorNetError, match="already has a run; set resume"):
        train(small(epochs=1), tmp_path)


def test_kill_at_any_moment(tmp_path: Path) -> None:
    """The real thing: SIGKILL a process again and again, resume, compare; the mentor included."""
    config = small("mentornet-dd", epochs=12, limit=512)
    train(config, tmp_path / "whole")
    write_config(tmp_path / "config.toml", config)
    folder = tmp_path / "killed"
    command = ["train", "--config", f"{tmp_path / 'config.toml'}", "--out", f"{folder}"]
    kills, done = 0, False
    for pause in (0.0, 0.3, 0.15, 0.6, 0.45, 0.8, 0.05, 0.7, *([1.0] * 20)):
        started = (folder / "config.toml").exists()
        before = _mark(folder)
        words = [*command, "--resume"] if started else command
        process = start(mentornet, *words, log=tmp_path / "log").process
        while process.is_alive() and _mark(folder) == before:
            time.sleep(0.01)  # until it has begun to train
        time.sleep(pause)
        if process.is_alive():
            process.kill()
            kills += 1
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        if process.exitcode == 0:
            done = True
            break
    assert done
    assert kills >= 3
    assert_same_outcome(tmp_path / "whole", folder)


def _mark(folder: Path) -> float:
    try:
        return (folder / "metrics.jsonl").stat().st_mtime
    except FileNotFoundError:
        return 0.0
