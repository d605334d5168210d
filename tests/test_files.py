from __future__ import annotations

import fcntl
import os
import stat
import time
from pathlib import Path

import pytest

from mentornet.data import UnreadableImage
from mentornet.data.stream.streamed import Place, read_place
from mentornet.files import open_file, sweep, write_bytes, write_json, write_text


def test_the_old_file_survives_a_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    write_json(path, {"a": 1})
    before = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_json(path, {"a": 2})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    write_bytes(tmp_path / "ours", b"")
    (tmp_path / "theirs").touch()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "theirs")}
    assert len(modes) == 1


def test_json_never_holds_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"a": float("nan")})
    assert not list(tmp_path.iterdir())


def test_unfinished_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    token, long_ago = "0123456789abcdef", time.time() - 60
    names = [f".a.txt.{token}", f".b.txt.{token}", f".c.txt.{token}", f"a.txt.{token}", ".a.txt.0"]
    for name in names:
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (long_ago, long_ago))
    (tmp_path / f".d.txt.{token}").symlink_to(tmp_path / names[3])
    write_text(tmp_path / "a.txt", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:], "a.txt", f".d.txt.{token}"}
    with (tmp_path / names[2]).open("rb") as writes:
        fcntl.flock(writes, fcntl.LOCK_EX)
        sweep(tmp_path)
    left = {*names[2:], "a.txt", f".d.txt.{token}"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_no_file_has_a_name_with_a_null_byte(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "a\0b.png")
    with pytest.raises(UnreadableImage, match="No such file"):
        read_place(Place(f"{tmp_path}/a\0b.png", "a"))
