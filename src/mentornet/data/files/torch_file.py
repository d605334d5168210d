"""Files that `torch.save` wrote, read without PyTorch: a pickle, and the numbers of its tensors.

Since PyTorch 1.6 such a file is a zip archive with `data.pkl` and a file for each storage. Before,
it was five pickles, followed by the storages one after another.
"""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mentornet.data.files.pickled_parts import NAMES, Name, Storage
from mentornet.data.files.plain_pickle import LARGEST, PlainPickle
from mentornet.files import BoundedReads, read_bytes

__all__ = ["opened"]

_MAGIC = 0x1950A86A20F9469CFC6C  # the first number of a file from before PyTorch 1.6
_CHUNK = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The object in the file. Its tensors can be read as long as it is open."""
    with BoundedReads(path) as file:
        modern = zipfile.is_zipfile(file)
    if not modern:
        yield _legacy(read_bytes(path, LARGEST))
        return
    with BoundedReads(path) as file, zipfile.ZipFile(file) as archive:
        pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise pickle.UnpicklingError("it was not written by torch.save")
        home = pickles[0].removesuffix("data.pkl")
        order = "<"
        if f"{home}byteorder" in archive.namelist():
            order = ">" if _member(archive, f"{home}byteorder") == b"big" else "<"

        def stored(name: Any) -> Storage:
            descr, key, count = _storage(name)
            return Storage(f"{order}{descr}", count, lambda: _member(archive, f"{home}data/{key}"))

        yield PlainPickle(_member(archive, pickles[0]), persistent=stored).load()


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of one file in the archive; no more than are read of any file."""
    content = bytearray()
    with archive.open(name) as member:
        while chunk := member.read(_CHUNK):
            content += chunk
            if len(content) > LARGEST:
                raise ValueError(f"{name} has more than {LARGEST:,} bytes")
    return bytes(content)


def _storage(name: Any) -> tuple[str, str, int]:
    """The type, the key and the number of elements in the name of a storage."""
    if not isinstance(name, tuple) or len(name) < 5 or name[0] != "storage":
        raise pickle.UnpicklingError("it has an odd storage")
    _, kind, key, _, count = name[:5]
    descr = NAMES.get(kind) if isinstance(kind, Name) else None
    if not descr or not isinstance(key, str) or type(count) is not int:
        raise pickle.UnpicklingError("it has an odd storage")
    return descr, key, count


def _legacy(content: bytes) -> Any:
    """The object in a file from before PyTorch 1.6."""
    storages: dict[str, bytes] = {}
    sizes: dict[str, int] = {}

    def stored(name: Any) -> Storage:
        descr, key, count = _storage(name)
        sizes[key] = int(descr[1])
        return Storage(f"<{descr}", count, lambda: storages[key])

    file = PlainPickle(content, persistent=stored)
    if file.load() != _MAGIC:
        raise pickle.UnpicklingError("it was not written by torch.save")
    _version, _system, found, keys = (file.load() for _ in range(4))
    for key in keys:
        (count,) = struct.unpack("<q", file.take(8))
        storages[key] = bytes(file.take(count * sizes[key]))
    return found
