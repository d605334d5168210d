from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import fetch_cifar, load_cifar10, load_cifar100
from mentornet.data.sets import web
from mentornet.data.sets.cifar_archive import ARCHIVES
from mentornet.locking import LOCK
from tests.data.sets.loopback import Server, serving
from tests.data.sets.test_datasets import write_cifar10, write_cifar100


@pytest.fixture(autouse=True)
def _no_proxy_and_no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0, 0.0, 0.0))


def packed(inner: Path, change: Callable[[tarfile.TarFile], None] = lambda tar: None) -> bytes:
    """The folder as an archive of the official form, and whatever `change` adds to it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.add(inner, inner.name)
        change(tar)
    return buffer.getvalue()


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def test_both_datasets_from_a_server_that_drops(tmp_path: Path) -> None:
    ten, hundred = write_cifar10(tmp_path / "made"), write_cifar100(tmp_path / "made")
    archives = {"cifar10": packed(ten), "cifar100": packed(hundred)}
    files = {f"/data/{ARCHIVES[name].file}": content for name, content in archives.items()}
    cache = tmp_path / "cache"
    calls: list[tuple[str, int, int]] = []
    with serving(Server(files, drops=[1000, 2000])) as server:
        for name, content in archives.items():
            folder = fetch_cifar(
                name,
                cache,
                mirror=server.address("/data/"),
                md5=md5(content),
                on_progress=lambda *call: calls.append(call),
            )
            assert folder == cache
            fetch_cifar(name, cache, mirror=server.address("/data/"))  # is there: not asked again
        assert [wanted for _, wanted in server.asked] == [None, "bytes=1000-", "bytes=3000-", None]
    loaded, made = load_cifar10(cache), load_cifar10(tmp_path / "made")
    assert torch.equal(loaded.train.tensor, made.train.tensor)
    assert len(load_cifar100(cache).train) == 100
    assert {path.name for path in cache.iterdir()} == {ten.name, hundred.name, LOCK}
    assert ("cifar-10-python.tar.gz", len(archives["cifar10"]), len(archives["cifar10"])) in calls


@pytest.mark.parametrize("kind", ["folder", "archive", "renamed", "address of the archive"])
def test_every_way_to_name_a_mirror(kind: str, tmp_path: Path) -> None:
    content = packed(write_cifar100(tmp_path / "made"))
    usb = tmp_path / "usb"
    usb.mkdir()
    path = usb / ("copy" if kind == "renamed" else "cifar-100-python.tar.gz")
    path.write_bytes(content)
    mirror = {"folder": str(usb), "address of the archive": path.as_uri()}.get(kind, str(path))
    fetch_cifar("cifar100", tmp_path / "cache", mirror=mirror, md5=md5(content))
    assert len(load_cifar100(tmp_path / "cache").test) == 100
    assert path.read_bytes() == content


def test_an_archive_that_lies_in_the_cache_is_used_and_left_there(tmp_path: Path) -> None:
    content = packed(write_cifar100(tmp_path / "made"))
    path = tmp_path / "cache" / "cifar-100-python.tar.gz"
    path.parent.mkdir()
    path.write_bytes(content)
    fetch_cifar("cifar100", path.parent, mirror="/nowhere", md5=md5(content))
    assert len(load_cifar100(path.parent).test) == 100
    assert path.read_bytes() == content


def test_the_official_checksum_is_the_one_that_counts(tmp_path: Path) -> None:
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"not it")
    with pytest.raises(MentorNetError, match="expected c58f30108f718f92721af3b95e74349a"):
        fetch_cifar("cifar10", tmp_path / "cache", mirror=str(tmp_path))
    with pytest.raises(MentorNetError, match=r"cifar-100-python\.tar\.gz cannot be read: No such"):
        fetch_cifar("cifar100", tmp_path / "cache", mirror=str(tmp_path))
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [LOCK]


def add(name: str, **attributes: object) -> Callable[[tarfile.TarFile], None]:
    def change(tar: tarfile.TarFile) -> None:
        member = tarfile.TarInfo(name)
        for key, value in attributes.items():
            setattr(member, key, value)
        member.size = 0 if "type" in attributes else 4
        tar.addfile(member, io.BytesIO(b"evil"))

    return change


@pytest.mark.parametrize(
    "change",
    [
        add("../evil"),
        add("/tmp/evil-of-the-tests"),
        add("cifar-100-python/../../evil"),
        add("cifar-100-python/evil"),
        add("cifar-100-python/evil", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    ],
)
def test_only_the_expected_files_are_unpacked(
    change: Callable[[tarfile.TarFile], None], tmp_path: Path
) -> None:
    content = packed(write_cifar100(tmp_path / "made"), change)
    (tmp_path / "a.tar.gz").write_bytes(content)
    home = tmp_path / "home"
    fetch_cifar("cifar100", home / "cache", mirror=str(tmp_path / "a.tar.gz"), md5=md5(content))
    names = sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))
    inner = "cache/cifar-100-python"
    inside = [inner, f"{inner}/meta", f"{inner}/test", f"{inner}/train"]
    assert names == ["cache", f"cache/{LOCK}", *inside]
    assert not Path("/tmp/evil-of-the-tests").exists()


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    inner = write_cifar100(tmp_path / "made")
    (inner / "train").unlink()
    (inner / "train").symlink_to("/etc/passwd")
    content = packed(inner)
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(MentorNetError, match="lacks train"):
        fetch_cifar(
            "cifar100", tmp_path / "cache", mirror=str(tmp_path / "a.tar.gz"), md5=md5(content)
        )


def test_archives_and_folders_that_are_not_whole(tmp_path: Path) -> None:
    inner = write_cifar10(tmp_path / "made")
    whole = packed(inner)
    (inner / "data_batch_3").unlink()
    cache = tmp_path / "cache"
    for content, message in [
        (packed(inner), "cifar-10-python.tar.gz lacks data_batch_3"),
        (whole[:-3000], "cannot be unpacked"),
        (b"hello", "cannot be unpacked"),
    ]:
        (tmp_path / "a.tar.gz").write_bytes(content)
        with pytest.raises(MentorNetError, match=re.escape(message)):
            fetch_cifar("cifar10", cache, mirror=str(tmp_path / "a.tar.gz"), md5=md5(content))
        assert not (cache / inner.name).exists()
        assert {path.name for path in cache.iterdir()} == {"cifar-10-python.tar.gz", LOCK}
    (cache / inner.name).mkdir()
    with pytest.raises(MentorNetError, match=r"cifar-10-batches-py lacks batches.meta, data_batch"):
        fetch_cifar("cifar10", cache)
    with pytest.raises(MentorNetError, match="unknown archive 'cifar1'"):
        fetch_cifar("cifar1", cache)


def test_what_is_there_need_not_be_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    write_cifar100(tmp_path)
    monkeypatch.setattr("mentornet.locking.os.open", refused)
    assert fetch_cifar("cifar100", tmp_path) == tmp_path


def test_two_at_once_download_once(tmp_path: Path) -> None:
    content = packed(write_cifar100(tmp_path / "made"))
    with serving(Server({"/cifar-100-python.tar.gz": content}, drops=[100])) as server:

        def fetch(_: int) -> Path:
            mirror = server.address("")
            return fetch_cifar("cifar100", tmp_path / "cache", mirror=mirror, md5=md5(content))

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(fetch, range(4))) == [tmp_path / "cache"] * 4
        assert [wanted for _, wanted in server.asked] == [None, "bytes=100-"]
