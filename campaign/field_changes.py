"""Changes of the fields of JSON, TOML and CSV: other types, extreme values, other names."""

from __future__ import annotations

import csv
import io
import json
import re
from random import Random
from typing import Any

from campaign.byte_changes import EXTREMES

__all__ = ["change_csv", "change_json", "change_lines", "change_toml", "odd_value"]

_DIGITS, _DEEP = "\x01digits\x01", "\x01deep\x01"
_RAW = {json.dumps(_DIGITS): "9" * 6_000, json.dumps(_DEEP): "[" * 100_000 + "]" * 100_000}
_TEXTS = ("", " ", "a", "1", "1.0", "٣", "-1", "nan", "1e999", "\0", "é", "𝄞", "../../x",
          "/dev/zero", "=1+1", "<b>", "a\nb", "x" * 100_000, "evil:factory",
          "os:system", "None", "true", "C:\\x", "\ud800", "1" * 500)  # fmt: skip
_NUMBERS: tuple[Any, ...] = (
    *EXTREMES, 2, 3, 10**12, -(10**12), 10**23, 2**64, 0.5, -0.5, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"),
)  # fmt: skip


def odd_value(rng: Random, depth: int = 0) -> Any:
    """Return a value that JSON can hold, of any type, often an extreme one."""
    draw = rng.random()
    if draw < 0.45:
        return rng.choice(_NUMBERS)
    if draw < 0.7:
        return rng.choice(_TEXTS)
    if draw < 0.85:
        return rng.choice((None, True, False, _DIGITS, _DEEP))
    if depth > 2:
        return []
    values = [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return values if rng.random() < 0.5 else {rng.choice(_TEXTS): value for value in values}


def _places(content: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value, outermost first."""
    found = [above]
    if isinstance(content, dict | list):
        inner = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in list(inner)[:50]:
            found += _places(value, (*above, key))
    return found


def _change_value(rng: Random, content: Any) -> Any:
    """Replace, remove, rename or repeat one value anywhere inside."""
    place = rng.choice(_places(content))
    if not place:
        return odd_value(rng)
    home = content
    for key in place[:-1]:
        home = home[key]
    key, draw = place[-1], rng.random()
    if draw < 0.6:
        home[key] = odd_value(rng)
    elif draw < 0.8:
        del home[key]
    elif isinstance(home, dict):
        home[rng.choice((f"{key}x", f"{key}".upper(), *_TEXTS[:8]))] = home.pop(key)
    else:
        home.extend(home[key : key + 1] * rng.choice((1, 2, 1_000)))
    return content


def change_json(rng: Random, content: bytes) -> bytes:
    """Change one or two values of a JSON text."""
    value = json.loads(content)
    for _ in range(rng.choice((1, 1, 2))):
        value = _change_value(rng, value)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    for marker, raw in _RAW.items():
        text = text.replace(marker, raw)
    return text.encode("utf-8", "surrogatepass")


def change_lines(rng: Random, content: bytes) -> bytes:
    """Change one line of a text; if it is JSON, one value of it."""
    lines = content.splitlines(keepends=True)
    place, draw = rng.randrange(len(lines) or 1), rng.random()
    if not lines or draw < 0.1:
        return content + b"\n\n\xff\x00\n"
    if draw < 0.25:
        del lines[place]
    elif draw < 0.35:
        lines.insert(place, lines[rng.randrange(len(lines))])
    elif lines[place].startswith((b"{", b"[")):
        lines[place] = change_json(rng, lines[place]) + b"\n"
    else:
        words = lines[place].split(b" ")
        words[rng.randrange(len(words))] = _as_word(rng)
        lines[place] = b" ".join(words) + b"\n" * (rng.random() < 0.8)
    return b"".join(lines)


def _as_word(rng: Random) -> bytes:
    return f"{odd_value(rng, 3)}".encode("utf-8", "replace")


def change_toml(rng: Random, content: bytes) -> bytes:
    """Change one or two lines of a TOML text."""
    lines = content.decode().splitlines()
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.randrange(len(lines))
        key, equals, value = lines[place].partition(" = ")
        draw = rng.random()
        if draw < 0.65 and equals:
            lines[place] = f"{key} = {_toml_value(rng)}"
        elif draw < 0.75:
            lines[place] = f"{key}x{equals}{value}"
        elif draw < 0.85:
            lines.append(lines[place])
        else:
            lines[place] = rng.choice(("", "[[x]]", "[x", "[a." + "b." * 5_000 + "c]", "\0"))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _toml_value(rng: Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(("[" * 20_000 + "]" * 20_000, "9" * 6_000, "1979-05-27", "0x" + "f" * 99,
                           "inf", "-nan", "{a = 1}", '["a", 1]'))  # fmt: skip
    value = odd_value(rng, 3)
    if value is None or isinstance(value, dict):
        return "{}"
    return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


def change_csv(rng: Random, content: bytes) -> bytes:
    """Change a cell, a column's name, or the shape of a table."""
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    for _ in range(rng.choice((1, 1, 2))):
        row = rows[rng.choice((0, rng.randrange(len(rows))))] if rows else []
        draw, place = rng.random(), rng.randrange(len(row) or 1)
        if draw < 0.6 and row:
            row[place] = re.sub("\ud800", "?", f"{odd_value(rng, 3)}")
        elif draw < 0.7 and row:
            del row[place]
        elif draw < 0.8 and row:
            row.insert(place, rng.choice(row))
        else:
            rows.insert(rng.randrange(len(rows) + 1), list(row) * rng.choice((0, 1, 2, 200)))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=rng.choice(",,,,;\t"), quoting=rng.choice((0, 0, 1)))
    writer.writerows(rows)
    return text.getvalue().encode(rng.choice(("utf-8",) * 6 + ("utf-8-sig", "utf-16")), "replace")
