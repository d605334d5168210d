"""The card of the universal mentor, from what was found of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.universal.carry_over import left_out_means
from benchmarks.universal.learn import CANDIDATES
from mentornet.files import write_text
from mentornet.mentors.universal import EVIDENCE, UNIVERSAL, UniversalMentor

__all__ = ["page", "write_mentor"]

CARD = Path(__file__).with_name("card.md")
"""The words of the card, with names in braces for what is looked up."""


def write_mentor(mentor: UniversalMentor, rows: Sequence[dict[str, Any]], runs: int) -> None:
    """Write the mentor and its card into the package."""
    mentor.save(UNIVERSAL)
    write_text(UNIVERSAL / "README.md", page(mentor, rows, runs))


def page(mentor: UniversalMentor, rows: Sequence[dict[str, Any]], runs: int) -> str:
    """Return the card, in Markdown."""
    terms = " + ".join(f"{weight:.3f} · {name}" for name, weight in mentor.weights.items())
    meanings = "\n".join(f"- {name}: {EVIDENCE[name]}" for name in mentor.weights)
    names = ("universal", "margin", "mean_loss", "smoothed_loss", "agreement")
    heads = ("universal", "margin", "mean loss", "smoothed loss", "agreement")
    errors = ("error_true_rate", "error_estimated_rate", "wrong", "estimate")
    flat = [
        row | {f"learned {key}": value for key, value in row["learned"].items()} for row in rows
    ]
    tried = tuple("+".join(reads) for reads in CANDIDATES)
    mean = left_out_means(flat, *(f"learned {name}" for name in tried))[-1][1:]
    found = ", ".join(f"{name} {value:.3f}" for name, value in zip(tried, mean, strict=True))
    return CARD.read_text(encoding="utf-8").format(
        terms=terms, meanings=meanings, runs=runs, sets=len({row["data"] for row in rows}),
        told_apart=_table(left_out_means(rows, *names), heads), found=found,
        calibration=_table(
            left_out_means(rows, *errors), ("known", "estimated", "wrong", "estimate")
        ),
    )  # fmt: skip


def _table(rows: Sequence[Sequence[str | float]], heads: Sequence[str]) -> str:
    lines = [f"| left out | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for data, *numbers in rows:
        lines.append(f"| {data} | {' | '.join(f'{number:.3f}' for number in numbers)} |")
    return "\n".join(lines)
