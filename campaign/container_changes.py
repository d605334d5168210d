"""Changes inside containers: zip, gzip, tar, parquet, safetensors, checkpoints of PyTorch."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import tarfile
import zipfile
from random import Random
from typing import Any

from campaign.byte_changes import EXTREMES, change_bytes
from campaign.field_changes import change_json, odd_value
from campaign.pickle_programs import change_pickle
from tests.hostile_parquet import BOMBS

__all__ = [
    "change_checkpoint", "change_gzip", "change_npy", "change_parquet", "change_safetensors",
    "change_tar", "change_zip",
]  # fmt: skip

_TYPES = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE,
          b"S", b"x", b"L")  # fmt: skip
_BOMB = 3 << 30  # bytes that a bomb unpacks to


def _zeros(size: int) -> bytes:
    """Return many zeros, compressed by gzip to a thousandth; made of repeated members."""
    member = gzip.compress(bytes(1 << 24), 1)
    return member * (size >> 24)


def change_npy(rng: Random, content: bytes) -> bytes:
    """State another type, shape or order in the header of a `.npy` file."""
    shape = tuple(rng.choice((*EXTREMES, 3, 6)) for _ in range(rng.choice((0, 1, 1, 2, 3, 40))))
    descr = rng.choice(
        ("<i8", "|O", ">i4", "<f8", "|b1", "|S8", "<m8[s]", "<c16", "<U4", "V9", "x")
    )
    header: Any = {"descr": descr, "fortran_order": rng.choice((True, False, 1)), "shape": shape}
    if rng.random() < 0.2:
        header[rng.choice(("descr", "shape", "more"))] = odd_value(rng, 3)
    text = f"{header!r}".encode("utf-8", "replace")
    if rng.random() < 0.1:
        text = rng.choice((b"(" * 5_000, b"-" * 9_000 + b"1", b"{", b"__import__('os')"))
    version = rng.choice((1, 1, 1, 2, 3, 4))
    size = struct.pack("<H" if version == 1 else "<I", len(text) % 65536)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + content[-48:]


def change_zip(rng: Random, content: bytes) -> bytes:
    """Change, add, remove or repeat a member of an archive of arrays or of `torch.save`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place, draw = rng.randrange(len(members)), rng.random()
    name, inner = members[place]
    if draw < 0.6:
        change = change_npy if name.endswith(".npy") and rng.random() < 0.6 else change_bytes
        change = change_pickle if name.endswith(".pkl") and rng.random() < 0.7 else change
        members[place] = (name, change(rng, inner))
    elif draw < 0.7:
        del members[place]
    elif draw < 0.8:
        members.append(members[place])
    elif draw < 0.9:
        members[place] = (rng.choice((name + "x", "../x.npy", "/x.npy", ".", "é" * 500)), inner)
    else:
        big = rng.choice((1 << 20, 1 << 28))
        members.append((rng.choice((name, "more.npy")), inner[:128] + bytes(big)))
    buffer = io.BytesIO()
    how = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2))
    how = zipfile.ZIP_DEFLATED if draw >= 0.9 else how
    with zipfile.ZipFile(buffer, "w", how, compresslevel=1) as archive:
        for name, inner in members:
            archive.writestr(name, inner)
    made = buffer.getvalue()
    return change_bytes(rng, made) if rng.random() < 0.2 else made


def change_gzip(rng: Random, content: bytes) -> bytes:
    """Change what is compressed, or append a bomb."""
    inner = gzip.decompress(content)
    if inner[257:262] == b"ustar" and rng.random() < 0.7:
        return gzip.compress(change_tar(rng, inner), 1)
    if rng.random() < 0.1:
        return gzip.compress(inner, 1) + _zeros(_BOMB)
    return gzip.compress(change_bytes(rng, inner), 1)


