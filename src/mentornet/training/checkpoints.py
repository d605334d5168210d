"""Checkpoints: written whole, checked when read, the last two kept.

The name of a checkpoint ends in the start of its SHA-256, so a damaged one is told from a good
one, and the one before it is taken.
"""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import Any

import torch

from mentornet.files import write_bytes

__all__ = ["Checkpoints"]

_NAME = re.compile(r"epoch-(\d+)-([0-9a-f]{16})\.pt")
_KEPT = 2


class Checkpoints:
    """The checkpoints in a folder.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, epoch: int, state: dict[str, Any]) -> Path:
        """Write the state after `epoch` epochs, then drop all but the last two."""
        buffer = io.BytesIO()
        torch.save(state, buffer)
        content = buffer.getvalue()
        digest = hashlib.sha256(content).hexdigest()[:16]
        path = self.folder / f"epoch-{epoch:04d}-{digest}.pt"
        write_bytes(path, content)
        for old in self.paths()[:-_KEPT]:
            old.unlink()
        return path

    def paths(self) -> list[Path]:
        """All checkpoints, oldest first."""
        if not self.folder.is_dir():
            return []
        found = {
            path: int(match[1])
            for path in self.folder.iterdir()
            if (match := _NAME.fullmatch(path.name))
        }
        return sorted(found, key=lambda path: (found[path], path.stat().st_mtime))

    def peek(self) -> dict[str, Any] | None:
        """The newest state that is whole, for somebody who only looks: nothing is moved."""
        for path in reversed(self.paths()):
            content = path.read_bytes()
            match = _NAME.fullmatch(path.name)
            assert match is not None
            if hashlib.sha256(content).hexdigest()[:16] == match[2]:
                state: dict[str, Any] = torch.load(
                    io.BytesIO(content), map_location="cpu", weights_only=True
                )
                return state
        return None

    def load_last(self) -> tuple[dict[str, Any] | None, list[str]]:
        """The newest state that is whole, or None; and a line on each one that is not."""
        complaints: list[str] = []
        for path in reversed(self.paths()):
            content = path.read_bytes()
            match = _NAME.fullmatch(path.name)
            assert match is not None
            if hashlib.sha256(content).hexdigest()[:16] == match[2]:
                state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
                return state, complaints
            complaints.append(f"{path} is damaged; going on from the one before it")
            path.rename(path.with_name(f"damaged-{path.name}"))
        return None, complaints
