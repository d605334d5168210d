"""Pickles as strangers and as old programs write them."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

__all__ = ["FORGED", "as_npy", "as_pt", "old_numpy"]


def _named(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _type(kind: bytes, flags: int) -> bytes:
    """A dtype whose state has these flags; NumPy's own for objects are 63."""
    made = _named("numpy", "dtype") + b"(X" + struct.pack("<I", len(kind)) + kind + b"K\x00K\x01tR"
    state = b"(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    return made + state + b"K" + bytes([flags]) + b"tb"


def _array(shape: bytes, kind: bytes, content: bytes) -> bytes:
    made = _named("numpy.core.multiarray", "_reconstruct")
    made += b"(" + _named("numpy", "ndarray") + b"K\x00\x85C\x01btR"
    return made + b"(K\x01" + shape + kind + b"\x89" + content + b"tb"


_ADDRESS = b"C\x08" + b"\x41" * 8

FORGED = {
    "bytes as pointers": _array(b"K\x01\x85", _type(b"O8", 0), _ADDRESS),
    "bytes as one pointer": _array(b")", _type(b"O8", 0), _ADDRESS),
    "an object array of 8 GB": (
        _named("numpy", "ndarray") + b"(J\x00\x00\x00\x40\x85" + _named("numpy", "dtype")
        + b"(X\x01\x00\x00\x00OtRtR"
    ),
    "numbers of 8 EB": _array(b"\x8a\x08" + b"\xff" * 7 + b"\x0f\x85", _type(b"i8", 0), _ADDRESS),
    "a negative size": _array(b"J\xff\xff\xff\xff\x85", _type(b"i8", 0), _ADDRESS),
    "too few bytes": _array(b"K\x02\x85", _type(b"i8", 0), _ADDRESS),
    "a memo of 32 GB": b"K\x01r\xff\xff\xff\xffQ",
    "a string of 4 GB": b"X\xff\xff\xff\xff",
    "deep keys": b"}" + b")" + b"\x85" * 200_000 + b"K\x01s",
    "bytes over and over": (
        b"X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20) + b"q\x00" + b"("
        + (_named("_codecs", "encode") + b"(h\x00X\x06\x00\x00\x00latin1tR") * 9_000 + b"l"
    ),
    "code": b"cos\nsystem\n(X\x0a\x00\x00\x00touch evil\x00tR",
}  # fmt: skip
"""Pickles that harm a reader that trusts NumPy, or the sizes that a file states."""

FORGED = {
    **{
        name: b"\x80\x02}X\x0b\x00\x00\x00clean_label" + body + b"s."
        for name, body in FORGED.items()
    },
    "a pointer on top": FORGED["bytes as one pointer"] + b".",
}


def old_numpy(content: Any, protocol: int = 2) -> bytes:
    """A pickle as NumPy wrote it before version 2."""
    raw = pickle.dumps(content, protocol)
    new, old = b"numpy._core.", b"numpy.core."
    if protocol < 4:
        return raw.replace(new, old)
    for name in (b"multiarray", b"numeric"):  # names that follow their length, inside a frame
        before = bytes([len(new + name)]) + new + name
        raw = raw.replace(before, bytes([len(old + name)]) + old + name)
    return raw


def as_npy(raw: bytes) -> bytes:
    """A pickle behind the header of a `.npy` file."""
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + raw


def as_pt(raw: bytes, path: Path) -> Path:
    """A pickle in the archive that `torch.save` writes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("archive/data.pkl", raw)
        archive.writestr("archive/version", b"3\n")
    path.write_bytes(content.getvalue())
    return path
