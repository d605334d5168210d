"""The engine's weights (Algorithm 1), against the algorithm written out."""

from __future__ import annotations

import re

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mentornet import Mentor, MentorFeatures, MentorNetError, make_curriculum, make_mentor
from mentornet.randomness import generator
from mentornet.weighting import LossLevel, Weighting, WeightingConfig, weighted_mean
from mentornet.weighting.sharpening import Sharpened
from tests.weighting.parts import evidence

NO_BURN_IN = WeightingConfig(burn_in=0.0)
labels = torch.zeros(64, dtype=torch.long)


def batches(count: int, size: int = 64) -> list[torch.Tensor]:
    return [torch.rand(size, generator=generator(k)) * 5 for k in range(count)]


def test_with_a_mentor_v_is_g_m_of_the_features() -> None:
    mentor = Mentor.from_pretrained("pd")
    engine, level = Weighting(mentor, total_steps=10, config=NO_BURN_IN), LossLevel()
    for step, losses in enumerate(batches(10)):
        z = MentorFeatures.from_loss(losses, loss_level=level.update(losses), progress=10 * step)
        assert torch.equal(engine.weigh(evidence(losses)), mentor.weigh(z))


def test_with_a_history_the_mentor_sees_each_samples_own_past() -> None:
    mentor = make_mentor("bilstm", history=3)
    engine = Weighting(mentor, total_steps=9, config=NO_BURN_IN, count=4)
    past: dict[int, list[tuple[float, float]]] = {0: [], 1: [], 2: [], 3: []}
    level = LossLevel()
    for step in range(9):
        index = torch.tensor([step % 4, (step + 1) % 4])
        losses = torch.rand(2, generator=generator(step))
        loss_level = level.update(losses)
        rows = []
        for sample, loss in zip(index.tolist(), losses, strict=True):
            past[sample].append((loss.item(), (loss - loss_level).item()))
            known = past[sample][-3:]
            rows.append([known[0]] * (3 - len(known)) + known)
        window = torch.tensor(rows)
        progress = torch.full((2,), step * 100 // 9)
        z = MentorFeatures(window[:, :, 0], window[:, :, 1], labels[:2], progress)
        torch.testing.assert_close(engine.weigh(evidence(losses, index=index)), mentor.weigh(z))


def test_explicit_g_is_projected_gradient_descent_on_the_stored_v() -> None:
    """Step 9 for the linear curriculum: ∂/∂v [vℓ + G] = ℓ + λ₂ v − λ₁ − λ₂, by hand."""
    curriculum = make_curriculum("linear", lambda1=1.0, lambda2=2.0)
    engine = Weighting(curriculum, total_steps=20, config=NO_BURN_IN, count=10, explicit=True)
    stored = [1.0] * 10
    for step in range(20):
        index = torch.randperm(10, generator=generator(step))[:4]
        losses = torch.rand(4, generator=generator(step, 1)) * 5
        weight = engine.weigh(evidence(losses, index=index), learning_rate=0.1)
        for row, sample in enumerate(index.tolist()):
            gradient = losses[row].item() + 2.0 * stored[sample] - 1.0 - 2.0
            stored[sample] = min(max(stored[sample] - 0.1 * gradient, 0.0), 1.0)
            assert weight[row].item() == pytest.approx(stored[sample], abs=1e-6)


def test_explicit_g_converges_to_v_star_at_fixed_losses() -> None:
    curriculum = make_curriculum("linear", lambda1=1.0, lambda2=2.0)
    engine = Weighting(curriculum, total_steps=300, config=NO_BURN_IN, count=64, explicit=True)
    (losses,) = batches(1)
    for _ in range(300):
        weight = engine.weigh(evidence(losses, index=torch.arange(64)), learning_rate=0.2)
    target = curriculum(MentorFeatures.from_loss(losses))
    torch.testing.assert_close(weight, target, atol=1e-5, rtol=0)


def test_burn_in_drops_at_random_and_then_ends() -> None:
    engine = Weighting(
        make_curriculum("pd"), total_steps=100, config=WeightingConfig(burn_in_drop=0.25)
    )
    means = []
    for step in range(100):
        weight = engine.weigh(evidence(torch.linspace(0, 9, 1000)))
        means.append(weight.mean().item())
        assert (set(weight.unique().tolist()) == {0.0, 1.0}) == (step < 20)
    assert sum(means[:20]) / 20 == pytest.approx(0.75, abs=0.016)  # five standard errors
    assert means[20] == means[50]


def test_weights_of_1_give_the_plain_loss_bit_for_bit() -> None:
    engine = Weighting(make_curriculum("uniform"), total_steps=5, config=NO_BURN_IN)
    logits = torch.randn(64, 10, generator=generator(0)).requires_grad_()
    losses = F.cross_entropy(logits, labels, reduction="none")
    weighted = weighted_mean(engine.weigh(evidence(losses)), losses)
    assert torch.equal(weighted, losses.mean())
    (ours,) = torch.autograd.grad(weighted, logits, retain_graph=True)
    (plain,) = torch.autograd.grad(losses.mean(), logits)
    assert torch.equal(ours, plain)


def test_no_gradient_flows_through_v() -> None:
    engine = Weighting(make_mentor("bilstm"), total_steps=5, config=NO_BURN_IN)
    losses = torch.rand(64, generator=generator(0)).requires_grad_()
    weight = engine.weigh(evidence(losses))
    (gradient,) = torch.autograd.grad(weighted_mean(weight, losses), losses)
    torch.testing.assert_close(gradient, weight / 64)


def test_sharpened_weights_ask_whether_a_label_is_likelier_right_than_most() -> None:
    """The odds of v, and bit by bit (odds of v / odds of v̄)⁴ in their place."""
    mentor = Mentor.from_pretrained("pd")
    soft = Weighting(mentor, total_steps=50, config=NO_BURN_IN)
    sharp = Weighting(mentor, total_steps=50, config=WeightingConfig(burn_in=0.0, sharpness=4.0))
    mean = None
    for step, losses in enumerate(batches(50)):
        v = soft.weigh(evidence(losses))
        mean = v.mean() if mean is None else 0.95 * mean + 0.05 * v.mean()
        v = v.clamp(1e-4, 1 - 1e-4)
        odds, t = v / (1 - v), step / 50
        level = mean.clamp(0.5, 0.75)
        odds = odds ** (1 - t) * (odds / (level / (1 - level))) ** (4 * t)
        expected = odds / (1 + odds)
        torch.testing.assert_close(sharp.weigh(evidence(losses)), expected, rtol=1e-3, atol=1e-4)


def test_where_most_labels_are_wrong_a_label_must_be_likelier_right_than_wrong() -> None:
    """Of v = 0.3, above its mean of 0.2, sharpening makes less; of v = 0.6 more."""
    sharpened = Sharpened(sharpness=5.0)
    found = sharpened(torch.tensor([0.3, 0.6, 0.1, 0.0, 0.0]), torch.tensor(1.0))
    assert sharpened.mean == pytest.approx(0.2)
    odds = [(3 / 7) ** 5, (6 / 4) ** 5, (1 / 9) ** 5]
    assert found[:3].tolist() == pytest.approx([ratio / (1 + ratio) for ratio in odds], rel=1e-3)


def test_a_mentor_that_cannot_tell_leaves_out_few() -> None:
    """All have about v̄ = 0.2: by the odds of ½ none would be left. By hand, over three batches."""
    sharpened, mean, tells = Sharpened(sharpness=5.0), 0.0, 0.0
    for step, spread in enumerate((0.01, 0.05, 0.02)):
        v = [0.2 - spread, 0.2, 0.2, 0.2 + spread]
        variance = 2 * spread**2 / 4
        now = variance / (0.2 * 0.8)
        mean, tells = 0.2, now if step == 0 else 0.95 * tells + 0.05 * now
        level = mean + (0.5 - mean) * tells / 0.3
        odds = [(one / (1 - one) / (level / (1 - level))) ** 5 for one in v]
        found = sharpened(torch.tensor(v), torch.tensor(1.0))
        assert found.tolist() == pytest.approx([one / (1 + one) for one in odds], rel=1e-3)
        assert found.mean() > 0.4


def test_how_well_it_tells_is_forgotten_slowly() -> None:
    sharpened = Sharpened(sharpness=5.0)
    sharpened(torch.tensor([0.0, 0.0, 0.0, 1.0]), torch.tensor(1.0))
    assert sharpened.resolution == pytest.approx(1.0)
    sharpened(torch.tensor([0.25, 0.25, 0.25, 0.25]), torch.tensor(1.0))
    assert sharpened.resolution == pytest.approx(0.95)
    sharpened(torch.tensor([torch.nan]), torch.tensor(1.0))
    assert sharpened.resolution == pytest.approx(0.95)


def test_where_hardly_a_label_is_wrong_three_in_four_is_enough() -> None:
    sharpened = Sharpened(sharpness=5.0)
    found = sharpened(torch.tensor([0.9, 1.0, 1.0, 1.0]), torch.tensor(1.0))
    assert sharpened.mean == pytest.approx(0.975)
    assert found[0].item() == pytest.approx(3**5 / (1 + 3**5), rel=1e-3)  # odds 9 over odds 3


@pytest.mark.parametrize(("progress", "t"), [(0.0, 0.0), (0.1, 0.25), (0.4, 1.0), (0.9, 1.0)])
def test_weights_are_decided_by_then(progress: float, t: float) -> None:
    weight = torch.tensor([0.2, 0.7, 0.6])
    found = Sharpened(5.0, decided_by=0.4)(weight, torch.tensor(progress))
    plain = Sharpened(5.0)(weight, torch.tensor(t))
    torch.testing.assert_close(found, plain)


def test_sharpened_weights_pass_over_losses_that_are_no_numbers() -> None:
    config = WeightingConfig(burn_in=0.0, sharpness=5.0)
    engine, other = (
        Weighting(Mentor.from_pretrained("pd"), total_steps=9, config=config) for _ in "ab"
    )
    losses = batches(1)[0]
    broken = torch.cat([losses, torch.tensor([torch.nan])])
    weights = engine.weigh(evidence(broken))
    torch.testing.assert_close(weights[:-1], other.weigh(evidence(losses)))
    assert weights[-1] == 0


@pytest.mark.parametrize("kind", ["mentor", "history", "explicit", "sharp"])
def test_resumed_from_its_state_it_goes_on_the_same(kind: str) -> None:
    def make() -> Weighting:
        if kind == "explicit":
            rule = make_curriculum("pd")
            return Weighting(rule, total_steps=10, count=64, explicit=True, seed=3)
        mentor = make_mentor("bilstm", history=3 if kind == "history" else 1)
        config = WeightingConfig(sharpness=5.0 if kind == "sharp" else 0.0)
        return Weighting(mentor, total_steps=10, config=config, count=64, seed=3)

    whole, first, second = make(), make(), make()
    index = torch.arange(64)
    expected = [whole.weigh(evidence(losses, index=index)) for losses in batches(10)]
    early = [first.weigh(evidence(losses, index=index)) for losses in batches(10)[:4]]
    second.load_state_dict(first.state_dict())
    first.weigh(
        evidence(batches(1)[0], index=index)
    )  # what goes on elsewhere is no business of the second
    late = [second.weigh(evidence(losses, index=index)) for losses in batches(10)[4:]]
    assert all(torch.equal(a, b) for a, b in zip(expected, early + late, strict=True))


@pytest.mark.parametrize("explicit", [True, False])
def test_theorem_1_the_gradient_of_a_convex_student_vanishes(explicit: bool) -> None:
    """Softmax regression with weight decay, αₜ = 20/(t + 100): Σα = ∞ and Σα² < ∞."""
    draw = generator(0)
    inputs = torch.randn(200, 5, generator=draw, dtype=torch.float64)
    given = (inputs @ torch.randn(5, 3, generator=draw, dtype=torch.float64)).argmax(1)
    given[:60] = torch.randint(3, (60,), generator=draw)  # corrupted labels
    student, stored = torch.zeros(5, 3, dtype=torch.float64), torch.ones(200).double()
    curriculum = make_curriculum("linear", lambda1=0.5, lambda2=2.0)
    rule = curriculum if explicit else Mentor.from_pretrained("linear").double()
    engine = Weighting(rule, total_steps=3000, config=NO_BURN_IN, count=200, explicit=explicit)

    def gradient(rows: torch.Tensor) -> torch.Tensor:
        """∇_w F(w, v) on `rows`, at the weights as they are stored."""
        point = student.clone().requires_grad_()
        losses = F.cross_entropy(inputs[rows] @ point, given[rows], reduction="none")
        objective = weighted_mean(stored[rows], losses) + 0.05 * point.square().sum()
        return torch.autograd.grad(objective, point)[0]

    everything = torch.arange(200)
    first = gradient(everything).norm().item()
    for step in range(3000):
        rate = 20 / (step + 100)
        rows = torch.randperm(200, generator=draw)[:50]
        losses = F.cross_entropy(inputs[rows] @ student, given[rows], reduction="none")
        stored[rows] = engine.weigh(
            evidence(losses, given[rows], rows), learning_rate=rate
        ).double()
        student = student - rate * gradient(rows)
    assert gradient(everything).norm().item() < 0.02 * first


def test_the_step_compiles_without_a_graph_break() -> None:
    """Burn-in, loss level, history and mentor, in one graph, with the state moving as it should."""

    def made() -> Weighting:
        mentor = make_mentor("bilstm", history=2).eval().requires_grad_(False)
        return Weighting(mentor, total_steps=8, count=32, config=WeightingConfig(burn_in=0.5))

    plain, compiled = made(), made()
    weigh = torch.compile(compiled.weigh, fullgraph=True, backend="aot_eager")
    for step in range(8):
        losses = torch.rand(16, generator=generator(step))
        seen = evidence(losses, index=torch.arange(16))
        assert torch.allclose(weigh(seen), plain.weigh(seen))
    assert int(compiled.step) == 8
    assert torch.equal(compiled.level.value, plain.level.value)


def test_the_mentor_follows_the_engine_to_a_device() -> None:
    mentor = make_mentor("bilstm")
    engine = Weighting(mentor, total_steps=1).to("meta")
    assert {part.device.type for part in (*engine.buffers(), *mentor.parameters())} == {"meta"}


def test_the_rule_is_no_part_of_the_state() -> None:
    engine = Weighting(make_mentor("bilstm"), total_steps=1)
    engine.use(make_curriculum("pd"))
    assert set(engine.state_dict()) == {"step", "level.value"}


MISTAKES = [
    (lambda: Weighting(make_curriculum("pd"), total_steps=0), "total_steps must be ≥ 1, got 0"),
    (lambda: Weighting(make_mentor("bilstm", history=2), total_steps=1), "give count"),
    (
        lambda: Weighting(make_curriculum("pd"), total_steps=1, explicit=True),
        "explicit SPADE needs the number of samples",
    ),
    (
        lambda: Weighting(make_curriculum("focal"), total_steps=1, count=1, explicit=True),
        "explicit SPADE needs a curriculum of known G",
    ),
    (
        lambda: Weighting(make_mentor("bilstm", history=2), total_steps=1, count=9).weigh(
            evidence(torch.ones(2))
        ),
        "index is missing",
    ),
    (lambda: WeightingConfig(burn_in=20), "burn_in must be in [0, 1], got 20"),
    (lambda: WeightingConfig(sharpness=-1), "sharpness must be ≥ 0, got -1"),
    (lambda: WeightingConfig(decided_by=0), "decided_by must be in (0, 1], got 0"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistake(call: object, message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()  # type: ignore[operator]
