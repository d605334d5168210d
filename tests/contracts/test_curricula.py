"""One exam for all curricula."""

from __future__ import annotations

import pytest
import torch

from mentornet import CURRICULA, Curriculum, MentorFeatures, make_curriculum
from tests.samples import some_features

DTYPES = [torch.float32, torch.float64, torch.bfloat16]


@pytest.fixture(params=CURRICULA)
def curriculum(request: pytest.FixtureRequest) -> Curriculum:
    return make_curriculum(request.param)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shape_range_and_dtype(curriculum: Curriculum, dtype: torch.dtype) -> None:
    features = some_features(dtype=dtype)
    for values in (curriculum(features), curriculum.implied_loss(features)):
        assert values.shape == (features.batch_size,)
        assert values.dtype == dtype
    weight = curriculum(features)
    assert (weight >= 0).all()
    assert (weight <= 1).all()


def test_extremes_stay_in_range(curriculum: Curriculum) -> None:
    loss = torch.tensor([[0.0] * 10, [1e-30] * 10, [1e4] * 10, [0.0, 1e4] * 5])
    weight = curriculum(MentorFeatures.from_loss(loss, loss_level=1.0))
    assert ((weight >= 0) & (weight <= 1)).all()


def test_permutation_equivariance(curriculum: Curriculum) -> None:
    features = some_features()
    order = torch.arange(features.batch_size - 1, -1, -1)
    assert torch.equal(curriculum(features.rows(order)), curriculum(features)[order])


def test_monotone_where_declared_and_only_there(curriculum: Curriculum) -> None:
    """Each of many samples along growing losses, all else fixed."""
    samples, losses = some_features(20), torch.linspace(0, 12, 500)
    along = samples.repeat(500).at_loss(losses.repeat(20))
    steps = curriculum(along).view(20, 500).diff()
    falls, rises = bool((steps < -1e-6).any()), bool((steps > 1e-6).any())
    assert (falls, rises) == {
        "decreasing": (curriculum.name != "uniform", False),
        "increasing": (False, True),
        None: (True, True),
    }[curriculum.direction]


def test_no_gradient_through_v(curriculum: Curriculum) -> None:
    """The student's step holds v fixed (Algorithm 1, step 12)."""
    features = some_features()
    features.loss.requires_grad_()
    assert not curriculum(features).requires_grad


def test_compiles_without_a_graph_break(curriculum: Curriculum) -> None:
    features = some_features()
    torch.compiler.reset()  # all share one code object, which has a limit of recompilations
    compiled = torch.compile(curriculum.weight, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(features), curriculum.weight(features))


def test_settings_make_it_again(curriculum: Curriculum) -> None:
    assert make_curriculum(curriculum.name, **curriculum.settings) == curriculum


def test_docstring_states_the_formula_and_an_example(curriculum: Curriculum) -> None:
    text = type(curriculum).__doc__ or ""
    assert ">>> " in text
    assert text.startswith("v*")  # what help texts and README show of it
    for name in curriculum.settings:
        assert f"{name}:" in text
