"""One exam for all mentors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mentornet import ARCHITECTURES, Mentor, MentorNetError, make_mentor
from tests.samples import some_features


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("history", [1, 3, 10])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_shape_range_and_dtype(arch: str, history: int, dtype: torch.dtype) -> None:
    features = some_features(70, history=history, dtype=dtype)
    weight = make_mentor(arch, history=history).weigh(features)
    assert weight.shape == (70,)
    assert weight.dtype == dtype
    assert ((weight >= 0) & (weight <= 1)).all()
    assert not weight.requires_grad


@pytest.mark.parametrize("history", [1, 10])
def test_every_feature_matters(arch: str, history: int) -> None:
    """Change one feature of a sample, and its weight changes."""
    mentor = make_mentor(arch, history=history).double()
    features = some_features(1, history=history, dtype=torch.float64)
    weight = mentor.weigh(features)
    parts = {"loss": 0.5, "difference": 0.5, "label": 1, "progress": 1}
    for name, change in parts.items():
        columns = {key: getattr(features, key) for key in parts}
        columns[name] = (columns[name] + change) % 10 if name == "label" else columns[name] + change
        if name == "progress":
            columns[name] = features.progress - 1
        assert mentor.weigh(type(features)(**columns)) != weight, name


def test_label_input_off_reads_no_label(arch: str) -> None:
    mentor = make_mentor(arch, use_label=False, num_classes=1)
    features = some_features(40, history=1)
    zeros = type(features)(
        features.loss, features.difference, torch.zeros_like(features.label), features.progress
    )
    assert torch.equal(mentor.weigh(features), mentor.weigh(zeros))


def test_permutation_equivariance(arch: str) -> None:
    """The batch LSTM reads the samples in order, and is the one exception (see its docstring)."""
    mentor = make_mentor(arch)
    features = some_features(40, history=1)
    order = torch.arange(39, -1, -1)
    moved, straight = mentor.weigh(features.rows(order)), mentor.weigh(features)[order]
    if arch == "batch-lstm":
        assert not torch.allclose(moved, straight)
    else:
        torch.testing.assert_close(moved, straight)


@pytest.mark.parametrize("history", [1, 10])
def test_compiles_without_a_graph_break(arch: str, history: int) -> None:
    mentor = make_mentor(arch, history=history)
    features, draws = some_features(12, history=history), torch.linspace(0, 1, 12)
    torch.compiler.reset()  # all share one code object, which has a limit of recompilations
    compiled = torch.compile(mentor, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(features), mentor(features))
    burn_in = torch.tensor(True)
    torch.testing.assert_close(
        compiled(features, draws, drop_rate=0.3, burn_in=burn_in),
        mentor(features, draws, drop_rate=0.3, burn_in=burn_in),
    )


def test_the_seed_fixes_the_starting_values(arch: str) -> None:
    features = some_features(history=1)
    first, again, other = (make_mentor(arch, seed=seed).weigh(features) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_gradient_reaches_every_parameter(arch: str) -> None:
    mentor = make_mentor(arch, history=10)
    mentor(some_features(300)).sum().backward()
    for name, parameter in mentor.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_saved_and_loaded_it_is_the_same(arch: str, tmp_path: Path) -> None:
    mentor = make_mentor(arch, history=3, num_classes=4, use_label=False)
    mentor.save_pretrained(tmp_path / "mentor")
    loaded = Mentor.from_pretrained(tmp_path / "mentor")
    assert type(loaded) is type(mentor)
    assert loaded.config == mentor.config
    features = some_features(history=3)
    assert torch.equal(loaded.weigh(features), mentor.weigh(features))
    assert not any(parameter.requires_grad for parameter in loaded.parameters())


def test_a_history_it_was_not_made_for_is_refused(arch: str) -> None:
    with pytest.raises(MentorNetError, match=r"reads 3 steps of history, got .* T = 10"):
        make_mentor(arch, history=3)(some_features(history=10))
