"""The folder of an audit: its files, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mentornet.audit.ranking import Ranking
from mentornet.errors import MentorNetError

__all__ = ["Audited", "check_free"]

FILES = (
    "issues.csv", "issues.parquet", "classes.csv", "transitions.csv", "decisions.csv",
    "cleaned.csv", "report.html",
)  # fmt: skip


@dataclass(frozen=True)
class Audited:
    """The result of an audit.

    Attributes:
        ranking: what the audit says of every label.
        folder: the folder with its files.
        notes: lines that the user should read.
        retrain: the arguments of `mentornet` that train on the cleaned data; empty if there was no
            run that could be repeated.
    """

    ranking: Ranking
    folder: Path
    notes: tuple[str, ...]
    retrain: str = ""


def check_free(out: Path, *, overwrite: bool) -> None:
    """Raise if the folder has an earlier audit that is not to be replaced."""
    there = [name for name in FILES if (out / name).exists()]
    if there and not overwrite:
        raise MentorNetError(f"{out} has {there[0]} already; set overwrite to replace it")
