"""A reader for pickles of plain data, which never runs code that is in the file."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

__all__ = ["BROKEN", "RECONSTRUCT", "unpickle"]

RECONSTRUCT: Any = np.empty(0).__reduce__()[0]
"""The function that a pickled array refers to; its module depends on the version of NumPy."""

_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}
"""All that a pickled dict of arrays refers to."""

BROKEN = (
    pickle.UnpicklingError, AttributeError, EOFError, IndexError, KeyError, MemoryError, TypeError,
    ValueError,
)  # fmt: skip
"""What `unpickle` may raise for bytes that are no pickle, or a pickle of other things."""


class _Restricted(pickle.Unpickler):
    """Builds lists, dicts, text, bytes, numbers and arrays, and refuses anything else."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def unpickle(content: bytes) -> Any:
    """The plain data in a pickle. A pickle that holds anything else is refused."""
    return _Restricted(io.BytesIO(content), encoding="latin1").load()
