"""Show a run in the terminal: one live line, a line for each note, a table at the end."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from mentornet.training import Observer, StepMetrics

__all__ = ["RunWatch", "console"]


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints plain text, so that names of the user appear as they are."""
    return Console(highlight=False, markup=False, soft_wrap=True, stderr=stderr)


class RunWatch(Observer):
    """Shows a run on standard error while it trains.

    Args:
        title: the text before the bar.
        silent: whether to show nothing.
    """

    wants_time = True

    def __init__(self, title: str = "training", *, silent: bool = False) -> None:
        self.title = title
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[numbers]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False, quiet=silent),
        )
        self._steps: Any = None
        self._files: dict[str, Any] = {}
        self._accuracy = self._tested = ""

    def __enter__(self) -> RunWatch:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()

    def preparing(self, what: str, done: int, total: int) -> None:
        self.files(what, done, total)

    def files(self, what: str, done: int, total: int) -> None:
        """Show how many files are read or downloaded."""
        if what not in self._files:
            self._files[what] = self.progress.add_task(what, total=total or None, numbers="")
        self.progress.update(self._files[what], completed=done, total=total or None)

    def step(self, metrics: StepMetrics) -> None:
        if self._steps is None:
            self._steps = self.progress.add_task(self.title, total=metrics.total, numbers="")
        line = f"loss {metrics.loss:.3f}  mean v {metrics.mean_weight:.2f}{self._accuracy}"
        self.progress.update(self._steps, completed=metrics.done, numbers=line)

    def epoch(self, row: Mapping[str, Any]) -> None:
        if "test_accuracy" in row:  # not after every epoch, if --evaluate-every says so
            self._tested = f"accuracy {row['test_accuracy']:.1%}"
        self._accuracy = f"  data used {row['data_used']:.0%}  {self._tested}"
        if not self.progress.console.is_terminal:
            tested = f"{self._tested}, " if "test_accuracy" in row else ""
            self.note(
                f"epoch {row['epoch']}: loss {row['train_loss']:.3f}, {tested}"
                f"mean v {row['mean_weight']:.2f}, "
                f"data used {row['data_used']:.0%}, {row['images_per_second']:.0f} samples/s"
            )

    def note(self, text: str) -> None:
        self.progress.console.print(text, markup=False, soft_wrap=True)

    def table(self, summary: Mapping[str, Any]) -> None:
        """Print the summary of the run on standard output."""
        table = Table(box=box.SIMPLE_HEAD, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(justify="right")
        for name, value in _rows(summary):
            table.add_row(name, value)
        Console(highlight=False, markup=False).print(table)


def _rows(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("method", f"{summary['method']}"),
        ("accuracy, last epoch", f"{summary['accuracy_last']:.2%}"),
        ("accuracy, best epoch", f"{summary['accuracy_best']:.2%} ({summary['best_epoch']})"),
    ]
    if summary["noise_rate_actual"] is not None:
        rows.append(("wrong labels", f"{summary['noise_rate_actual']:.1%}"))
    if summary.get("noise_rate_estimated") is not None:
        rows.append(("wrong labels, estimated", f"{summary['noise_rate_estimated']:.1%}"))
    if summary["weight_auroc"] is not None:
        rows.append(("v tells them apart (AUROC)", f"{summary['weight_auroc']:.3f}"))
    rows.append(("time", f"{summary['seconds']:.0f} s"))
    rows.append(("samples per second", f"{summary['images_per_second']:.0f}"))
    return rows
