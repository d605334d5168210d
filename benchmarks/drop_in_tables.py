"""What `MentorClassifier` gains on scikit-learn's tables: examples/sklearn_table.py, five splits.

    python -m benchmarks.drop_in_tables

40 % of the training labels are another class than the true one. The figures go to
results/drop_in/tables.json.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import torch

from mentornet.experiments.conditions import conditions
from mentornet.files import write_json

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "results" / "drop_in" / "tables.json"
SEEDS, NOISE = 5, 0.4


def markdown(runs: list[dict[str, Any]]) -> str:
    lines = ["| table | same network, plainly | `MentorClassifier` | gain |", "|---|---|---|---|"]
    for table in dict.fromkeys(run["table"] for run in runs):
        same = [run for run in runs if run["table"] == table]
        gains = [100 * (run["mentored"] - run["plain"]) for run in same]
        plain, mentored = (
            100 * sum(run[name] for run in same) / len(same) for name in ("plain", "mentored")
        )
        gain = f"{sum(gains) / len(gains):+.1f} ({min(gains):+.1f} to {max(gains):+.1f})"
        lines.append(f"| {table} | {plain:.1f} | {mentored:.1f} | {gain} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    torch.set_num_threads(1)
    example = runpy.run_path(f"{ROOT / 'examples' / 'sklearn_table.py'}")
    runs = []
    for table in example["TABLES"]:
        for seed in range(SEEDS):
            plain, mentored = example["accuracies"](table, NOISE, seed)
            runs.append({"table": table, "seed": seed, "plain": plain, "mentored": mentored})
    write_json(RESULT, {"noise": NOISE, "runs": runs, "conditions": conditions()})
    print(markdown(runs))


if __name__ == "__main__":
    main()
