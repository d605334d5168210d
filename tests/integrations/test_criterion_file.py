"""The state of a criterion in a file: whole, exact and not pickled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save
from torch import nn

from mentornet import MentorLoss, MentorNetError
from mentornet.integrations.criterion_file import read_state, restore, save_criterion


class Odd(nn.Module):
    """A state of all kinds."""

    def __init__(self, state: object = None) -> None:
        super().__init__()
        self.state = state

    def get_extra_state(self) -> object:
        return self.state

    def set_extra_state(self, state: object) -> None:
        self.state = state


def test_every_kind_of_state_returns(tmp_path: Path) -> None:
    shared = torch.arange(6.0).view(2, 3)
    state = {
        "none": None, "yes": True, "count": 3, "share": 0.1, "text": "tensor:", "empty": [],
        "list": [shared, {"again": shared.T, "half": torch.ones(1, dtype=torch.bfloat16)}],
    }  # fmt: skip
    path = tmp_path / "deep" / "state.safetensors"
    save_criterion(Odd(state), path)
    other = Odd()
    restore(other, read_state(path), path)
    found = other.state
    assert isinstance(found, dict)
    assert {name: found[name] for name in list(state)[:-1]} == dict(list(state.items())[:-1])
    assert torch.equal(found["list"][0], shared)
    assert torch.equal(found["list"][1]["again"], shared.T)
    assert found["list"][1]["half"].dtype == torch.bfloat16


def test_a_criterion_continues_bit_for_bit(tmp_path: Path) -> None:
    def step(criterion: MentorLoss, seed: int) -> torch.Tensor:
        draw = torch.Generator().manual_seed(seed)
        logits = torch.randn(8, 3, generator=draw)
        return criterion(logits, torch.arange(8) % 3, index=torch.arange(8))

    whole = MentorLoss("pd", total_steps=10, samples=8)
    for seed in range(5):
        step(whole, seed)
    save_criterion(whole, tmp_path / "state")
    again = MentorLoss("pd", total_steps=10, samples=8)
    restore(again, read_state(tmp_path / "state"), tmp_path / "state")
    for seed in range(5, 10):
        assert torch.equal(step(whole, seed), step(again, seed))


def header(tree: object) -> bytes:
    return save({"a": torch.ones(1)}, metadata={"state": json.dumps(tree)})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read as the state of a criterion"),
        (b"\x80\x02}q\x00.", "cannot be read as the state of a criterion"),
        (save({"a": torch.ones(1)}), "cannot be read as the state of a criterion"),
        (header([1]), "must hold a JSON object"),
        (header({"a": "tensor:b"}), "cannot be read as the state of a criterion"),
        (header({"a": "other"}), "cannot be read as the state of a criterion"),
        (header({"step": "tensor:a"}), None),
    ],
)
def test_what_is_no_state(content: bytes, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(content)
    with pytest.raises(
        MentorNetError, match=message or "is the state of another training"
    ) as error:
        restore(MentorLoss(total_steps=10), read_state(path), path)
    assert "\n" not in f"{error.value}"
    with pytest.raises(MentorNetError, match="is missing"):
        read_state(tmp_path / "nowhere")