def change_tar(rng: Random, content: bytes) -> bytes:
    """Change, add or rename members of a tar archive; some become links or devices."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [
            (member, file.read() if (file := archive.extractfile(member)) else b"")
            for member in archive.getmembers()
        ]
    for _ in range(rng.choice((1, 1, 2))):
        place, draw = rng.randrange(len(members)), rng.random()
        member, inner = members[place]
        if draw < 0.4:
            inner = change_bytes(rng, inner)
            if member.name.endswith(".cls"):
                inner = f"{odd_value(rng, 3)}".encode("utf-8", "replace")
            if member.name.endswith(".json") and rng.random() < 0.7:
                inner = change_json(rng, members[place][1])
            members[place] = (member, inner)
        elif draw < 0.5:
            members.append(members[place])
        elif draw < 0.6 and len(members) > 1:
            del members[place]
        elif draw < 0.8:
            member.name = rng.choice(
                (member.name + "x", "../../x", "/tmp/x", "a\0b", "é" * 200, ".")
            )
        else:
            member.type = rng.choice(_TYPES)
            member.linkname = rng.choice(("/etc/passwd", "../../x", member.name, ""))
    buffer = io.BytesIO()
    form = rng.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member, inner in members:
            member.size = len(inner)
            archive.addfile(member, io.BytesIO(inner))
    made = buffer.getvalue()
    return change_bytes(rng, made) if rng.random() < 0.2 else made


def change_parquet(rng: Random, content: bytes) -> bytes:
    """Change the type, the name or the values of a column, or their number; or make a bomb."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    if rng.random() < 0.15:
        names = rng.sample(table.column_names, len(table.column_names))
        return rng.choice(list(BOMBS.values()))(*names)
    names, columns = list(table.column_names), [table[name] for name in table.column_names]
    for _ in range(rng.choice((1, 1, 2))):
        place, draw = rng.randrange(len(columns) or 1), rng.random()
        if not columns:
            break
        if draw < 0.6:
            columns[place] = _odd_column(rng, len(table))
        elif draw < 0.7:
            del columns[place], names[place]
        elif draw < 0.85:
            names[place] = rng.choice((*names, names[place] + "x", "", "é", "path", "label"))
        else:
            columns.append(columns[place])
            names.append(names[place])
    rows = rng.choice((None, None, None, 0, 1))
    made = pa.Table.from_arrays(columns, names).slice(0, rows)
    made = made.replace_schema_metadata({"huggingface": json.dumps(odd_value(rng, 1))})
    buffer = io.BytesIO()
    pq.write_table(made, buffer, compression=rng.choice(("zstd", "snappy", "none", "gzip")))
    return buffer.getvalue()


def _odd_column(rng: Random, count: int) -> Any:
    import pyarrow as pa

    numbers = [rng.choice(EXTREMES) for _ in range(count)]
    small = [number % 100 for number in numbers]
    kind = rng.randrange(12)
    if kind == 0:
        return pa.array(numbers, pa.int64())
    if kind == 1:
        return pa.array([rng.choice((None, number)) for number in small], pa.int32())
    if kind == 2:
        return pa.array([rng.choice((0.5, float("nan"), 1e308, None)) for _ in numbers])
    if kind == 3:
        return pa.array([rng.choice(("", "a", "1", "é", "x" * 50_000, None)) for _ in numbers])
    if kind == 4:
        return pa.array([rng.choice((b"", b"\xff", b"a")) for _ in numbers])
    if kind == 5:
        return pa.array([[number] * (number % 4) for number in numbers], pa.list_(pa.int64()))
    if kind == 6:
        return pa.array([{"bytes": b"x", "path": None} for _ in numbers])
    if kind == 7:
        return pa.nulls(count)
    if kind == 8:
        return pa.array(small, pa.timestamp("ns"))
    if kind == 9:
        return pa.array([number % 2**63 for number in numbers], pa.uint64())
    if kind == 10:
        return pa.array([bool(number % 2) for number in numbers])
    return pa.array([f"{number}" for number in small]).dictionary_encode()


def change_safetensors(rng: Random, content: bytes) -> bytes:
    """Change the header of a file of weights: names, types, shapes, places; or its numbers."""
    size = struct.unpack("<Q", content[:8])[0]
    header, body = content[8 : 8 + size], content[8 + size :]
    draw = rng.random()
    if draw < 0.6:
        header = change_json(rng, header)
    elif draw < 0.8 and len(body) >= 4:
        place = 4 * rng.randrange(len(body) // 4)
        odd = struct.pack("<f", rng.choice((float("nan"), float("inf"), 1e38, -1e38)))
        body = body[:place] + odd + body[place + 4 :]
    else:
        size = rng.choice((0, 1, 2**32, 2**63, 2**64 - 1, len(header) + 1))
        return struct.pack("<Q", size) + header + body
    return struct.pack("<Q", len(header)) + header + body


def change_checkpoint(rng: Random, content: bytes) -> bytes:
    """Change one value of the state in a checkpoint: another type, size, number, or none."""
    import torch

    state = torch.load(io.BytesIO(content), "cpu", weights_only=True)
    home, key = _inside(rng, state)
    draw = rng.random()
    if draw < 0.15:
        del home[key]
    elif draw < 0.6 or not isinstance(home[key], torch.Tensor):
        home[key] = rng.choice((odd_value(rng, 3), torch.zeros(3), torch.tensor(float("nan"))))
    elif draw < 0.75:
        home[key] = home[key].to(rng.choice((torch.float64, torch.int64, torch.bool, torch.int8)))
    elif draw < 0.9:
        home[key] = torch.full_like(home[key], rng.choice((0, 1, 100)))
    else:
        home[key] = home[key].reshape(-1)[: rng.randrange(4)]
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def _inside(rng: Random, state: Any) -> tuple[Any, Any]:
    """A place in nested dicts and lists."""
    home, key = state, rng.choice(list(state))
    while isinstance(home[key], dict | list) and len(home[key]) and rng.random() < 0.8:
        home = home[key]
        key = rng.choice(list(home)) if isinstance(home, dict) else rng.randrange(len(home))
    return home, key


def checkpoint_name(epoch: str, content: bytes) -> str:
    """Return the name that a checkpoint of these bytes has, so that it counts as whole."""
    return f"epoch-{epoch}-{hashlib.sha256(content).hexdigest()[:16]}.pt"
