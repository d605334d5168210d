"""The universal mentor: what it reads, where it lies, and who may load it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet import Mentor, MentorLoss, MentorNetError
from mentornet.cli import main
from mentornet.mentors import shipped
from mentornet.mentors import universal as module
from mentornet.mentors.universal import EVIDENCE, UNIVERSAL, UniversalMentor, universal_mentor


def test_the_one_that_ships_trusts_what_evidence_says() -> None:
    mentor = universal_mentor()
    assert mentor.weights.keys() <= EVIDENCE.keys()
    assert all(weight > 0 for weight in mentor.weights.values())
    assert "make universal-mentor" in (UNIVERSAL / "README.md").read_text(encoding="utf-8")


def test_it_is_saved_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = UniversalMentor({"margin": 1.5, "posterior": 0.25})
    made.save(tmp_path)
    monkeypatch.setattr(module, "UNIVERSAL", tmp_path)
    found = universal_mentor.__wrapped__()
    assert found == made
    evidence = {"margin": torch.tensor([1.0, -2.0]), "posterior": torch.tensor([4.0, 0.0])}
    assert found(evidence).tolist() == [2.5, -3.0]


@pytest.mark.parametrize("weights", [{}, {"luck": 1.0}])
def test_evidence_must_be_known(weights: dict[str, float]) -> None:
    with pytest.raises(MentorNetError, match="evidence must be some of posterior, margin"):
        UniversalMentor(weights)


def test_it_is_no_mentor_of_losses() -> None:
    assert "universal" not in shipped()
    with pytest.raises(MentorNetError, match="reads averaged predictions, not losses"):
        Mentor.from_pretrained("universal")
    with pytest.raises(MentorNetError, match="there is no mentor 'universal'"):
        MentorLoss("universal", total_steps=10)


def test_it_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mentors"]) == 0
    assert "universal" in capsys.readouterr().out
