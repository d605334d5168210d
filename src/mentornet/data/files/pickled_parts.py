"""Stand-ins for all that a pickle of arrays or tensors refers to.

Each collects and checks what the pickle says. The arrays are then rebuilt from their bytes by
`arrays.rebuild`, so that no function of NumPy or PyTorch sees state that a file made up.
"""

from __future__ import annotations

import math
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mentornet.data.files.arrays import check_shape, plain_dtype, rebuild

__all__ = ["CALLS", "NAMES", "Buildable", "Name", "Persistent", "PickledArray", "Storage", "Tensor"]

Persistent = Callable[[Any], Any]
"""A function that finds what is stored beside a pickle, by its name."""


class Name(NamedTuple):
    """A function or a class that a pickle refers to."""

    module: str
    name: str


class Machine(Protocol):
    """What a stand-in asks of the machine that reads the pickle."""

    def latin(self, value: Any) -> Any:
        """Bytes that a pickle may have as text."""


class Buildable(ABC):
    """A stand-in that gets its state after it was made."""

    @abstractmethod
    def build(self, machine: Machine, state: Any) -> None:
        """Check the state, and keep what is needed of it."""


class PickledType(Buildable):
    """Stands in for a `numpy.dtype` of plain numbers, or of Python objects."""

    def __init__(self, machine: Machine, descr: Any, *_: Any) -> None:
        del machine
        self.is_object = descr in ("O", "O8", "O4", "|O")
        self._descr, self._order = descr, ""
        if not self.is_object:
            plain_dtype(descr)

    def build(self, machine: Machine, state: Any) -> None:
        del machine
        if not isinstance(state, tuple) or len(state) < 5 or state[1] not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError("the type of an array has an odd state")
        if any(part is not None for part in state[2:5]):
            raise pickle.UnpicklingError("an array must hold plain numbers, got a structure")
        self._order = state[1]

    def plain(self) -> np.dtype[Any]:
        """The type; `ValueError` unless it is one of plain numbers."""
        return plain_dtype(self._order + str(self._descr).lstrip("<>|="))


class PickledArray(Buildable):
    """Stands in for an array.

    Attributes:
        value: the rebuilt array; a list of the objects if it is an array of Python objects, or the
            object itself if that array has no dimension.
    """

    value: Any = None

    def build(self, machine: Machine, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise pickle.UnpicklingError("an array has an odd state")
        _, shape, kind, fortran, content = state
        self.fill(machine, content, kind, shape, fortran=bool(fortran))

    def fill(
        self, machine: Machine, content: Any, kind: Any, shape: Any, *, fortran: bool
    ) -> PickledArray:
        """Rebuild the array, and return it."""
        check_shape(shape)
        if not isinstance(kind, PickledType):
            raise pickle.UnpicklingError("an array has no type")
        if not kind.is_object:
            self.value = rebuild(_bytes(machine, content), kind.plain(), shape, fortran=fortran)
        elif isinstance(content, list) and len(content) == math.prod(shape) and len(shape) < 2:
            self.value = content if shape else content[0]
        else:
            raise pickle.UnpicklingError("an array must hold plain numbers, got objects")
        return self


class Storage:
    """The numbers of a tensor, which are stored beside the pickle.

    Args:
        descr: their type, in the byte order of the file.
        count: how many there are.
        read: a function that returns their bytes.
    """

    def __init__(self, descr: str, count: Any, read: Callable[[], Any]) -> None:
        self.descr, self.count, self.read = descr, count, read

    def array(self) -> NDArray[Any]:
        """The numbers."""
        return rebuild(self.read(), plain_dtype(self.descr), (self.count,), fortran=False)


class Tensor:
    """Stands in for a tensor. Its numbers are read when they are asked for."""

    def __init__(self, _: Machine, storage: Any, offset: Any, shape: Any, steps: Any, *__: Any):
        for sizes in (shape, steps, (offset,)):
            check_shape(sizes)
        if not isinstance(storage, Storage) or len(shape) != len(steps):
            raise pickle.UnpicklingError("a tensor has an odd state")
        self.storage, self.offset, self.shape, self.steps = storage, offset, shape, steps

    def array(self) -> NDArray[Any]:
        """The tensor, which must have one dimension, as an array."""
        if len(self.shape) != 1:
            raise ValueError(f"a tensor must have one dimension, got the shape {self.shape}")
        (count,), (step,) = self.shape, self.steps
        found = self.storage.array()[self.offset :: max(step, 1)][:count]
        if len(found) != count:
            raise ValueError("a tensor exceeds its storage")
        return found


def _bytes(machine: Machine, content: Any) -> Any:
    content = machine.latin(content)
    if not isinstance(content, bytes | memoryview):
        raise pickle.UnpicklingError(f"an array needs bytes, got {type(content).__name__}")
    return content


def _reconstruct(machine: Machine, kind: Any, *_: Any) -> PickledArray:
    del machine
    if kind != Name("numpy", "ndarray"):
        raise pickle.UnpicklingError("an array must be plain")
    return PickledArray()


def _from_buffer(
    machine: Machine, content: Any, kind: Any, shape: Any, order: Any, *_: Any
) -> PickledArray:
    return PickledArray().fill(machine, content, kind, shape, fortran=order == "F")


def _scalar(machine: Machine, kind: Any, content: Any) -> Any:
    return PickledArray().fill(machine, content, kind, (), fortran=False).value.item()


def _encode(machine: Machine, text: Any, encoding: Any) -> Any:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError("it encodes text other than as bytes")
    return machine.latin(text)


def _ordered(_: Machine) -> dict[str, Any]:
    return {}


def _no_bytes(_: Machine) -> bytes:
    return b""


CALLS: dict[Name, Callable[..., Any]] = {
    Name("numpy", "dtype"): PickledType,
    Name("_codecs", "encode"): _encode,
    Name("__builtin__", "bytes"): _no_bytes,
    Name("builtins", "bytes"): _no_bytes,
    Name("collections", "OrderedDict"): _ordered,
    Name("torch._utils", "_rebuild_tensor"): Tensor,
    Name("torch._utils", "_rebuild_tensor_v2"): Tensor,
    **{
        Name(f"numpy.{core}.{module}", name): call
        for core in ("core", "_core")  # before and since NumPy 2
        for module, name, call in (
            ("multiarray", "_reconstruct", _reconstruct),
            ("multiarray", "scalar", _scalar),
            ("numeric", "_frombuffer", _from_buffer),
        )
    },
}
"""What a pickle may call, and our stand-in for it."""

NAMES: dict[Name, str] = {
    Name("numpy", "ndarray"): "",
    **{
        Name("torch", f"{kind}Storage"): descr
        for kind, descr in {
            "Bool": "b1", "Char": "i1", "Byte": "u1", "Short": "i2", "Int": "i4", "Long": "i8",
            "Half": "f2", "Float": "f4", "Double": "f8",
        }.items()
    },
}  # fmt: skip
"""What a pickle may name and not call: NumPy's array, and the types of PyTorch's storages."""
