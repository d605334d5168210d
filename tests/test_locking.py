from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from mentornet import locking
from mentornet.locking import LOCK, alone


def test_alone_in_a_folder(tmp_path: Path) -> None:
    events: list[str] = []

    def second() -> None:
        with alone(tmp_path):
            events.append("second")

    thread = threading.Thread(target=second)
    with alone(tmp_path):
        thread.start()
        thread.join(0.1)
        events.append("first")
    thread.join()
    assert events == ["first", "second"]
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_what_is_locked_is_open_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS has exclusive locks for nothing else."""
    taken = fcntl.flock

    def as_on_nfs(handle: int, how: int) -> None:
        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        taken(handle, how)

    monkeypatch.setattr("fcntl.flock", as_on_nfs)
    with alone(tmp_path) as first, alone(tmp_path, wait=False) as second:
        assert first
        assert not second


def test_a_lock_that_a_kill_left_keeps_nobody_out(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    with alone(tmp_path, wait=False) as mine:
        assert mine


def test_where_there_are_no_locks_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuses)
    with (
        pytest.warns(UserWarning, match="cannot be locked .*; make sure that no two"),
        alone(tmp_path) as mine,
    ):
        assert mine


def test_who_gives_up_waiting_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(handle: int, how: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fcntl.flock", interrupted)
        with pytest.raises(KeyboardInterrupt), alone(tmp_path):
            pass
    assert not locking._held
    with alone(tmp_path, wait=False) as mine:
        assert mine
