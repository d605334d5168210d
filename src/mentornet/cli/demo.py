"""`mentornet demo`: the main job on embedded real data, in about a minute."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from mentornet.cli.progress import bar
from mentornet.cli.watch import console

__all__ = ["Demo"]


@dataclass(frozen=True)
class Demo:
    """Train on digits with 40 % label noise, without a mentor and with one, and compare.

    For example:

      mentornet demo
      mentornet demo --seeds 3 --out runs/demo3

    Attributes:
        out: Folder for demo.json, index.html, curves.png and the runs.
        seeds: Number of seeds of each method.
        processes: Number of runs at a time, each on one thread.
    """

    out: Path = Path("runs/demo")
    seeds: int = 1
    processes: int = 2

    def run(self) -> None:
        """Train, then print the table."""
        from mentornet.experiments.demo import METHOD_NAMES, run_demo  # slow to import

        total = self.seeds * len(METHOD_NAMES)
        with bar("digits, uniform:0.4", total, "{:.0f} runs done") as show:
            show(0, 0)
            lines = run_demo(
                self.out,
                seeds=self.seeds,
                processes=self.processes,
                on_result=lambda done, _: show(done, done),
            )
        table = Table(
            title="Digits, 40 % of the labels redrawn; accuracy on clean test images",
            title_justify="left", box=box.SIMPLE_HEAD,
        )  # fmt: skip
        table.add_column("method")
        for name in ("last epoch", "lowest–highest", "best epoch", "seconds"):
            table.add_column(name, justify="right")
        for line in lines:
            spread = f"{line.lowest:.1%}–{line.highest:.1%}"
            row = (line.method, f"{line.last:.1%}", spread, f"{line.best:.1%}")
            table.add_row(*row, f"{line.seconds:.0f}")
        Console(highlight=False).print(table)
        console().print(f"wrote {self.out}: demo.json, index.html, curves.png, runs/")
