"""Hostile pickles, made of the steps that a pickle can have."""

from __future__ import annotations

import pickle
import struct
from random import Random

from campaign.byte_changes import EXTREMES, garbage

__all__ = ["change_pickle", "pickle_program"]

_NAMES = (
    "os system", "builtins eval", "builtins exec", "builtins getattr", "posix system",
    "subprocess Popen", "numpy ndarray", "numpy dtype", "numpy.core.multiarray _reconstruct",
    "numpy._core.multiarray _reconstruct", "numpy.core.multiarray scalar", "_codecs encode",
    "numpy._core.numeric _frombuffer", "torch._utils _rebuild_tensor_v2", "torch LongStorage",
    "torch ByteStorage", "collections OrderedDict", "copyreg _reconstructor", "evil factory",
    "numpy.testing._private.utils runstring", "numpy load", "pickle loads",
)  # fmt: skip
_SIMPLE = b"N\x88\x89](}){.lt\x85\x86\x87aesud0122RRRbbbQ\x94\x8f\x90\x91\x92\x81\x93o"


def pickle_program(rng: Random) -> bytes:
    """Return a random program that names functions, builds values and calls them."""
    steps = [b"\x80" + bytes([rng.choice((0, 1, 2, 3, 4, 5, 9))])]
    steps += [_step(rng) for _ in range(rng.choice((3, 10, 40, 300)))]
    if rng.random() < 0.5:
        steps.append(_call(rng))
    return b"".join(steps) + b"." * (rng.random() < 0.9)


def _step(rng: Random) -> bytes:
    draw = rng.random()
    if draw < 0.35:
        return bytes([rng.choice(_SIMPLE)])
    if draw < 0.5:
        return b"c" + rng.choice(_NAMES).replace(" ", "\n").encode() + b"\n"
    if draw < 0.7:
        return _number(rng)
    if draw < 0.9:
        return _text(rng)
    if draw < 0.95:
        return rng.choice(
            (
                b"q\x00",
                b"h\x00",
                b"r" + struct.pack("<I", rng.choice((0, 2**31, 2**32 - 1))),
                b"j\0\0\0\0",
            )
        )
    return _call(rng)


def _number(rng: Random) -> bytes:
    number = rng.choice(EXTREMES)
    kind = rng.randrange(6)
    if kind == 0:
        return b"J" + struct.pack("<I", number & 0xFFFFFFFF)
    if kind == 1:
        return b"I%d\n" % number
    if kind == 2:
        raw = number.to_bytes(9, "little", signed=True)
        return b"\x8a" + bytes([len(raw)]) + raw
    if kind == 3:
        return b"L" + rng.choice((b"1" * 5_000, b"%d" % number, b"x")) + b"L\n"
    if kind == 4:
        return b"G" + struct.pack(">d", float(number))
    return b"K" + bytes([number & 0xFF])


def _text(rng: Random) -> bytes:
    text = rng.choice((b"data", b"labels", b"i8", b"O8", b"b", b"|", b"latin1", garbage(rng, 50)))
    stated = rng.choice((len(text),) * 6 + (2**31 - 1, 2**32 - 1))
    code = rng.choice(
        (b"X", b"B", b"T", b"\x8c", b"C", b"U", b"\x8e", b"\x8d", b"\x96", b"V", b"S")
    )
    if code in b"VS":
        return code + b"'" + text.replace(b"\n", b"") + b"'\n"
    if code in (b"\x8c", b"C", b"U"):
        return code + bytes([min(255, len(text))]) + text
    return code + struct.pack("<Q" if code in (b"\x8e", b"\x8d", b"\x96") else "<I", stated) + text


def _call(rng: Random) -> bytes:
    """A call that touches a file if it is made."""
    name = rng.choice(_NAMES).replace(" ", "\n").encode()
    return (
        b"c" + name + b"\n" + b"(X\x09\x00\x00\x00touch ran" + rng.choice((b"tR", b"l", b"t\x81"))
    )


def change_pickle(rng: Random, content: bytes) -> bytes:
    """Put a random program into a pickle, before its end or in its place."""
    if rng.random() < 0.5:
        return pickle_program(rng)
    program = pickle_program(rng)
    if rng.random() < 0.5:
        place = rng.randrange(len(content) + 1)
        return content[:place] + program[2:-1] + content[place:]
    wrapped = pickle.dumps({"labels": [0, 1], "data": 0}, rng.randrange(6))
    return wrapped[:-1] + program[2:]
