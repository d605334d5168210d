"""Arrays of plain numbers from bytes, rebuilt here so that NumPy sees no state from a file.

What a file says of an array (its type, its shape, its order) is checked against the number of bytes
that are really there, before anything is allocated.
"""

from __future__ import annotations

import ast
import math
import re
import struct
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayHeader", "plain_dtype", "read_array", "read_header", "rebuild"]

_NUMBERS = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
_HEADER, _DIMENSIONS = 10_000, 8  # the most characters and dimensions that are read
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ArrayHeader:
    """What a `.npy` file says of its array.

    Attributes:
        descr: the type, such as `<i8`; `|O` if a pickle follows.
        fortran: whether the first index changes fastest.
        shape: the sizes.
    """

    descr: str
    fortran: bool
    shape: tuple[int, ...]


def plain_dtype(descr: Any) -> np.dtype[Any]:
    """Return the type that a text such as `<i8` names; only plain numbers have one.

    >>> plain_dtype(">u2")
    dtype('>u2')
    """
    kind = descr if isinstance(descr, str) else "a structure"
    if kind.removeprefix(kind[:1] if kind[:1] in "<>|=" else "") not in _NUMBERS:
        raise ValueError(f"an array must hold plain numbers, got {kind[:40]!r}")
    return np.dtype(kind)


def rebuild(content: Any, dtype: np.dtype[Any], shape: Any, *, fortran: bool) -> NDArray[Any]:
    """Return the array that has exactly these bytes; nothing is copied.

    Args:
        content: bytes, or a view of bytes.
        dtype: one of `plain_dtype`.
        shape: whole numbers, as the file has them.
        fortran: whether the first index changes fastest.
    """
    check_shape(shape)
    needed = math.prod(shape) * dtype.itemsize
    if needed != len(content):
        raise ValueError(f"an array of {needed:,} bytes has {len(content):,}")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def check_shape(shape: Any) -> None:
    """Raise `ValueError` unless the shape is a tuple of a few whole numbers."""
    if (
        not isinstance(shape, tuple)
        or len(shape) > _DIMENSIONS
        or not all(type(size) is int and 0 <= size < 1 << 48 for size in shape)
    ):
        raise ValueError("the shape of an array must be whole numbers")


def read_header(file: IO[bytes]) -> ArrayHeader:
    """Read the header of a `.npy` file, of any version, and stop where its data begins."""
    start = file.read(8)
    if start[:6] != b"\x93NUMPY" or len(start) < 8:
        raise ValueError("it is not a .npy file")
    if start[6] not in (1, 2, 3):
        raise ValueError(f"version {start[6]} of the format is unknown")
    kind = "<H" if start[6] == 1 else "<I"
    (length,) = struct.unpack(kind, file.read(struct.calcsize(kind)))
    if length > _HEADER:
        raise ValueError(f"its header has {length:,} bytes")
    text = file.read(length).decode("utf-8" if start[6] == 3 else "latin-1")
    try:
        header = ast.literal_eval(re.sub(r"(\d)L\b", r"\1", text).strip())  # Python 2 wrote 10L
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # the last if deep
        raise ValueError("its header is not a plain dict") from None
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise ValueError("its header must have descr, fortran_order and shape")
    check_shape(header["shape"])
    return ArrayHeader(header["descr"], header["fortran_order"] is True, header["shape"])


def read_array(file: IO[bytes], header: ArrayHeader) -> NDArray[Any]:
    """Read the data that follows a header: all of it, and nothing more.

    The memory grows with the bytes that arrive, whatever the header says.
    """
    dtype = plain_dtype(header.descr)
    content = bytearray()
    needed = math.prod(header.shape) * dtype.itemsize
    while chunk := file.read(min(_CHUNK, needed + 1 - len(content))):
        content += chunk
    return rebuild(content, dtype, header.shape, fortran=header.fortran)
