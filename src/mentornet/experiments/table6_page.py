"""App. D's table as a page, from the stored result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError
from mentornet.experiments.statistics import Estimate
from mentornet.experiments.table6 import LEARNING_RATES, NAMES, PAPER, WEIGHTINGS, Table6
from mentornet.files import read_json
from mentornet.mentors import ARCHITECTURES

__all__ = ["render_bilstm", "render_page", "show_stored"]


def show_stored(path: Path) -> str:
    """The page of a stored result, or an error that says what the file lacks."""
    table = read_json(path)
    try:
        return render_page(table)
    except (KeyError, TypeError, ValueError) as error:
        raise MentorNetError(
            f"{path} is no table that this mentornet writes ({type(error).__name__}: {error}): it "
            "was edited, or written by another version; move it away, and reproduce table6 makes "
            "it again"
        ) from None


def render_page(table: dict[str, Any]) -> str:
    """All cells, ours and the paper's, with the conditions they were measured under."""
    facts = table["conditions"]
    rates = ", ".join(f"{rate:g}" for rate in LEARNING_RATES)
    return f"""# App. D: how well a mentor learns a predefined curriculum

Mean squared error to v* over {table["samples"]:,} enumerated samples; mean of {table["repeats"]}
repeats ± 90 % confidence, ours first and the paper's below. The best of a row is bold.

{_grid(table)}

{_explicit(table)}

![Error of the five architectures over the epochs](architectures.png)

![Explicit against implicit training](objectives.png)

- Command: `{_command(table)}` (step size T = {table["history"]}, {table["steps"]:,} steps
  of Adam with a one-cycle learning rate, one thread a fit).
- The paper names no learning rate: each cell has the best of {rates} on its first repeat. What
  each gave is in `table6.json`; where the best is the first or last, a further one may be better.
- Settings of the curricula: {_settings(table)}.
- mentornet {facts["mentornet"]} at {facts["commit"]}, torch {facts["torch"]},
  Python {facts["python"]}, {facts["processor"]}, {facts["cores"]} cores.
- Not in the paper, and chosen by us: the earlier losses of a sample (see
  `mentornet.mentors.grid`), the curricula's settings, and the sizes of the four networks that
  MentorNet is compared with (the RNN reads the batch in runs of 32).
"""


def render_bilstm(table: dict[str, Any]) -> str:
    """Only the MentorNet's column, for the README."""
    lines = ["| curriculum | ours | paper |", "|---|---|---|"]
    for row in WEIGHTINGS:
        ours, paper = _ours(table, row, "bilstm"), PAPER[row]["bilstm"]
        lines.append(f"| {row} | {ours} | {paper} |")
    return "\n".join(lines)


def _grid(table: dict[str, Any]) -> str:
    lines = [f"| weighting | {' | '.join(NAMES[arch] for arch in ARCHITECTURES)} |"]
    lines.append("|---|" + "---|" * len(ARCHITECTURES))
    for row in WEIGHTINGS:
        ours = {arch: _ours(table, row, arch) for arch in ARCHITECTURES}
        best = min(ours, key=lambda arch: ours[arch].mean)
        shown = [f"**{ours[arch]}**" if arch == best else f"{ours[arch]}" for arch in ARCHITECTURES]
        cells = [f"{text}<br>{PAPER[row][arch]}" for text, arch in zip(shown, ours, strict=True)]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _command(table: dict[str, Any]) -> str:
    scale = "paper" if table["samples"] == Table6.samples else "small"
    words = ["mentornet", "reproduce", "table6", "--scale", scale]
    if scale == "paper" and table["repeats"] != Table6.repeats:
        words += ["--seeds", f"{table['repeats']}"]
    return " ".join(words)


def _settings(table: dict[str, Any]) -> str:
    every = {cell["row"]: cell["settings"] for cell in table["cells"]}
    texts = {row: ", ".join(f"{k} = {v}" for k, v in every[row].items()) for row in every}
    return "; ".join(f"{row} ({text})" for row, text in texts.items())


def _explicit(table: dict[str, Any]) -> str:
    lines = ["Explicit training (Eq. 4) of the bi-LSTM, beside implicit:", ""]
    lines += ["| weighting | explicit | implicit |", "|---|---|---|"]
    for cell in table["cells"]:
        if cell["objective"] == "explicit":
            row, explicit = cell["row"], _ours(table, cell["row"], "bilstm", "explicit")
            lines.append(f"| {row} | {explicit} | {_ours(table, row, 'bilstm')} |")
    return "\n".join(lines)


def _ours(table: dict[str, Any], row: str, arch: str, objective: str = "implicit") -> Estimate:
    for cell in table["cells"]:
        if (cell["row"], cell["arch"], cell["objective"]) == (row, arch, objective):
            spread = cell["half_width"]
            return Estimate(cell["mean"], float("nan") if spread is None else spread, cell["n"])
    raise KeyError((row, arch, objective))
