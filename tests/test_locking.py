from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from mentornet import locking
from mentornet.errors import MentorNetError
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


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
def test_only_a_plain_file_is_locked(kind: str, tmp_path: Path) -> None:
    folder, other = tmp_path / "run", tmp_path / "private"
    folder.mkdir()
    if kind == "link":
        other.touch(0o600)
    if kind in ("link", "dangling"):
        (folder / LOCK).symlink_to(other)
    elif kind == "folder":
        (folder / LOCK).mkdir()
    else:
        os.mkfifo(folder / LOCK)
    with pytest.raises(MentorNetError, match="must be a plain file"), alone(folder):
        pass
    if kind == "link":
        assert other.stat().st_mode & 0o777 == 0o600
    else:
        assert not other.exists()


def test_the_mode_of_a_lock_stays(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch(0o600)
    with alone(tmp_path):
        pass
    assert (tmp_path / LOCK).stat().st_mode & 0o777 == 0o600
