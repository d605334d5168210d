"""What stands at a path in a case: changed bytes, or something that is no file at all."""

from __future__ import annotations

import base64
import json
import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from campaign import container_changes as inner
from campaign import field_changes as fields
from campaign.byte_changes import change_bytes
from campaign.pickle_programs import change_pickle, pickle_program
from tests.data.files.pickles import FORGED, as_npy

__all__ = ["Node", "draw_node"]

_HUGE = 1 << 40  # bytes of a sparse file
_ODD = ("missing", "folder", "fifo", "zero", "loop", "sparse", "nowhere", "locked")


@dataclass(frozen=True)
class Node:
    """What is put at a path.

    Attributes:
        file: the path, relative to the folder of the case.
        kind: `bytes`, or one of the odd things.
        content: the bytes, compressed, as base64.
    """

    file: str
    kind: str
    content: str = ""

    @classmethod
    def of(cls, file: str, content: bytes) -> Node:
        """A file of these bytes."""
        return cls(file, "bytes", base64.b64encode(zlib.compress(content, 1)).decode())

    def put(self, folder: Path) -> None:
        """Write it into the folder, over what is there."""
        path = folder / self.file
        if self.kind == "locked":
            path.chmod(0)
            return
        path.unlink(missing_ok=True)
        if self.kind == "bytes":
            content = zlib.decompress(base64.b64decode(self.content))
            if path.name.startswith("epoch-") and path.suffix == ".pt":
                path = path.with_name(inner.checkpoint_name(path.name.split("-")[1], content))
            path.write_bytes(content)
        elif self.kind == "folder":
            path.mkdir()
        elif self.kind == "fifo":
            os.mkfifo(path)
        elif self.kind == "sparse":
            with path.open("wb") as file:
                file.truncate(_HUGE)
        elif self.kind != "missing":
            targets = {"zero": "/dev/zero", "loop": path.name, "nowhere": "no/such/file"}
            path.symlink_to(targets[self.kind])

    def text(self) -> str:
        """The node as JSON."""
        return json.dumps(asdict(self))


def clear(path: Path) -> None:
    """Remove whatever is at the path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def draw_node(rng: Random, folder: Path, files: list[str]) -> Node:
    """Draw a file and a change of it."""
    name = rng.choice(files)
    if rng.random() < 0.03:
        return Node(name, rng.choice(_ODD))
    content = (folder / name).read_bytes()
    for suffix, change in _BY_NAME.items():
        if name.endswith(suffix):
            return Node.of(name, (change if rng.random() < 0.65 else change_bytes)(rng, content))
    return Node.of(name, change_bytes(rng, content))


def _npy(rng: Random, content: bytes) -> bytes:
    if rng.random() < 0.3:
        return as_npy(rng.choice((*FORGED.values(), pickle_program(rng))))
    if b"|O" in content[:100] and rng.random() < 0.7:
        start = 10 + content[8] + 256 * content[9]
        return content[:start] + change_pickle(rng, content[start:])
    return inner.change_npy(rng, content)


def _batch(rng: Random, content: bytes) -> bytes:
    return rng.choice(list(FORGED.values())) if rng.random() < 0.2 else change_pickle(rng, content)


_BY_NAME: dict[str, Callable[[Random, bytes], bytes]] = {
    ".json": fields.change_json, ".toml": fields.change_toml, ".csv": fields.change_csv,
    ".jsonl": fields.change_lines, ".txt": fields.change_lines, ".npz": inner.change_zip,
    ".npy": _npy, "labels.pt": inner.change_zip, "legacy.pt": change_pickle,
    ".gz": inner.change_gzip, ".tar": inner.change_tar, ".parquet": inner.change_parquet,
    "_batch": _batch, "_batch_1": _batch, ".meta": _batch, "-python/train": _batch,
    "-python/meta": _batch, ".safetensors": inner.change_safetensors,
    ".pt": inner.change_checkpoint,
}  # fmt: skip
"""How files are changed that we know the form of, by the end of their name."""
