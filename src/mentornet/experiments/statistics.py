"""Mean and confidence interval of repeated runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Estimate", "estimate", "parse_estimate"]


class Estimate(NamedTuple):
    """mean ± half_width, from n values."""

    mean: float
    half_width: float
    n: int

    def __str__(self) -> str:
        """In the paper's form: both numbers share the mean's power of ten."""
        return _scientific(self.mean, self.half_width)


def estimate(values: Sequence[float], confidence: float = 0.9) -> Estimate:
    """Mean and Student-t confidence interval: x̄ ± t_{n−1} · s/√n.

    >>> print(estimate([1.0e-5, 1.2e-5, 1.4e-5]))
    1.2±0.3E-5
    """
    from scipy import stats  # slow to import, and an extra

    mean, n = statistics.fmean(values), len(values)
    if n < 2:
        return Estimate(mean, float("nan"), n)
    error = statistics.stdev(values) / n**0.5
    return Estimate(mean, float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error, n)


def parse_estimate(text: str, n: int) -> Estimate:
    """The estimate that prints as `text`.

    >>> parse_estimate("1.6±0.5E-6", n=5)
    Estimate(mean=1.6e-06, half_width=5e-07, n=5)
    """
    numbers, exponent = text.split("E")
    mean, half_width = numbers.split("±")
    return Estimate(float(f"{mean}E{exponent}"), float(f"{half_width}E{exponent}"), n)


def _scientific(mean: float, half_width: float) -> str:
    digits, exponent = f"{mean:.1e}".split("e")
    spread = "" if half_width != half_width else f"±{half_width / 10 ** int(exponent):.1f}"
    return f"{digits}{spread}E{int(exponent)}"
