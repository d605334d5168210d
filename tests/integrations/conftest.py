from __future__ import annotations

from functools import partial

import pytest

from mentornet.weighting import LearningConfig


@pytest.fixture
def learns_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mentors are learned as often as in the paper: every twentieth, as by default, takes long."""
    made = partial(LearningConfig, (0.21, 0.75))
    monkeypatch.setattr("mentornet.weighting.criterion.LearningConfig", made)
