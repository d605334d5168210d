"""Checkpoints: they are written whole and checked when read, and the last two are kept.

The name of a checkpoint ends with the start of its SHA-256. If a checkpoint is damaged, this shows,
and the one before it is used.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from mentornet.errors import MentorNetError
from mentornet.files import read_bytes, reading, write_bytes

__all__ = ["Checkpoints"]

_DIGITS = 16  # of the hash, in a name
_NAME = re.compile(rf"epoch-([0-9]+)-[0-9a-f]{{{_DIGITS}}}\.pt")
_KEPT = 2
_LARGEST = 1 << 36  # bytes of the largest checkpoint


class Checkpoints:
    """The checkpoints in a folder.

    Args:
        folder: the folder; it need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, epoch: int, state: dict[str, Any]) -> Path:
        """Write the state after `epoch` epochs, then delete all but the last two checkpoints."""
        buffer = io.BytesIO()
        torch.save(state, buffer)
        content = buffer.getvalue()
        digest = hashlib.sha256(content).hexdigest()[:_DIGITS]
        path = self.folder / f"epoch-{epoch:04d}-{digest}.pt"
        write_bytes(path, content)
        for old in self.paths()[:-_KEPT]:
            old.unlink()
        return path

    def paths(self) -> list[Path]:
        """Return the paths of all checkpoints, oldest first."""
        if not self.folder.is_dir():
            return []
        found = {
            path: int(match[1])
            for path in self.folder.iterdir()
            if (match := _NAME.fullmatch(path.name))
        }
        return sorted(found, key=lambda path: (found[path], path.stat().st_mtime))

    def peek(self) -> dict[str, Any] | None:
        """Return the newest state that is whole, or None; damaged files stay where they are."""
        return next((state for _, state in self._newest_first() if state is not None), None)

    def load_last(self) -> tuple[dict[str, Any] | None, list[str]]:
        """Return the newest state that is whole, or None, and a line on each damaged checkpoint."""
        complaints: list[str] = []
        for path, state in self._newest_first():
            if state is not None:
                return state, complaints
            complaints.append(f"{path} is damaged; the one before it is used")
            path.rename(path.with_name(f"damaged-{path.name}"))
        return None, complaints

    def _newest_first(self) -> Iterator[tuple[Path, dict[str, Any] | None]]:
        """Yield each checkpoint with its state; None if it is damaged."""
        for path in reversed(self.paths()):
            content = read_bytes(path, _LARGEST)
            whole = path.stem.endswith(hashlib.sha256(content).hexdigest()[:_DIGITS])
            yield path, _read(path, content) if whole else None


def _read(path: Path, content: bytes) -> dict[str, Any]:
    """Return the state in a checkpoint that is whole; only tensors and plain values are built."""
    with reading(path, "as a checkpoint"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
        if any(part.compress_type for part in parts):  # as torch never writes them
            raise MentorNetError(f"{path} is no checkpoint: its parts are compressed")
        if sum(part.file_size for part in parts) > len(content):
            raise MentorNetError(f"{path} is no checkpoint: it states more bytes than it has")
        state = torch.load(io.BytesIO(content), "cpu", weights_only=True)
        if not isinstance(state, dict):
            raise MentorNetError(f"{path} is no checkpoint: it holds a {type(state).__name__}")
        return state
