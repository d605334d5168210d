"""docs/real_noise.md, from the stored JSON and nothing else."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.real_noise.figure import draw
from benchmarks.real_noise.results import CASES, SEEDS, Case, Entry, stored
from benchmarks.real_noise.rows import ROWS
from mentornet.figures.style import save
from mentornet.files import write_text

__all__ = ["PAGE", "PICTURE", "render", "write_page"]

PAGE = Path(__file__).parents[2] / "docs" / "real_noise.md"
PICTURE = "images/real_noise.png"
SLACK = 0.005
"""An accuracy that is behind by no more than this counts as level."""
WAY = 0.2
"""A part of the way from tuned plain training to the oracle; less of it counts as no gain."""
LITTLE = 0.02
"""Where the oracle is ahead of tuned plain training by less, there is nothing to gain."""

Found = Mapping[Case, Mapping[str, Entry]]

_ABOUT = {
    "trec": "questions, of 6 kinds; a majority of 68 keyword rules gave the labels",
    "semeval": "sentences with two marked words, of 9 relations; rules gave the labels",
    "yoruba-news": "headlines in Yoruba, of 7 topics; word lists gave the labels",
    "music-one-worker": "pieces of music as 124 numbers, of 10 genres; one worker labelled each",
    "cifar10-aggre": "10,000 photos, of 10 classes; the majority of three people gave the labels",
    "cifar10-random1": "the same photos; one person gave each label",
}
_STUDENTS = {
    "head": "the last layer of a frozen network",
    "mlp": "a multi-layer perceptron",
    "trees": "gradient boosted trees",
}


def render(table: Found) -> str:
    """Return the page, in Markdown."""
    template = (Path(__file__).parent / "page.md").read_text(encoding="utf-8")
    parts = {
        "PICTURE": f"![Accuracy and average precision of every row]({PICTURE})",
        "SUMMARY": _summary(table),
        "SEEDS": _seeds(table),
        "GAINS": _gains(table),
        "VERDICT": _verdict(table),
        "TABLES": "\n\n".join(_table(case, entries) for case, entries in table.items()),
        "CONDITIONS": _conditions(table),
    }
    for name, text in parts.items():
        template = template.replace(f"<!-- {name} -->", text)
    return template


def write_page() -> list[Path]:
    """Write the page and its picture, and return their paths."""
    table = stored()
    pictures = save(draw(table), PAGE.parent / PICTURE.removesuffix(".png"))
    write_text(PAGE, render(table))
    return [PAGE, *pictures]


def _summary(table: Found) -> str:
    """Return one row for each set: the mean accuracies."""
    heads = ["data", "student", "wrong", *ROWS.values()]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for case, entries in table.items():
        wrong = f"{100 * next(iter(entries.values())).mean('wrong'):.0f} %"
        shown = [f"{100 * entries[row].accuracy:.1f}" if row in entries else "–" for row in ROWS]
        lines.append(f"| {' | '.join([case.data, case.student, wrong, *shown])} |")
    return "\n".join(lines)


def _seeds(table: Found) -> str:
    """Return which sets have fewer seeds than they are to have."""
    few: dict[int, list[str]] = {}
    for case in CASES:
        entries = table.get(case)
        count = len(entries["plain"].runs) if entries else 0
        if count < SEEDS:
            few.setdefault(count, []).append(f"{case.data} ({case.student})")
    made = [f"{count} of {', '.join(names)}" for count, names in sorted(few.items())]
    if not made:
        return f"There are {SEEDS} seeds of each."
    return f"There are {SEEDS} seeds of each, but so far only {', and '.join(made)}."


def _table(case: Case, entries: Mapping[str, Entry]) -> str:
    """Return all numbers of one set."""
    heads = ["row", "accuracy", "average precision", "minutes", "of them tuning", "n"]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row, entry in entries.items():
        tuning, rest = entry.mean("seconds_of_tuning") / 60, entry.mean("seconds") / 60
        cells = [
            ROWS[row], _spread([100 * one for one in entry.accuracies], 1),
            _spread(entry.precisions, 2) if entry.precisions else "–",
            f"{tuning + rest:.2f}", f"{tuning:.2f}", f"{len(entry.runs)}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    first = next(iter(entries.values()))
    title = f"### {case.data}, {_STUDENTS[case.student]}"
    about = f"{_ABOUT[case.data][0].upper()}{_ABOUT[case.data][1:]}."
    wrong = f"{100 * first.mean('wrong'):.1f} % of them are wrong."
    features = first.mean("seconds_of_features") / 60
    of = "training photos" if case.data.startswith("cifar10") else "texts"
    spent = f" The features of the {of} took {features:.1f} minutes, once." if features else ""
    return f"{title}\n\n{about} {wrong}{spent}\n\n" + "\n".join(lines)


def _spread(values: list[float], digits: int) -> str:
    """Return the mean, and the range if there are several values."""
    mean = f"{sum(values) / len(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def _gains(table: Found) -> str:
    """Return how far ours, told nothing, is ahead of others on each set."""
    heads = ["data", "student", "than plain", "than ELR", "than CleanLearning", "oracle's lead"]
    heads += ["finds more than CleanLearning", "its time"]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for case, entries in table.items():
        ours, rival = entries["ours"], entries["cleanlab"]
        leads = [_lead(ours, entries.get(row)) for row in ("plain", "elr", "cleanlab")]
        left = entries["oracle"].accuracy - ours.accuracy
        more = statistics.fmean(ours.precisions) - statistics.fmean(rival.precisions)
        times = ours.mean("seconds") / rival.mean("seconds")
        cells = [*case, *leads, f"{100 * left:+.1f}", f"{more:+.2f}", f"{times:.1f} ×"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _verdict(table: Found) -> str:
    """Return in words where ours is behind, and where nobody who is told nothing gains."""
    behind, nobody, vain, helped = [], [], [], []
    for case, entries in table.items():
        name = f"{case.data} ({case.student})"
        means = {row: entry.accuracy for row, entry in entries.items()}
        plain, left = means["plain"], means["oracle"] - means["plain"]
        others = [row for row in ("plain", "gce", "elr", "cleanlab") if row in means]
        ahead = [ROWS[row] for row in others if means[row] - means["ours"] > SLACK]
        if ahead:
            behind.append(f"on {name} {', '.join(ahead)}")
        most = max(means[row] for row in (*others, "ours")) - plain
        if left < LITTLE:
            vain.append(f"{name} ({100 * left:+.1f})")
        elif most < WAY * left:
            nobody.append(f"{name} ({100 * most:+.1f} of {100 * left:+.1f})")
        helped.append(f"{name} {100 * (means['verdicts'] - plain):+.1f}")
    said = []
    if behind:
        said.append(f"**Ahead of ours** by more than half a point are: {'; '.join(behind)}.")
    if nobody:
        said.append(
            f"**Nobody who is told nothing gains much**, less than {100 * WAY:.0f} % of the way "
            f"from tuned plain training to the oracle, on {', '.join(nobody)}; in brackets is the "
            "gain of the best, in points."
        )
    if vain:
        said.append(
            "**There is nothing to gain** where even the oracle is ahead of tuned plain training "
            f"by less than {100 * LITTLE:.0f} points: {', '.join(vain)}."
        )
    said.append(f"With verdicts, ours is ahead of tuned plain training by: {', '.join(helped)}.")
    return "\n\n".join(said)


def _lead(ours: Entry, other: Entry | None) -> str:
    if other is None:
        return "–"
    lead = ours.accuracy - other.accuracy
    return f"**{100 * lead:+.1f}**" if lead < -SLACK else f"{100 * lead:+.1f}"


def _conditions(table: Found) -> str:
    made: Counter[str] = Counter()
    for entries in table.values():
        for entry in entries.values():
            for run in entry.runs:
                about = run["conditions"]
                made[
                    f"{about['processor']}, {about['cores']} cores, mentornet {about['mentornet']} "
                    f"at {about['commit']}, torch {about['torch']}, Python {about['python']}"
                ] += 1
    return "\n".join(f"- {count} runs: {where}" for where, count in sorted(made.items()))
