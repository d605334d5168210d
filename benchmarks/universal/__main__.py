"""Make the universal mentor from nothing, or go on: see `make universal-mentor`.

    python -m benchmarks.universal                # make the runs that are missing, learn, write
    python -m benchmarks.universal collect 0 2    # only make every second run, from the first on

The runs are kept in runs/universal. What is learned from them is written to results/universal, and
the mentor with its card to the package.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from benchmarks.universal.carry_over import carry_over
from benchmarks.universal.collect import store
from benchmarks.universal.learn import Moment, learn, read
from benchmarks.universal.page import write_mentor
from benchmarks.universal.runs import specs
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json

RUNS = Path("runs/universal")
RESULT = Path(__file__).parents[2] / "results" / "universal" / "corpus.json"


def main(command: str = "all", first: str = "0", step: str = "1") -> None:
    """Collect, learn and write."""
    torch.set_num_threads(1)
    RUNS.mkdir(parents=True, exist_ok=True)
    runs: list[list[Moment]] = []
    for spec in specs()[int(first) :: int(step)]:
        path = store(spec, RUNS)
        print(spec.name, flush=True)
        if command == "all":
            runs.append(read(spec, path))
    if command != "all":
        return
    mentor = learn([moment for run in runs for moment in run])
    rows = carry_over(runs)
    found = {"weights": dict(mentor.weights), "runs": len(runs), "left_out": rows}
    write_json(RESULT, found | {"conditions": conditions()})
    write_mentor(mentor, rows, len(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])
