"""Time several functions in turn, so that a busy moment of the machine hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

__all__ = ["alternate", "ratio"]


def alternate(
    functions: Mapping[str, Callable[[], object]], *, rounds: int = 60, calls: int = 50
) -> dict[str, list[float]]:
    """Seconds a call of each function, one figure a round; in each round all take their turn."""
    for function in functions.values():
        for _ in range(calls):
            function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            started = time.perf_counter()
            for _ in range(calls):
                function()
            seconds[name].append((time.perf_counter() - started) / calls)
    return seconds


def ratio(seconds: Mapping[str, list[float]], of: str, to: str) -> tuple[float, float, float]:
    """Median and quartiles over the rounds of the time of `of` in units of the time of `to`."""
    ratios = [a / b for a, b in zip(seconds[of], seconds[to], strict=True)]
    lower, median, upper = statistics.quantiles(ratios, n=4)
    return median, lower, upper
