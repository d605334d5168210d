"""Every field of every stored JSON and TOML file: missing, renamed, of other types and versions."""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaign.ledger import Ledger
from campaign.nodes import Node
from campaign.readers import Hand, make_specimens

__all__ = ["changes", "try_fields"]

_DOORS = ("shards", "mentor", "series of mentors", "results", "config.toml", "audit of a run",
          "predict with a run", "resume", "learn-mentor")  # fmt: skip
_ODD: tuple[Any, ...] = (
    None,
    -1,
    0,
    10**12,
    2**70,
    0.5,
    True,
    "",
    "x",
    [],
    {},
    [None],
    {"a": {}},
    1e308,
)
_VERSIONS: tuple[Any, ...] = (-1, 0, 2, 3, 99, "1", 1.0, True, None, [], 10**30)


def _changed(content: Any, way: tuple[Any, ...], value: Any) -> Any:
    """A copy of the content with another value at a place; an ellipsis removes it."""
    made = copy.deepcopy(content)
    home = made
    for key in way[:-1]:
        home = home[key]
    if value is ...:
        del home[way[-1]]
    else:
        home[way[-1]] = value
    return made


def _ways(content: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = content.items() if isinstance(content, dict) else enumerate(content[:2])
    for key, value in inner:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from _ways(value, (*above, key))


def changes(folder: Path, file: str) -> Iterator[Node]:
    """All changes of one file."""
    text = (folder / file).read_text()
    if file.endswith(".toml"):
        lines = text.splitlines()
        for place, line in enumerate(lines):
            key, equals, _ = line.partition(" = ")
            kept = [*lines[:place], *lines[place + 1 :]]
            yield Node.of(file, "\n".join(kept).encode())
            for value in (
                ("-1", "0", "1e308", '""', "[]", "true", "{}", "10" * 12) if equals else ()
            ):
                yield Node.of(
                    file,
                    "\n".join([*lines[:place], f"{key} = {value}", *lines[place + 1 :]]).encode(),
                )
        return
    content = json.loads(text)
    for way in _ways(content):
        odd = _VERSIONS if way[-1] in ("format", "version") else _ODD
        for value in (..., *odd):
            yield Node.of(file, json.dumps(_changed(content, way, value)).encode())


def _cases(specimens: Path, doors: tuple[str, ...]) -> Iterator[tuple[str, Node]]:
    from campaign.doors import DOORS

    for door in doors:
        home = specimens / f"{list(DOORS).index(door):02d}"
        files = sorted(
            {path for pattern in DOORS[door].files for path in home.glob(pattern) if path.is_file()}
        )
        for path in files:
            if path.suffix in (".json", ".toml") and (door != "results" or path == files[0]):
                for node in changes(home, path.relative_to(home).as_posix()):
                    yield door, node


def try_fields(
    ledger: Ledger,
    folder: Path,
    seconds: float,
    most: int = 10**9,
    doors: tuple[str, ...] = _DOORS,
) -> None:
    """Try every change once, in an order that visits all files early; continue where it stopped."""
    make_specimens(folder / "specimens", list(doors))
    cases = list(_cases(folder / "specimens", doors))
    order = sorted(range(len(cases)), key=lambda place: (place * 7919 + ledger.seed) % len(cases))
    done = sum(ledger.drawn(part) for part in ledger.counts if part.startswith("fields"))
    end, hand = (
        time.monotonic() + seconds,
        Hand(folder / "specimens", folder / f"worker-{os.getpid()}-f"),
    )
    for place in order[done:most]:
        if time.monotonic() > end:
            break
        door, node = cases[place]
        case = {"door": door, "node": asdict(node)}
        answer = hand.try_case(case)
        if answer["fault"] or answer.get("reached", True):
            ledger.add(f"fields: {door}", str(answer["fault"]), case)
            ledger.took(f"fields: {door}", answer)
        else:
            ledger.pass_over(f"fields: {door}")
    hand.close()
    ledger.save()
