from __future__ import annotations

import math

import pytest

from mentornet.experiments.statistics import estimate, parse_estimate


def test_confidence_interval_by_hand() -> None:
    """Student's t for 90 % and four degrees of freedom is 2.1318 in any table."""
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    mean, half_width, n = estimate(values)
    assert (mean, n) == (3.0, 5)
    assert half_width == pytest.approx(2.1318 * math.sqrt(2.5) / math.sqrt(5), rel=1e-4)


def test_one_value_has_no_interval() -> None:
    one = estimate([2.0e-6])
    assert math.isnan(one.half_width)
    assert str(one) == "2.0E-6"


@pytest.mark.parametrize("text", ["8.9±0.8E-3", "6.6±4.5E-7", "1.8±0.0E-1"])
def test_prints_what_it_parses(text: str) -> None:
    assert str(parse_estimate(text, n=5)) == text
