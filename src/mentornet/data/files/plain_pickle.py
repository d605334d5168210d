"""A reader for pickles of plain data, in which nothing from the file can run.

A pickle is a small program. This machine knows the steps that build numbers, text, bytes, lists,
tuples and dicts. Where a pickle names a function, it gets a stand-in from `pickled_parts`, or is
refused; no class or function of NumPy, of PyTorch or of Python is ever looked up for it. All
protocols (0 to 5) are read, as Python 2 and 3 write them.
"""

from __future__ import annotations

import codecs
import pickle
import struct
from collections.abc import Callable, Iterable
from typing import Any

from mentornet.data.files.pickled_parts import CALLS, NAMES, Buildable, Name, Persistent

__all__ = ["LARGEST", "PlainPickle", "unpickle"]

LARGEST = 1 << 29
"""The number of bytes of the largest pickle that is read. The largest of CIFAR has 155 MB."""

_TEXT, _WORD = 1 << 28, 200  # bytes of the longest text, and of a name or a number in a line
_STEPS = 2_000_000  # the largest file of CIFAR takes some 300,000


def unpickle(content: bytes) -> Any:
    """The plain data in a pickle. A pickle that holds anything else raises an error."""
    return PlainPickle(content).load()


class PlainPickle:
    """One pickle, or several that follow one another.

    Args:
        content: the bytes.
        at: where the first pickle begins.
        persistent: called for what is stored beside the pickle, with its name.

    Attributes:
        at: the place after the last pickle that was read.
    """

    def __init__(self, content: bytes, at: int = 0, persistent: Persistent | None = None) -> None:
        self.at = at
        self._content, self._view, self._persistent = content, memoryview(content), persistent
        self._left = len(content)  # bytes that text may still be turned into
        self._start()

    def _start(self) -> None:
        self.stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The next object."""
        self._start()
        for _ in range(_STEPS):
            step = self.number("<B")
            if step == _STOP:
                return self.stack.pop()
            if step in _VALUES:
                value = _VALUES[step](self)  # before the stack is looked up, which it may end
                self.stack.append(value)
            elif step in _ACTIONS:
                _ACTIONS[step](self)
            else:
                raise pickle.UnpicklingError(f"it has the unknown step {step:#x}")
        raise pickle.UnpicklingError(f"it takes more than {_STEPS:,} steps")

    # What follows a step in the file.

    def take(self, size: int) -> memoryview:
        """The next bytes; a size that exceeds the file is an error."""
        if not 0 <= size <= len(self._content) - self.at:
            raise pickle.UnpicklingError("it is cut short")
        self.at += size
        return self._view[self.at - size : self.at]

    def number(self, kind: str) -> Any:
        """The next number, in a format of `struct`."""
        return struct.unpack(kind, self.take(struct.calcsize(kind)))[0]

    def line(self) -> memoryview:
        """The bytes up to the next end of a line."""
        line = self.take(self._content.find(b"\n", self.at) - self.at)
        self.at += 1
        return line

    def text(self, view: memoryview, encoding: str = "utf-8") -> str:
        """Bytes as text. A character may take 4 bytes of memory, so very long text is refused."""
        if len(view) > _TEXT:
            raise pickle.UnpicklingError(f"it has a text of {len(view):,} bytes")
        return str(view, encoding, "surrogatepass" if encoding == "utf-8" else "strict")

    def latin_text(self, size: int) -> str:
        """The next bytes as Python 2 has text, which may be the bytes of an array."""
        return str(self.take(size), "latin-1")

    def quoted(self) -> str:
        """The next line as such text in quotation marks."""
        line = self.line()
        if len(line) < 2 or line[0] != line[-1] or line[0] not in b"'\"":
            raise pickle.UnpicklingError("it has text without quotation marks")
        return codecs.escape_decode(line[1:-1])[0].decode("latin-1")

    def word(self) -> bytes:
        """The next line, if it is short."""
        line = self.line()
        if len(line) > _WORD:
            raise pickle.UnpicklingError(f"it has a name or a number of {len(line):,} bytes")
        return bytes(line)

    def whole(self) -> int | bool:
        """The next line as a whole number; 00 and 01 are false and true."""
        word = self.word().rstrip(b"L")
        return word == b"01" if word in (b"00", b"01") else int(word)

    def latin(self, value: Any) -> Any:
        """Bytes that a pickle may have as text; all together no more than the file has."""
        if not isinstance(value, str):
            return value
        self._left -= len(value)
        if self._left < 0:
            raise pickle.UnpicklingError("it holds more bytes than the file has")
        return value.encode("latin-1")

    # What a step does with the stack.

    def mark(self) -> None:
        """Begin a group of values."""
        self._marks.append(self.stack)
        self.stack = []

    def group(self) -> list[Any]:
        """End the group, and return its values."""
        group, self.stack = self.stack, self._marks.pop()
        return group

    def put(self, place: int) -> None:
        """Remember the topmost value."""
        self.memo[place] = self.stack[-1]

    def append(self, values: Iterable[Any]) -> None:
        """Add values to the list on top."""
        if not isinstance(self.stack[-1], list):
            raise pickle.UnpicklingError("it adds to what is no list")
        self.stack[-1].extend(values)

    def update(self, values: list[Any]) -> None:
        """Add keys and values to the dict on top. Keys are text, whose hashes nobody can forge."""
        target = self.stack[-1]
        if not isinstance(target, dict) or len(values) % 2:
            raise pickle.UnpicklingError("it adds to what is no dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            name = str(key, "latin-1") if isinstance(key, bytes | memoryview) else key
            if not isinstance(name, str):
                raise pickle.UnpicklingError(f"a key must be text, got {type(key).__name__}")
            target[name] = value

    def name(self, module: Any, name: Any) -> Name:
        """The stand-in of a function or a class; an unknown one is refused."""
        if not isinstance(module, str) or not isinstance(name, str):
            raise pickle.UnpicklingError("it has a name that is no text")
        found = Name(module, name)
        if found not in CALLS and found not in NAMES:
            raise pickle.UnpicklingError(f"it asks for {module:.80}.{name:.80}")
        return found

    def call(self) -> None:
        """Call a stand-in."""
        arguments, name = self.stack.pop(), self.stack.pop()
        if not isinstance(name, Name) or name not in CALLS or not isinstance(arguments, tuple):
            raise pickle.UnpicklingError("it calls what is no function")
        self.stack.append(CALLS[name](self, *arguments))

    def build(self) -> None:
        """Give a stand-in its state."""
        state = self.stack.pop()
        if not isinstance(self.stack[-1], Buildable):
            raise pickle.UnpicklingError("it changes what is plain data")
        self.stack[-1].build(self, state)

    def stored(self) -> None:
        """Look up what is stored beside the pickle."""
        if self._persistent is None:
            raise pickle.UnpicklingError("it asks for what is stored elsewhere")
        self.stack.append(self._persistent(self.stack.pop()))


_STOP = ord(".")

_VALUES: dict[int, Callable[[PlainPickle], Any]] = {
    ord("N"): lambda _: None,
    0x88: lambda _: True,
    0x89: lambda _: False,
    ord("K"): lambda it: it.number("<B"),
    ord("M"): lambda it: it.number("<H"),
    ord("J"): lambda it: it.number("<i"),
    0x8A: lambda it: int.from_bytes(it.take(it.number("<B")), "little", signed=True),
    ord("I"): PlainPickle.whole,
    ord("L"): PlainPickle.whole,
    ord("F"): lambda it: float(it.word()),
    ord("G"): lambda it: it.number(">d"),
    ord("S"): PlainPickle.quoted,
    ord("T"): lambda it: it.latin_text(it.number("<i")),
    ord("U"): lambda it: it.latin_text(it.number("<B")),
    ord("V"): lambda it: it.text(it.line(), "raw-unicode-escape"),
    ord("X"): lambda it: it.text(it.take(it.number("<I"))),
    0x8C: lambda it: it.text(it.take(it.number("<B"))),
    0x8D: lambda it: it.text(it.take(it.number("<Q"))),
    ord("B"): lambda it: it.take(it.number("<I")),
    ord("C"): lambda it: it.take(it.number("<B")),
    0x8E: lambda it: it.take(it.number("<Q")),
    0x96: lambda it: it.take(it.number("<Q")),
    ord("]"): lambda _: [],
    ord(")"): lambda _: (),
    ord("}"): lambda _: {},
    ord("g"): lambda it: it.memo[int(it.word())],
    ord("h"): lambda it: it.memo[it.number("<B")],
    ord("j"): lambda it: it.memo[it.number("<I")],
    ord("2"): lambda it: it.stack[-1],
    ord("l"): PlainPickle.group,
    ord("t"): lambda it: tuple(it.group()),
    0x85: lambda it: (it.stack.pop(),),
    0x86: lambda it: (it.stack.pop(), it.stack.pop())[::-1],
    0x87: lambda it: (it.stack.pop(), it.stack.pop(), it.stack.pop())[::-1],
    ord("c"): lambda it: it.name(it.word().decode(), it.word().decode()),
    0x93: lambda it: it.name(*(it.stack.pop(), it.stack.pop())[::-1]),
}
"""The steps that put a value on the stack."""


def _dict(it: PlainPickle) -> None:
    values = it.group()
    it.stack.append({})
    it.update(values)


_ACTIONS: dict[int, Callable[[PlainPickle], object]] = {
    0x80: lambda it: it.number("<B"),  # the protocol
    0x95: lambda it: it.number("<Q"),  # the size of a frame
    ord("("): PlainPickle.mark,
    ord("0"): lambda it: it.stack.pop(),
    ord("1"): PlainPickle.group,
    ord("p"): lambda it: it.put(int(it.word())),
    ord("q"): lambda it: it.put(it.number("<B")),
    ord("r"): lambda it: it.put(it.number("<I")),
    0x94: lambda it: it.put(len(it.memo)),
    ord("a"): lambda it: it.append([it.stack.pop()]),
    ord("e"): lambda it: it.append(it.group()),
    ord("d"): _dict,
    ord("s"): lambda it: it.update([it.stack.pop(), it.stack.pop()][::-1]),
    ord("u"): lambda it: it.update(it.group()),
    ord("R"): PlainPickle.call,
    ord("b"): PlainPickle.build,
    ord("Q"): PlainPickle.stored,
}
"""The other steps."""
