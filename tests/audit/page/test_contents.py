from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from mentornet import MentorNetError
from mentornet.audit import Curve, Surface
from mentornet.audit.page.data import as_script, listing, page_data, with_picture
from tests.audit.contents import some_contents, some_samples

WRONG: dict[str, Callable[[], object]] = {
    "quality must have one value for each sample: got 3 for 60": lambda: some_samples(
        quality=np.ones(3)
    ),
    "quality must be in [0, 1], got 40.0": lambda: some_samples(quality=np.full(60, 40.0)),
    "quality must be in [0, 1], got nan": lambda: some_samples(quality=np.full(60, np.nan)),
    "index must not name a sample twice": lambda: some_samples(index=np.zeros(60, np.int64)),
    "an index must be at least 0, got -1": lambda: some_samples(index=np.arange(-1, 59)),
    "trajectory must have the shape (N, E), got (60,)":
        lambda: some_samples(trajectory=np.ones(60)),
    "given_label must be in 0 … 2 for 3 classes, got 0 to 3":
        lambda: some_contents(classes=("a", "b", "c")),
    "class names must differ": lambda: some_contents(classes=("a", "b", "c", "a")),
    "texts must have one text for each sample: got 1 for 60": lambda: some_contents(texts=["one"]),
    "curve 'x' must have one value for each epoch": lambda: Curve("x", np.ones((2, 2))),
    "must have the shape (differences, losses), here (3, 2), got (2, 3)":
        lambda: Surface("x", np.ones(2), np.ones(3), np.ones((2, 3))),
}  # fmt: skip


@pytest.mark.parametrize(("message", "make"), WRONG.items(), ids=range(len(WRONG)))
def test_contents_that_do_not_fit(message: str, make: Callable[[], object]) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        make()


def test_suspects_come_first_then_near_ties_then_the_rest() -> None:
    samples = some_samples(
        6,
        suspects=0,
        quality=np.array([0.9, 0.3, 0.8, 0.2, 0.1, 0.7]),
        is_issue=np.array([False, True, False, True, False, False]),
        is_ambiguous=np.array([True, True, True, False, False, False]),
    )
    assert listing(samples).tolist() == [3, 1, 2, 0, 4, 5]
    assert listing(samples, limit=2).tolist() == [3, 1]
    assert with_picture(samples, listing(samples)) == 6


def test_histogram_counts_every_known_loss_once() -> None:
    trajectory = np.full((60, 6), np.nan, np.float32)
    trajectory[:20, 2] = 3.0
    trajectory[20:50, 4] = 0.5
    contents = some_contents(some_samples(trajectory=trajectory))
    found = page_data(contents, listing(contents.samples))["histogram"]
    assert (sum(found["suspect"]), sum(found["kept"]), found["unknown"]) == (20, 30, 10)
    width = found["edges"][-1] / len(found["kept"])
    assert found["kept"][int(0.5 / width)] == 30


def test_long_texts_are_cut_only_as_far_as_they_must() -> None:
    texts = ["<" * 400_000] * 30 + ["short"] * 30
    contents = some_contents(texts=texts)
    data = page_data(contents, listing(contents.samples))
    assert 40_000 < data["textLimit"] < 60_000  # 6 bytes each as JSON, 10 MB in all
    assert data["texts"][-1] == "short"
    assert len(as_script(data["texts"])) <= 10_000_000


def test_script_data_cannot_leave_its_element() -> None:
    hostile = {"a": "</script><!--\u2028\u2029&amp;"}
    text = as_script(hostile)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == hostile
