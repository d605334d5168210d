"""The state of a criterion in one file of safetensors; nothing is pickled.

What is not a tensor is JSON in the header of the file, with marks where the tensors belong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor, nn

from mentornet.errors import MentorNetError, cut
from mentornet.files import parse_json, read_bytes, reading, write_bytes

__all__ = ["read_state", "restore", "save_criterion"]

_TENSOR = "tensor:"  # marks a text in the JSON that is the name of a tensor
_TEXT = "text:"  # marks any other text
_KEY = "state"  # of the JSON in the metadata
_LENGTH = 8  # bytes at the start of a file of safetensors, with the length of its header
_LARGEST = 1 << 36  # bytes of the largest state


def save_criterion(criterion: nn.Module, path: Path) -> None:
    """Write the state of `criterion` to `path`, as a whole or not at all."""
    tensors: dict[str, Tensor] = {}
    tree = _apart(criterion.state_dict(), "", tensors)
    write_bytes(path, save(tensors, metadata={_KEY: json.dumps(tree)}))


def read_state(path: Path) -> dict[str, Any]:
    """Return the state that `save_criterion` has written to `path`, on the CPU."""
    content = read_bytes(path, _LARGEST)
    with reading(path, "as the state of a criterion"):
        tensors = load(content)
        length = int.from_bytes(content[:_LENGTH], "little")
        header = parse_json(content[_LENGTH : _LENGTH + length], f"the header of {path}")
        tree = parse_json(header["__metadata__"][_KEY].encode(), f"the header of {path}")
        state = _together(tree, tensors)
    assert isinstance(state, dict)
    return state


def restore(criterion: nn.Module, state: Mapping[str, Any], path: Path) -> None:
    """Restore `criterion` from the state that was read from `path`."""
    try:
        criterion.load_state_dict(state)
    except (RuntimeError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        reason = cut(" ".join(f"{error}".split()), 300)
        raise MentorNetError(
            f"{path} is the state of another training ({reason}); resume with the same training "
            "set, mentor, options and verified samples"
        ) from None


def _apart(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """Return the value with marks in place of its tensors, which are put into `tensors`."""
    if isinstance(value, Tensor):
        tensors[name] = value.detach().cpu().clone().contiguous()  # none may share memory
        return f"{_TENSOR}{name}"
    if isinstance(value, Mapping):
        return {key: _apart(part, f"{name}/{key}", tensors) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_apart(part, f"{name}/{number}", tensors) for number, part in enumerate(value)]
    return f"{_TEXT}{value}" if isinstance(value, str) else value


def _together(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Return the value with its tensors again."""
    if isinstance(value, dict):
        return {key: _together(part, tensors) for key, part in value.items()}
    if isinstance(value, list):
        return [_together(part, tensors) for part in value]
    if not isinstance(value, str):
        return value
    if value.startswith(_TENSOR):
        return tensors[value[len(_TENSOR) :]]
    if value.startswith(_TEXT):
        return value[len(_TEXT) :]
    raise ValueError(f"it has the mark {value!r}, which is not known")
