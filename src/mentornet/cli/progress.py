"""Progress on anything that takes over two seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["bar"]


@contextmanager
def bar(title: str, total: int, figure: str) -> Iterator[Callable[[int, float], None]]:
    """A bar on standard error; call what it yields with the step and the figure to show.

    Args:
        title: what is going on.
        total: the last step.
        figure: how to show the number, such as `MSE {:.1e}`.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[figure]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total, figure="")

        def show(step: int, value: float) -> None:
            progress.update(task, completed=step, figure=figure.format(value))

        yield show
