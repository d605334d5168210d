"""Proof that the campaign finds old faults: a fix is taken back, and cases are tried.

    python -m campaign.reverted

It prints a table: the fix that was taken back, the door, the number of cases until the fault was
found, and the fault.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from campaign.readers import Hand, make_specimens

__all__ = ["FIXES", "notice", "revert"]

_MOST = 1_500  # cases that are tried


def _pickles() -> None:
    from mentornet.data.files import label_file
    from mentornet.data.files.plain_pickle import unpickle
    from mentornet.data.sets import cifar_python

    def trusting(content: bytes) -> Any:
        pickle.loads(content)  # as a reader that trusts the file would
        return unpickle(content)

    for module in (cifar_python, label_file):
        setattr(module, "unpickle", trusting)  # noqa: B010 - mypy would object


def _doors() -> None:
    from mentornet import files

    setattr(files, "_open_regular", os.open)  # noqa: B010


class _Unbounded(gzip.GzipFile):
    def read(self, size: int | None = -1) -> bytes:
        return super().read(size if size is not None and 0 <= size < 100 else -1)


def _bombs() -> None:
    setattr(gzip, "GzipFile", _Unbounded)  # noqa: B010


def _schema() -> None:
    from mentornet.data.stream import shards

    def trusting(kind: Any, content: dict[str, Any], where: str) -> Any:  # noqa: ARG001
        return kind(**{field.name: content.get(field.name) for field in fields(kind)})

    setattr(shards, "typed", trusting)  # noqa: B010


def _json() -> None:
    from mentornet import files

    setattr(files, "parse_json", lambda text, where: json.loads(text))  # noqa: ARG005, B010


def _quotes() -> None:
    from mentornet.verdicts import reading

    setattr(reading, "cut", lambda text, length=60: text)  # noqa: ARG005, B010


def _pages() -> None:
    from mentornet import parquet
    from mentornet.parquet_pages import Pages

    setattr(parquet, "measure", lambda *ignored: Pages())  # noqa: ARG005, B010


FIXES: dict[str, tuple[str, Callable[[], None]]] = {
    "pickles are read by a machine of our own": ("CIFAR-10", _pickles),
    "pipes and devices are not opened": ("labels.npy", _doors),
    "no more is unpacked than the header says": ("IDX", _bombs),
    "the fields of shards.json have types": ("shards", _schema),
    "deep JSON and long numbers are refused": ("shards", _json),
    "what is quoted from a file is short": ("verdicts.csv", _quotes),
    "the headers of Parquet's pages are measured": ("manifest.parquet", _pages),
}
"""Fixes that can be taken back, with a door at which that shows."""


def revert(name: str) -> None:
    """Take back a fix in this process."""
    FIXES[name][1]()


def notice() -> Iterator[dict[str, Any]]:
    """Take back each fix in turn, and try cases until the campaign notices it."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        make_specimens(folder / "specimens", [door for door, _ in FIXES.values()])
        for name, (door, _) in FIXES.items():
            before = f"from campaign.reverted import revert; revert({name!r})"
            hand = Hand(folder / "specimens", folder / "worker", before=before, hangs=10.0)
            fault, number = "", 0
            while not fault and number < _MOST:
                fault = str(hand.try_case({"door": door, "number": number, "seed": 0})["fault"])
                number += 1
            hand.close()
            kind = fault.partition(":")[0].strip()
            yield {"fix": name, "door": door, "cases": number, "kind": kind, "fault": fault[:80]}


def main() -> int:
    """Print what is noticed; return 1 if the campaign does not notice one of them."""
    missed = 0
    print("| fix that is taken back | door | cases | fault |\n|---|---|---|---|")
    for row in notice():
        missed += not row["fault"]
        fault = row["fault"] or "NOT FOUND"
        print(f"| {row['fix']} | {row['door']} | {row['cases']} | {fault} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
