"""The pages of a Parquet file, as their own headers state them.

The end of a Parquet file states how much its columns hold, and each page states it once more in a
header of its own. Whoever unpacks a page believes its header. So the headers are read first,
without what follows them. They are structs in the compact protocol of Thrift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO

__all__ = ["Pages", "measure"]

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # types of pages; those of other types are skipped
_DETAILS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}  # the field with more about a page of a type
_PREFIXED = 7  # the encoding in which a value may repeat the beginning of the one before it
_MOST_BYTES, _MOST_FIELDS, _MOST_DEPTH = 1 << 20, 32, 4  # of a header
_FEW, _SPARSE = 10_000, 500  # pages that a file may have, and one for so many bytes beyond that


@dataclass
class Pages:
    """What the pages of a column hold.

    Attributes:
        values: the number of values.
        unpacked: the bytes that the pages unpack to.
        word: the most bytes that a value may have because it repeats what is elsewhere.
        prefixed: whether a value may repeat the beginning of the one before it.
    """

    values: int = 0
    unpacked: int = 0
    word: int = 0
    prefixed: bool = False


def measure(file: BinaryIO, column: Any, size: int, room: int) -> Pages:
    """Read the headers of a column's pages; raises `ValueError` if they are impossible.

    Args:
        file: the file, which is moved.
        column: what Arrow tells of the column in a row group.
        size: the bytes of the file.
        room: bytes; if the pages unpack to more, the rest of them is not looked at.
    """
    found, count = Pages(), 0
    first, place = column.dictionary_page_offset, column.data_page_offset
    place = first if first is not None and 0 < first < place else place
    while found.values < column.num_values and found.unpacked <= room:
        count += 1
        if count > _FEW + size // _SPARSE:
            raise ValueError(f"a column has more than {count - 1:,} pages")
        header, length = _header(file, place, size)
        kind, unpacked, packed = (_number(header, field) for field in (1, 2, 3))
        place += length + packed
        if min(unpacked, packed) < 0 or place > size:
            raise ValueError(f"it states a page of {packed:,} bytes that unpacks to {unpacked:,}")
        if kind in _DETAILS:
            _add(found, kind, header.get(_DETAILS[kind]), unpacked)
    return found


def _add(found: Pages, kind: int, details: Any, unpacked: int) -> None:
    """Add a page to those that were found."""
    if not isinstance(details, dict):
        raise ValueError("the header of a page has no details")
    values = _number(details, 1)
    if values < 0 or (kind == _DICTIONARY and values > unpacked):
        raise ValueError(f"it states {values:,} values in a page of {unpacked:,} bytes")
    found.unpacked += unpacked
    if kind == _DICTIONARY:
        found.word = max(found.word, unpacked)
        return
    found.values += values
    if _number(details, 2 if kind == _DATA else 4) == _PREFIXED:
        found.word, found.prefixed = max(found.word, unpacked), True


def _number(struct: dict[int, Any], field: int) -> int:
    value = struct.get(field)
    if type(value) is not int:
        raise ValueError(f"the header of a page has no number in field {field}")
    return value


def _header(file: BinaryIO, place: int, size: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at a place in the file, and its length."""
    most = 1 << 10
    while place >= 0:
        file.seek(place)
        content = file.read(most)
        reader = _Thrift(content)
        try:
            return reader.struct(), reader.place
        except IndexError:  # it is longer, or the file ends
            if most >= _MOST_BYTES or place + most >= size:
                break
            most *= 32
    raise ValueError(f"there is no page at byte {place:,}")


class _Thrift:
    """Reads structs of numbers, texts and structs. A page's header has nothing else.

    What does not matter here is read as None. Bytes that are missing raise `IndexError`.
    """

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            odd = field in found or not 0 < field < 1 << 15
            if odd or len(found) >= _MOST_FIELDS or depth > _MOST_DEPTH:
                raise ValueError("the header of a page has odd fields")
            found[field] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):  # true, false
            return None
        if kind == 3:  # a byte
            self._skip(1)
        elif kind == 5:  # 32 bits
            return self._signed()
        elif kind in (4, 6):  # 16 and 64 bits
            self._varint()
        elif kind == 7:  # a floating-point number
            self._skip(8)
        elif kind == 8:  # text
            self._skip(self._varint())
        elif kind == 12:
            return self.struct(depth + 1)
        else:
            raise ValueError(f"the header of a page has a field of type {kind}")
        return None

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise IndexError

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("the header of a page has a number without an end")

    def _signed(self) -> int:
        value = self._varint()
        if value >= 1 << 32:  # others would cut it off
            raise ValueError("the header of a page has a number of more than 32 bits")
        return (value >> 1) ^ -(value & 1)
