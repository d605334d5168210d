from __future__ import annotations

import pytest
import torch

from mentornet import Mentor
from mentornet.randomness import generator, seeded


def test_streams_differ_and_repeat() -> None:
    draws = [torch.rand(4, generator=generator(*key)).tolist() for key in ((0,), (0, 1), (1, 0))]
    assert draws[0] != draws[1] != draws[2] != draws[0]
    assert torch.rand(4, generator=generator(0, 1)).tolist() == draws[1]


def test_accelerators_are_never_reseeded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(seed: int) -> None:
        raise AssertionError("a user's GPU was reseeded")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", refuse)
    with seeded(3):
        first = torch.rand(3)
    with seeded(3):
        assert torch.equal(torch.rand(3), first)
    Mentor.from_pretrained("pd")
