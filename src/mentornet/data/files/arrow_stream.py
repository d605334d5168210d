"""Files of record batches, as Arrow streams them, read one batch at a time.

The file may come from anywhere. Nothing is taken from it that it could not hold: packed batches and
dictionaries, which a small file can repeat endlessly, are refused, and every batch is checked in
full before anybody looks at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mentornet.errors import MentorNetError, cut
from mentornet.files import BoundedReads, reading

__all__ = ["ArrowStream", "Block", "arrow_stream"]

_END = b"\xff\xff\xff\xff\0\0\0\0"  # how a stream ends
_RECORD_BATCH, _COMPRESSION = 3, 3  # the kind of a message, and the place of a field in it


class Block(NamedTuple):
    """Some rows of a stream.

    Attributes:
        batch: the record batch of Arrow.
        start: the position in the file of byte 0 of the block.
        address: the address in memory of byte 0 of the block.
    """

    batch: Any
    start: int
    address: int


@dataclass(frozen=True)
class ArrowStream:
    """An open stream.

    Attributes:
        schema: names and types of the columns; no name is there twice.
        blocks: the rows, to be read once.
    """

    schema: Any
    blocks: Iterator[Block]


@contextmanager
def arrow_stream(path: Path) -> Iterator[ArrowStream]:
    """Open a file that holds a stream of record batches, such as `datasets` of Hugging Face writes.

    Args:
        path: the file. Its rows must not be packed.
    """
    import pyarrow as pa

    with reading(path, "as an Arrow stream"), BoundedReads(path, os.stat(path).st_size) as file:  # noqa: PTH116 - of any path
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - len(_END)))
        if file.read(len(_END)) != _END:
            raise MentorNetError(f"{path} has no end; was it cut short?")
        file.seek(0)
        messages = pa.ipc.MessageReader.open_stream(pa.PythonFile(file, mode="r"))
        first = messages.read_next_message()
        if first.type != "schema":  # Arrow would read it as one all the same, and crash
            raise MentorNetError(f"{path} begins with {first.type}, expected a schema")
        schema = pa.ipc.read_schema(first)
        if len(set(schema.names)) < len(schema.names):
            named = cut(", ".join(schema.names))
            raise MentorNetError(f"{path} has the columns {named}, one of them twice")
        yield ArrowStream(schema, _blocks(path, file, messages, schema, size))


def _blocks(path: Path, file: Any, messages: Any, schema: Any, size: int) -> Iterator[Block]:
    import pyarrow as pa

    rows = 0
    while True:
        with reading(path, "as an Arrow stream"):
            try:
                message = messages.read_next_message()
            except StopIteration:
                break
            if message.type != "record batch":
                raise MentorNetError(f"{path} holds a {message.type}, expected rows only")
            if _is_packed(message.metadata.to_pybytes()):
                raise MentorNetError(f"{path} has packed rows; write it again without compression")
            batch = pa.ipc.read_record_batch(message, schema)
            batch.validate(full=True)
            rows += batch.num_rows
            if rows > size:
                raise MentorNetError(
                    f"{path} states {rows:,} rows or more, too many for a file of {size:,} bytes"
                )
            body = message.body
            start = file.tell() - body.size
        yield Block(batch, start, body.address)
    if file.tell() < size:
        raise MentorNetError(f"{path} has bytes behind its end; was it written twice?")


def _is_packed(message: bytes) -> bool:
    """Whether the header of a record batch says that its columns are compressed.

    The header is a table of FlatBuffers: its fields are found by a list of their places.
    """
    whole = _Table(message, int.from_bytes(message[:4], "little"))
    if whole.byte(1) != _RECORD_BATCH:
        raise ValueError("a message is not what it says that it is")
    return whole.table(2).has(_COMPRESSION)


@dataclass(frozen=True)
class _Table:
    """A table of FlatBuffers at a place in its message."""

    message: bytes
    at: int

    def _number(self, place: int, size: int, *, signed: bool = False) -> int:
        if not 0 <= place <= len(self.message) - size:
            raise ValueError("a header points outside of itself")
        return int.from_bytes(self.message[place : place + size], "little", signed=signed)

    def _field(self, number: int) -> int:
        """The place of a field relative to the table; 0 if it is left out."""
        fields = self.at - self._number(self.at, 4, signed=True)
        entry = 4 + 2 * number
        return self._number(fields + entry, 2) if entry < self._number(fields, 2) else 0

    def has(self, number: int) -> bool:
        """Whether the field is there."""
        return self._field(number) != 0

    def byte(self, number: int) -> int:
        """A field of one byte."""
        place = self._field(number)
        return self._number(self.at + place, 1) if place else 0

    def table(self, number: int) -> _Table:
        """A field that is a table."""
        place = self.at + self._field(number)
        return _Table(self.message, place + self._number(place, 4))
