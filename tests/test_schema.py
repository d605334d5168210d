from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from mentornet import MentorNetError
from mentornet.schema import typed


@dataclass(frozen=True)
class Stored:
    count: int
    rate: float
    names: list[str]
    sizes: dict[str, int]
    done: bool
    note: str | None = None


GOOD = {"count": 3, "rate": 1, "names": ["a"], "sizes": {"a": 1}, "done": True}


def test_what_fits_is_returned() -> None:
    assert typed(Stored, {**GOOD, "more": 1}, "x.json") == Stored(3, 1, ["a"], {"a": 1}, True)
    assert typed(Stored, {**GOOD, "note": "b"}, "x.json").note == "b"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("count", True, "count must be a whole number, got True"),
        ("count", 3.0, "count must be a whole number, got 3.0"),
        ("count", None, "count must be a whole number, got null"),
        ("rate", float("nan"), "rate must be a number, got nan"),
        ("rate", "1", "rate must be a number, got '1'"),
        ("names", ["a", 1], "names must be a list of text, got a list"),
        ("names", 10**100, "names must be a list of text, got a number of many digits"),
        ("sizes", {"a": None}, "sizes must be an object of a whole number, got an object"),
        ("done", 1, "done must be true or false, got 1"),
        ("note", 1, "note must be text or null, got 1"),
    ],
)
def test_what_does_not_fit_is_named(field: str, value: Any, message: str) -> None:
    with pytest.raises(MentorNetError) as error:
        typed(Stored, {**GOOD, field: value}, "x.json")
    assert str(error.value) == f"x.json: {message}"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(MentorNetError, match=r"x\.json has no count"):
        typed(Stored, {key: value for key, value in GOOD.items() if key != "count"}, "x.json")
