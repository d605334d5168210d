"""Write docs/results.md, its picture and README's tables from results/benchmark.

python -m benchmarks.results_page
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.accuracy.figure import draw_benchmark
from benchmarks.accuracy.page import PICTURE, render_results
from benchmarks.accuracy.tables import benchmark, human, systematic
from mentornet.experiments.comparison import compare, number
from mentornet.experiments.results import Results
from mentornet.figures.style import save
from mentornet.files import write_text

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "benchmark"
PAGE = ROOT / "docs" / "results.md"
README = ROOT / "README.md"

HEADLINE = {
    "full-model": "nothing",
    "full-model tuned": "nothing",
    "mentornet-early": "nothing",
    "mentornet-auto": "nothing",
    "mentornet-pd": "a percentile, tuned",
    "mentornet-early verified": "1,000 verified labels",
    "mentornet-dd": "1,000 verified labels",
    "mentor-bootstrap": "1,000 verified labels",
    "1,000 right labels": "these, and no others",
    "gce": "nothing",
    "elr": "nothing",
    "co-teaching": "the noise rate",
    "mentormix": "a percentile for each rate",
    "cleanlab-prune": "nothing",
    "oracle": "which labels are right",
}
"""The rows of README's first table, and what each is told."""

TOLD_NOTHING = ("full-model", "mentornet-early", "mentornet-auto", "elr", "oracle")
"""The rows of README's second table."""


def draw() -> Figure:
    """The table of all methods as a picture."""
    table = benchmark()
    return draw_benchmark(table, compare(table, Results(RESULTS)))


def headline() -> str:
    """README's table: last epochs of the methods that most people will ask for."""
    table = benchmark()
    entries = compare(table, Results(RESULTS))
    heads = ["method", "is told", *table.columns]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row, told in HEADLINE.items():
        cells = (number(entries[row, column]) for column in table.columns)
        lines.append(f"| {row} | {told} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def elsewhere() -> str:
    """README's second table: the same on labels that are not wrong at random."""
    tables = systematic(), human()
    entries = {
        key: one for table in tables for key, one in compare(table, Results(RESULTS)).items()
    }
    columns = [column for table in tables for column in table.columns]
    lines = [f"| method | {' | '.join(columns)} |", "|" + "---|" * (1 + len(columns))]
    for row in TOLD_NOTHING:
        cells = (number(entries[row, column]) for column in columns)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_tables(readme: str) -> str:
    """README with the tables as they are now, in place of those that it has."""
    return _with(_with(readme, "benchmark", headline()), "elsewhere", elsewhere())


def _with(readme: str, name: str, table: str) -> str:
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, mark, rest = readme.partition(f"{first}\n")
    old, end, after = rest.partition(last)
    if not (mark and end):
        raise SystemExit(f"{README} has no lines {first} and {last}")
    words = [line for line in old.splitlines(keepends=True) if not line.startswith("|")]
    return f"{before}{mark}{''.join(words).rstrip()}\n\n{table}{end}{after}"


def main() -> None:
    write_text(PAGE, render_results(Results(RESULTS)))
    write_text(README, with_tables(README.read_text(encoding="utf-8")))
    written = [PAGE, README, *save(draw(), PAGE.parent / PICTURE.removesuffix(".png"))]
    print("\n".join(f"wrote {path}" for path in written))


if __name__ == "__main__":
    main()
