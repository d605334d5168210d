from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mentornet import MentorNetError
from mentornet.data import download
from mentornet.data.sets import web
from tests.data.image_files import random_pixels
from tests.data.sets.loopback import Server, serving

CONTENT = random_pixels(1_000_000).tobytes()
MD5 = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _no_proxy_and_no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0, 0.0, 0.0))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server({"/a": CONTENT})) as server:
        yield server


def part_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def test_a_whole_file_with_progress(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.bin"
    calls: list[tuple[str, int, int]] = []
    download(server.address("/a"), target, md5=MD5, on_progress=lambda *call: calls.append(call))
    assert target.read_bytes() == CONTENT
    assert not part_of(target).exists()
    assert {(what, total) for what, _, total in calls} == {("a.bin", 1_000_000)}
    done = [done for _, done, _ in calls]
    assert done == sorted(done)
    assert done[-1] == 1_000_000
    download(server.address("/a"), target, md5=MD5)  # it is there: nothing is asked for
    assert server.asked == [("/a", None)]


def test_it_goes_on_from_the_part_that_is_there(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    part_of(target).write_bytes(CONTENT[:600_000])
    calls: list[int] = []
    download(
        server.address("/a"), target, md5=MD5, on_progress=lambda _, done, total: calls.append(done)
    )
    assert target.read_bytes() == CONTENT
    assert server.asked == [("/a", "bytes=600000-")]
    assert calls[0] > 600_000
    assert calls[-1] == 1_000_000


def test_a_server_without_ranges_starts_over(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    target = tmp_path / "a.bin"
    part_of(target).write_bytes(CONTENT[:600_000])
    download(server.address("/a"), target, md5=MD5)
    assert target.read_bytes() == CONTENT
    assert len(server.asked) == 1


@pytest.mark.parametrize("extra", [b"", b"too much"])
def test_a_part_with_nothing_left_to_fetch(extra: bytes, server: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    part_of(target).write_bytes(CONTENT + extra)
    download(server.address("/a"), target, md5=MD5)
    assert target.read_bytes() == CONTENT
    assert len(server.asked) == (2 if extra else 1)


def test_a_part_of_something_else_is_thrown_away(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    part_of(target).write_bytes(b"x" * 1000)
    download(server.address("/a"), target, md5=MD5)
    assert target.read_bytes() == CONTENT
    assert server.asked == [("/a", "bytes=1000-"), ("/a", None)]


def test_a_server_that_sends_another_range(server: Server, tmp_path: Path) -> None:
    server.lie = 5
    server.drops = [1000]
    target = tmp_path / "a.bin"
    download(server.address("/a"), target, md5=MD5)
    assert target.read_bytes() == CONTENT
    assert server.asked == [("/a", None), ("/a", "bytes=1000-"), ("/a", None)]


def test_dropped_connections_are_taken_up_again(server: Server, tmp_path: Path) -> None:
    server.drops = [100_000] * 9  # each brings something, so none is one too many
    target = tmp_path / "a.bin"
    download(server.address("/a"), target, md5=MD5)
    assert target.read_bytes() == CONTENT
    assert [wanted for _, wanted in server.asked] == [
        None,
        *(f"bytes={start}00000-" for start in range(1, 10)),
    ]


def test_a_connection_that_brings_nothing_is_given_up(server: Server, tmp_path: Path) -> None:
    server.drops = [700_000, *([0] * 9)]
    target = tmp_path / "a.bin"
    with pytest.raises(MentorNetError, match=r"lost again and again .*700000 bytes have arrived"):
        download(server.address("/a"), target, md5=MD5)
    assert len(server.asked) == 5
    assert part_of(target).stat().st_size == 700_000
    assert not target.exists()
    server.drops = []
    download(server.address("/a"), target, md5=MD5)
    assert server.asked[-1] == ("/a", "bytes=700000-")
    assert target.read_bytes() == CONTENT


def test_without_ranges_the_same_bytes_again_are_no_progress(
    server: Server, tmp_path: Path
) -> None:
    server.ranges = False
    server.drops = [500] * 99
    with pytest.raises(MentorNetError, match="lost again and again"):
        download(server.address("/a"), tmp_path / "a.bin", md5=MD5)
    assert len(server.asked) == 5


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429]
    download(server.address("/a"), tmp_path / "a.bin", md5=MD5)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert len(server.asked) == 3


def test_a_length_that_is_not_told(server: Server, tmp_path: Path) -> None:
    server.lengths = False
    totals: set[int] = set()
    target = tmp_path / "a.bin"
    download(
        server.address("/a"), target, md5=MD5, on_progress=lambda _, done, total: totals.add(total)
    )
    assert target.read_bytes() == CONTENT
    assert totals == {0}


def test_a_wrong_checksum_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    wrong = "0" * 32
    address = server.address("/a")
    message = f"{address} has the MD5 checksum {MD5}, expected {wrong}"
    with pytest.raises(MentorNetError, match=re.escape(message)):
        download(address, target, md5=wrong)
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_until_the_new_one_is_checked(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with pytest.raises(MentorNetError, match="checksum"):
        download(server.address("/a"), target, md5="0" * 32)
    assert target.read_bytes() == b"old"
    download(server.address("/a"), target, md5=MD5)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("as_address", [False, True])
def test_a_local_file(as_address: bool, tmp_path: Path) -> None:
    source = tmp_path / "with space.bin"
    source.write_bytes(CONTENT)
    target = tmp_path / "a.bin"
    part_of(target).write_bytes(b"left over")
    calls: list[tuple[str, int, int]] = []
    address = source.as_uri() if as_address else str(source)
    download(address, target, md5=MD5, on_progress=lambda *call: calls.append(call))
    assert target.read_bytes() == CONTENT
    assert calls[-1] == ("a.bin", 1_000_000, 1_000_000)


def test_a_redirect_may_stay_on_the_web_only(server: Server, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(CONTENT)
    server.redirects = {"/moved": "/a", "/stolen": (tmp_path / "secret").as_uri()}
    download(server.address("/moved"), tmp_path / "a.bin", md5=MD5)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    with pytest.raises(MentorNetError):
        download(server.address("/stolen"), tmp_path / "b.bin", md5=MD5)
    assert not (tmp_path / "b.bin").exists()


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_no_network(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{closed_port()}/a"
    with pytest.raises(MentorNetError, match=r"cannot be reached.*setting folder.*setting mirror"):
        download(address, tmp_path / "a.bin", md5=MD5)


def test_a_server_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/a"
        with pytest.raises(MentorNetError, match="timed out"):
            download(address, tmp_path / "a.bin", md5=MD5)


def test_mistakes(server: Server, tmp_path: Path) -> None:
    for address, message in [
        (server.address("/none"), "/none: 404 Not Found"),
        ("ftp://example.org/a", "an address must start with http, https or file, got ftp://"),
        ("http://[bad/a", "http://[bad/a is not an address"),
        ("http://localhost:port/a", "http://localhost:port/a is not an address"),
        (str(tmp_path / "none"), "none cannot be read: No such file"),
        (str(tmp_path), "cannot be read: Is a directory"),
        ("file:///none/at/all", "/none/at/all cannot be read: No such file"),
    ]:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            download(address, tmp_path / "a.bin", md5=MD5)
    assert not (tmp_path / "a.bin").exists()
