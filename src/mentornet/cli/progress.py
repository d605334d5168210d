"""A progress bar for work that takes more than two seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["bar"]


@contextmanager
def bar(title: str, total: int, number: str) -> Iterator[Callable[[int, float], None]]:
    """Show a bar on standard error; call what it yields with the step and the number to show.

    Args:
        title: what is being done.
        total: the last step.
        number: how to show the number, such as `MSE {:.1e}`.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[number]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total, number="")

        def show(step: int, value: float) -> None:
            progress.update(task, completed=step, number=number.format(value))

        yield show
