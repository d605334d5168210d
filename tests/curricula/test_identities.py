"""The paper's identities: Eq. 4, Eq. 10, Remark 1, Prop. 1, against numerical integration."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from mentornet import CURRICULA, Curriculum, MentorFeatures, implied_loss, make_curriculum
from tests.samples import some_features

LOSSES = torch.linspace(0, 8, 41, dtype=torch.float64)


def integral(weight: Callable[[float], float], upper: float, points: int = 20_000) -> float:
    """∫₀^upper weight(x) dx by the midpoint rule, in plain Python."""
    width = upper / points
    return width * sum(weight((k + 0.5) * width) for k in range(points))


def rho(curriculum: Curriculum, losses: torch.Tensor = LOSSES) -> list[float]:
    return curriculum.implied_loss(MentorFeatures.from_loss(losses)).tolist()


@pytest.mark.parametrize("theta_one", [True, False])
def test_remark_1(theta_one: bool) -> None:
    """F_λ of Eq. 11 is ∫v of Eq. 7."""
    lambda1, lambda2 = (0.0, 3.0) if theta_one else (1.5, 2.5)
    theta = (lambda2 + lambda1) / lambda2
    assert (theta == 1) == theta_one

    def f_lambda(loss: float) -> float:
        if loss <= lambda1:
            return loss
        if loss >= lambda2 + lambda1:
            return (lambda2 + 2 * lambda1) / 2
        return theta * loss - loss**2 / (2 * lambda2) - (theta - 1) ** 2 * lambda2 / 2

    def v_star(loss: float) -> float:
        return min(max(0.0, 1 - (loss - lambda1) / lambda2), 1.0)

    ours = rho(make_curriculum("linear", lambda1=lambda1, lambda2=lambda2))
    for loss, value in zip(LOSSES.tolist(), ours, strict=True):
        assert value == pytest.approx(f_lambda(loss), abs=1e-12)
        assert value == pytest.approx(integral(v_star, loss), abs=1e-6)


def test_remark_1_with_theta_one_is_the_minimax_concave_penalty() -> None:
    """MCP with regularisation 1 (Zhang 2010): ∫₀^ℓ max(0, 1 − x/t) dx."""
    t = 3.0
    for loss, value in zip(
        LOSSES.tolist(), rho(make_curriculum("linear", lambda1=0, lambda2=t)), strict=True
    ):
        penalty = loss - loss**2 / (2 * t) if loss < t else t / 2
        assert value == pytest.approx(penalty, abs=1e-12)
        assert value == pytest.approx(integral(lambda x: max(0.0, 1 - x / t), loss), abs=1e-6)


def test_prop_1_huber() -> None:
    """ρ(r²) is Huber's loss of the residual r."""
    bend = 1.5
    residuals = torch.linspace(0, 4, 41, dtype=torch.float64)
    values = rho(make_curriculum("huber", lambda1=bend), residuals**2)

    def weight(loss: float) -> float:
        return 0.5 if loss <= bend**2 else bend / (2 * math.sqrt(loss))

    for residual, value in zip(residuals.tolist(), values, strict=True):
        huber = residual**2 / 2 if residual <= bend else bend * (residual - bend / 2)
        assert value == pytest.approx(huber, abs=1e-12)
        assert value == pytest.approx(integral(weight, residual**2), abs=1e-6)


def test_prop_1_log_sum() -> None:
    values = rho(make_curriculum("log-sum", lambda1=0.5, epsilon=2.0))
    for loss, value in zip(LOSSES.tolist(), values, strict=True):
        assert value == pytest.approx(0.5 * math.log(1 + loss / 2.0), abs=1e-12)
        assert value == pytest.approx(integral(lambda x: 0.5 / (x + 2.0), loss), abs=1e-6)


def test_app_c_lorentzian() -> None:
    delta = 1.25
    values = rho(make_curriculum("lorentzian", delta=delta))
    for loss, value in zip(LOSSES.tolist(), values, strict=True):
        assert value == pytest.approx(math.log(1 + (loss / delta) ** 2 / 2), abs=1e-12)
        integrand = integral(lambda x: 2 * x / (2 * delta**2 + x**2), loss)
        assert value == pytest.approx(integrand, abs=1e-6)


def test_focal_implied_loss_has_a_closed_form_at_gamma_2() -> None:
    """∫(1 − e^(−x))² dx = ℓ − 2(1 − e^(−ℓ)) + ½(1 − e^(−2ℓ))."""
    for loss, value in zip(LOSSES.tolist(), rho(make_curriculum("focal")), strict=True):
        closed = loss - 2 * (1 - math.exp(-loss)) + 0.5 * (1 - math.exp(-2 * loss))
        assert value == pytest.approx(closed, abs=1e-5)


@pytest.mark.parametrize("name", CURRICULA)
def test_implied_loss_is_the_integral_of_the_weight(name: str) -> None:
    """Closed forms and the numerical one agree, whatever the percentile, epoch or history."""
    features = some_features(60, dtype=torch.float64)
    curriculum = make_curriculum(name)
    numerical = implied_loss(curriculum.weight, features, points=20_000)
    torch.testing.assert_close(curriculum.implied_loss(features), numerical, atol=1e-3, rtol=0)


@pytest.mark.parametrize(("lambda1", "lambda2"), [(0.0, 1.0), (0.5, 2.0), (1.0, 0.0)])
@pytest.mark.parametrize("percentile", [-2.5, -0.5, 0.0, 1.0])
def test_relative_linear_implied_loss_even_where_the_ramp_starts_below_zero(
    lambda1: float, lambda2: float, percentile: float
) -> None:
    curriculum = make_curriculum("pd", lambda1=lambda1, lambda2=lambda2)
    features = MentorFeatures.from_loss(LOSSES, loss_level=percentile)
    numerical = implied_loss(curriculum.weight, features, points=20_000)
    torch.testing.assert_close(curriculum.implied_loss(features), numerical, atol=1e-3, rtol=0)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("self-paced", {}),
        ("self-paced", {"lambda1": 1.7, "relative": False}),
        ("linear", {"lambda1": 1.2, "lambda2": 2.0}),
        ("linear", {"lambda1": 1.2, "lambda2": 0.0}),
        ("pd", {"lambda1": 0.3, "lambda2": 1.5}),
    ],
)
def test_v_star_minimises_v_loss_plus_g(name: str, settings: dict[str, float]) -> None:
    """Eq. 4 and 9, by trying every v in [0, 1] on a fine grid."""
    assert_v_star_minimises(make_curriculum(name, **settings))


def assert_v_star_minimises(curriculum: Curriculum) -> None:
    features = some_features(40, dtype=torch.float64)
    candidates = torch.linspace(0, 1, 1001, dtype=torch.float64)
    best = torch.full((40,), float("inf"), dtype=torch.float64)
    for v in candidates:
        weight = torch.full((40,), v.item(), dtype=torch.float64)
        value = weight * features.current_loss + curriculum.penalty(weight, features)
        best = torch.minimum(best, value)
    chosen = curriculum.weight(features)
    ours = chosen * features.current_loss + curriculum.penalty(chosen, features)
    assert (ours <= best + 1e-12).all()


@pytest.mark.parametrize("name", [name for name, kind in CURRICULA.items() if kind().has_penalty])
def test_v_star_minimises_every_g_that_is_stated(name: str) -> None:
    """At the defaults, for curricula that are added later too."""
    assert_v_star_minimises(make_curriculum(name))


def test_g_of_the_paper_is_there() -> None:
    for name in ("self-paced", "linear", "pd"):
        assert make_curriculum(name).has_penalty
    assert not make_curriculum("focal").has_penalty
