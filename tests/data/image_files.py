"""Files for the tests to read: images of every kind, and tables of them."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

Pixels = np.typing.NDArray[np.uint8]


def random_pixels(*shape: int, seed: int = 0) -> Pixels:
    """Bytes of any shape: (H, W) for grey, (H, W, 3) for colour."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def png(pixels: Pixels) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def write_png(path: Path, *shape: int, seed: int = 0) -> Pixels:
    """A random image at `path`, its folders made; returns the pixels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = random_pixels(*(shape or (8, 8, 3)), seed=seed)
    path.write_bytes(png(pixels))
    return pixels


def huge_png(side: int) -> bytes:
    """A few bytes that claim to be a grey image of side × side."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    content = zlib.compress(b"\0" * 100)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", content)


def write_parquet(
    path: Path, columns: Mapping[str, Sequence[Any]], metadata: Mapping[str, str] | None = None
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(metadata), path)
