"""Make the runs that are missing, then write docs/real_noise.md and its picture.

    python -m benchmarks.real_noise --folder FOLDER          # all of it
    python -m benchmarks.real_noise trec --rows plain ours --seeds 1 --folder FOLDER
    python -m benchmarks.real_noise --page                   # only the page, from stored results

FOLDER has the CSV files; without --folder it is real-noise inside MENTORNET_DATA. CIFAR-10 and its
human labels are read as `mentornet train cifar10 --noise human:aggre_label` reads them. A run is
one file in results/real-noise; what is there is not made again. All on one thread.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from benchmarks.noisy_files import noisy_folder
from benchmarks.real_noise.page import write_page
from benchmarks.real_noise.results import CASES, SEEDS, Cell, cells, file_of, read
from benchmarks.real_noise.rows import ROWS, made_by
from benchmarks.real_noise.sets import SETS, read_task
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json


def make(cell: Cell, folder: Path) -> None:
    """Make one run, and store its result."""
    task = read_task(cell.data, folder)
    plain = None if cell.row == "plain" else read(cell._replace(row="plain"))
    if plain is None and cell.row != "plain":
        make(cell._replace(row="plain"), folder)
        plain = read(cell._replace(row="plain"))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn's and cleanlab's, about small classes
        found = made_by(task, cell.student, cell.row, cell.seed, plain)
    about = {**cell._asdict(), **found, "seconds_of_features": task.seconds}
    file_of(cell).parent.mkdir(parents=True, exist_ok=True)
    write_json(file_of(cell), about | {"conditions": conditions()})
    shown = [f"{name} {about[name]:.3f}" for name in _SHOWN if name in about]
    print(*cell, *shown, flush=True)


STUDENTS = [*dict.fromkeys(case.student for case in CASES)]
_SHOWN = ("accuracy", "average_precision", "seconds_of_tuning", "seconds")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_noise", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("data", nargs="*", help=f"some of {', '.join(SETS)}; all by default")
    parser.add_argument("--folder", type=Path, default=None, help="the folder with the CSV files")
    parser.add_argument("--rows", nargs="+", choices=[*ROWS], default=[*ROWS])
    parser.add_argument("--students", nargs="+", choices=STUDENTS, default=STUDENTS)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many; %(default)s by default")
    parser.add_argument("--page", action="store_true", help="make no runs")
    asked = parser.parse_args(words)
    for name in asked.data:
        if name not in SETS:
            parser.error(f"data must be among {', '.join(SETS)}, got {name!r}")
    torch.set_num_threads(1)
    for cell in cells():
        wanted = cell.seed < asked.seeds and cell.row in asked.rows
        wanted = wanted and cell.student in asked.students
        wanted = wanted and (not asked.data or cell.data in asked.data)
        if wanted and not asked.page and read(cell) is None:
            make(cell, asked.folder or noisy_folder())
    for path in write_page():
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
