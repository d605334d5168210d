"""Write docs/results.md and its picture from results/benchmark.

python -m benchmarks.results_page
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from mentornet.experiments.benchmark import benchmark
from mentornet.experiments.benchmark_figure import draw_benchmark
from mentornet.experiments.comparison import compare
from mentornet.experiments.results import Results
from mentornet.experiments.results_page import PICTURE, render_results
from mentornet.experiments.style import save
from mentornet.files import write_text

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "benchmark"
PAGE = ROOT / "docs" / "results.md"


def draw() -> Figure:
    """The table of all methods as a picture."""
    table = benchmark("small")
    return draw_benchmark(table, compare(table, Results(RESULTS)))


def main() -> None:
    write_text(PAGE, render_results(Results(RESULTS)))
    written = [PAGE, *save(draw(), PAGE.parent / PICTURE.removesuffix(".png"))]
    print("\n".join(f"wrote {path}" for path in written))


if __name__ == "__main__":
    main()
