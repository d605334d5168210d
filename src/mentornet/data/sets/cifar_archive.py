"""The official archives of CIFAR: downloaded, checked, and unpacked without trusting them."""

from __future__ import annotations

import secrets
import shutil
import tarfile
import zlib
from pathlib import Path
from typing import NamedTuple

from mentornet.data.progress import Progress
from mentornet.data.sets.cifar_python import CIFAR_FOLDERS
from mentornet.data.sets.download import download, is_address, local_path
from mentornet.errors import MentorNetError, first_line
from mentornet.locking import alone
from mentornet.names import pick

__all__ = ["fetch_cifar"]

HOME = "https://www.cs.toronto.edu/~kriz"
"""The address that the archives are downloaded from if no mirror is named."""


class _Archive(NamedTuple):
    file: str
    md5: str
    members: tuple[str, ...]


ARCHIVES = {
    "cifar10": _Archive(
        "cifar-10-python.tar.gz",
        "c58f30108f718f92721af3b95e74349a",
        ("batches.meta", *(f"data_batch_{number}" for number in range(1, 6)), "test_batch"),
    ),
    "cifar100": _Archive(
        "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", ("meta", "train", "test")
    ),
}


def fetch_cifar(
    name: str,
    folder: Path,
    *,
    mirror: str | None = None,
    md5: str | None = None,
    on_progress: Progress | None = None,
) -> Path:
    """Download the files of `cifar10` or `cifar100` into `folder`, and return the folder.

    Args:
        name: which of the two.
        folder: it is created if needed. Files that it holds already are not downloaded again.
        mirror: an address or a local folder that holds the archive, or the archive itself; the
            official address by default.
        md5: the checksum of the archive, if it is not the official one.
        on_progress: called with the name of the archive and with bytes.
    """
    archive = pick(ARCHIVES, name, "archive")
    folder.mkdir(parents=True, exist_ok=True)
    inner = folder / CIFAR_FOLDERS[name]
    if all((inner / file).is_file() for file in archive.members):
        return folder  # before the lock, as the folder may not be writable
    with alone(folder):
        if inner.is_dir():
            missing = [file for file in archive.members if not (inner / file).is_file()]
            if missing:
                raise MentorNetError(
                    f"{inner} lacks {', '.join(missing)}; remove it, and it is downloaded again"
                )
            return folder
        target = folder / archive.file
        was_there = target.exists()
        address = _address(archive, mirror)
        download(address, target, md5=md5 or archive.md5, on_progress=on_progress)
        _unpack(target, inner, archive.members)
        if not was_there:
            target.unlink()
    return folder


def _address(archive: _Archive, mirror: str | None) -> str:
    """The address of the archive: inside the mirror, or the mirror itself."""
    base = (mirror or HOME).rstrip("/")
    if base.endswith((".tar.gz", ".tgz")) or (not is_address(base) and local_path(base).is_file()):
        return base
    return f"{base}/{archive.file}"


def _unpack(archive: Path, inner: Path, members: tuple[str, ...]) -> None:
    """Copy the expected members out of the archive: all of them or none, and nothing else.

    Unlike `extractall`, this never writes a name, a link or a mode that the archive states.
    """
    temporary = inner.with_name(f".{inner.name}.{secrets.token_hex(8)}")
    temporary.mkdir()
    wanted = {f"{inner.name}/{name}": name for name in members}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = wanted.get(member.name.removeprefix("./"))
                content = tar.extractfile(member) if name and member.isreg() else None
                if name and content:
                    with content, (temporary / name).open("xb") as file:
                        shutil.copyfileobj(content, file)
        missing = [name for name in members if not (temporary / name).is_file()]
        if missing:
            raise MentorNetError(f"{archive} lacks {', '.join(missing)}")
        temporary.rename(inner)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise MentorNetError(f"{archive} cannot be unpacked: {first_line(error)}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
