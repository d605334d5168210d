"""Write docs/results.md from results/benchmark.

python -m benchmarks.results_page
"""

from __future__ import annotations

from pathlib import Path

from mentornet.experiments.results import Results
from mentornet.experiments.results_page import render_results
from mentornet.files import write_text

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "benchmark"
PAGE = ROOT / "docs" / "results.md"


def main() -> None:
    write_text(PAGE, render_results(Results(RESULTS)))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
