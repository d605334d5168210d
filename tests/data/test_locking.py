from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mentornet.data.locking import LOCK, alone


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
    assert list(tmp_path.iterdir()) == []


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


def test_no_two_at_once_though_each_removes_the_lock(tmp_path: Path) -> None:
    """A file that is there while nobody else may be: making it fails if somebody is."""
    code = (
        "import sys; from pathlib import Path; from mentornet.data.locking import alone\n"
        "folder = Path(sys.argv[1])\n"
        "for _ in range(300):\n"
        "    with alone(folder):\n"
        "        (folder / 'inside').touch(exist_ok=False)\n"
        "        (folder / 'inside').unlink()\n"
    )
    command = [sys.executable, "-c", code, f"{tmp_path}"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in processes:
        _, said = process.communicate()
        assert process.returncode == 0, said
    assert list(tmp_path.iterdir()) == []


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
        pytest.warns(UserWarning, match="cannot be locked .*: see to it that no two"),
        alone(tmp_path) as mine,
    ):
        assert mine
