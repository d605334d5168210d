"""Small Parquet files that unpack to gigabytes, or state that they do.

Arrow writes a plain file, and its pages are overwritten by others, of which its end knows nothing.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_DATA, _DICTIONARY = 0, 2
_PLAIN, _RLE, _PREFIXED = 0, 3, 7


def write(column: Any, *names: str, **options: Any) -> bytes:
    """A file with this column, in which no value is missing; other names get columns of text."""
    columns = [column, *(pa.array(["a"] * len(column)) for _ in names[1:])]
    fields = [
        pa.field(name, values.type, nullable=False)
        for name, values in zip(names, columns, strict=True)
    ]
    buffer = io.BytesIO()
    table = pa.table(columns, pa.schema(fields))
    pq.write_table(table, buffer, **{"compression": "zstd", **options})
    return buffer.getvalue()


def words(count: int, size: int) -> Any:
    """Random text, which cannot be packed well."""
    rng = Random(0)
    return pa.array([rng.randbytes(size // 2).hex() for _ in range(count)])


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def _i32(number: int) -> bytes:
    """A field of a struct, the next one after the field before it."""
    return b"\x15" + _varint(2 * number if number >= 0 else -2 * number - 1)


def page(content: bytes, unpacked: int, values: int, kind: int = _DATA, way: int = _PLAIN) -> bytes:
    """A page with a header of its own."""
    more = _i32(_RLE) * 2 if kind == _DATA else b""
    details = {_DATA: b"\x2c", _DICTIONARY: b"\x4c"}[kind] + _i32(values) + _i32(way) + more + b"\0"
    return _i32(kind) + _i32(unpacked) + _i32(len(content)) + details + b"\0" + content


def with_pages(whole: bytes, pages: bytes) -> bytes:
    """The file, with other pages in its first column."""
    about = pq.read_metadata(io.BytesIO(whole)).row_group(0).column(0)
    start = about.dictionary_page_offset or about.data_page_offset
    assert len(pages) <= about.total_compressed_size
    return whole[:start] + pages + whole[start + len(pages) :]


@cache
def zeros(size: int) -> bytes:
    """Zeros, packed."""
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        for _ in range(size >> 24):
            stream.write(bytes(1 << 24))
        stream.write(bytes(size % (1 << 24)))
    return bytes(packed.getvalue().to_pybytes())


def large_page(*names: str) -> bytes:
    """A page of 2 GB of empty words."""
    size = (1 << 31) - 4
    whole = write(words(20, 20_000), *names, use_dictionary=False)
    return with_pages(whole, page(zeros(size), size, size // 4))


def large_dictionary(*names: str) -> bytes:
    """A dictionary that unpacks to 2 GB."""
    size = (1 << 31) - 4
    whole = write(words(20, 20_000), *names)
    return with_pages(whole, page(zeros(size), size, 1, _DICTIONARY))


def countless_words(*names: str) -> bytes:
    """A dictionary that states more words than it has bytes."""
    pages = page(bytes(64), 64, (1 << 31) - 1, _DICTIONARY)
    return with_pages(write(words(20, 100), *names, compression="none"), pages)


def shared_beginnings(*names: str, count: int = 80_000) -> bytes:
    """Words that repeat the one before them, and have one letter more: 3 GB in all."""
    head = _varint(128) + _varint(4) + _varint(count)
    blocks = -(-(count - 1) // 128)
    lengths = head + b"\0" + b"\x02\0\0\0\0" * blocks  # 0, 1, 2, …
    ones = head + b"\x02" + b"\0\0\0\0\0" * blocks  # 1, 1, 1, …
    content = lengths + ones + b"x" * count
    way: dict[str, Any] = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    whole = write(words(count, 10), *names, compression="none", **way)
    return with_pages(whole, page(content, len(content), count, way=_PREFIXED))


def long_list(*names: str, count: int = 500_000_000) -> bytes:
    """A list of 500 million truths in one row."""
    levels = [b"\x02\0" + _varint(2 * (count - 1)) + b"\1", _varint(2 * count) + b"\2"]
    head = b"".join(len(runs).to_bytes(4, "little") + runs for runs in levels)
    size = len(head) + count // 8 + 1
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as packing:
        packing.write(head + bytes(size - len(head)))
    rng = Random(0)
    honest = pa.array([[rng.random() < 0.5 for _ in range(400_000)]], pa.list_(pa.bool_()))
    whole = write(honest, *names, use_dictionary=False)
    return with_pages(whole, page(stream.getvalue().to_pybytes(), size, count))


def repeated(*names: str, count: int = 10_000, size: int = 1 << 18) -> bytes:
    """One long word in every row, inside a struct: 2.5 GB in all."""
    rows, word = pa.array([0] * count, pa.int32()), pa.array([Random(0).randbytes(size)])
    inner = pa.DictionaryArray.from_arrays(rows, word)
    return write(pa.StructArray.from_arrays([inner], ["bytes"]), *names, store_schema=False)


BOMBS: dict[str, Callable[..., bytes]] = {
    "large page": large_page,
    "large dictionary": large_dictionary,
    "countless words": countless_words,
    "shared beginnings": shared_beginnings,
    "long list": long_list,
    "repeated": repeated,
}
"""Functions that make a file, given the names of its columns; the first is the bomb."""
