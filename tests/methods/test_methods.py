"""What each method does, against its formula by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from mentornet.curricula import Uniform
from mentornet.errors import MentorNetError
from mentornet.features import MentorFeatures
from mentornet.mentors import load_mentor, make_mentor
from mentornet.methods import Task, focal_loss, make_method
from mentornet.methods.self_paced import RisingThreshold
from mentornet.methods.weighted import Weighted
from mentornet.randomness import generator
from mentornet.verdicts import Verdicts
from mentornet.weighting import Evidence


def evidence(
    losses: torch.Tensor,
    index: torch.Tensor,
    label: torch.Tensor | None = None,
    wrong: torch.Tensor | None = None,
) -> Evidence:
    label = torch.zeros_like(index) if label is None else label
    return Evidence(losses, label, label, index, wrong)


def test_focal_loss_by_hand() -> None:
    logits = torch.tensor([[2.0, 0.0, -1.0], [0.5, 0.5, 3.0]])
    label = torch.tensor([0, 1])
    for gamma in (0.0, 1.0, 2.0, 3.0):
        expected = []
        for row, y in zip(logits.tolist(), label.tolist(), strict=True):
            q = math.exp(row[y]) / sum(math.exp(value) for value in row)
            expected.append(-((1 - q) ** gamma) * math.log(q))
        assert focal_loss(logits, label, gamma=gamma).tolist() == pytest.approx(expected, rel=1e-5)


def test_focal_factor_has_its_gradient() -> None:
    """d/dq of −(1 − q)^γ log q, not only of log q."""
    logits = torch.tensor([[1.0, 0.0]], requires_grad=True, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(focal_loss(logits, torch.tensor([0])).sum(), logits)
    q = torch.softmax(logits.detach(), 1)[0, 0].item()
    slope = 2 * (1 - q) * math.log(q) - (1 - q) ** 2 / q
    assert gradient[0, 0].item() == pytest.approx(slope * q * (1 - q))


def test_the_self_paced_threshold_rises_by_a_fifth() -> None:
    losses = torch.tensor([0.9, 1.05, 1.15, 1.3])
    for progress, kept in ((0, 1), (50, 2), (99, 3)):
        z = MentorFeatures.from_loss(losses, loss_level=1.0, progress=progress)
        assert RisingThreshold(0.2).weight(z).sum() == kept


def test_the_oracle_is_v_star() -> None:
    is_correct = torch.tensor([True, False, True])
    oracle = make_method("oracle").start(Task(3, 2, 1, is_correct=is_correct))
    weights = oracle.weights(evidence(torch.ones(2), torch.tensor([1, 2])), 0.1)
    assert weights is not None
    assert weights.tolist() == [0.0, 1.0]


def test_a_transferred_mentor_sees_label_0(tmp_path: Path) -> None:
    """Ten labels taught, a hundred met: the label input is fixed."""
    mentor = make_mentor("bilstm", num_classes=10, use_label=True, seed=3)
    mentor.save_pretrained(tmp_path)
    method = make_method("mentornet-dd", mentor=f"{tmp_path}", burn_in=0.0)
    assert method.needs.verdicts == "no"
    supervision = method.start(Task(50, 100, 10))
    losses = torch.rand(8, generator=generator(0))
    many = supervision.weights(evidence(losses, torch.arange(8), torch.arange(90, 98)), 0.1)
    zero = method.start(Task(50, 100, 10)).weights(evidence(losses, torch.arange(8)), 0.1)
    assert many is not None
    assert zero is not None
    assert torch.equal(many, zero)
    with pytest.raises(MentorNetError, match="knows 10 labels, but the data has 100"):
        make_method("mentornet", mentor=f"{tmp_path}").start(Task(50, 100, 10))


def test_a_transferred_mentor_sees_losses_in_units_of_its_own_chance() -> None:
    """On a hundred classes chance is twice the loss that it is on ten."""
    method = make_method("mentornet-dd", mentor="dd-cifar10-40", mentor_classes=10, burn_in=0.0)
    losses = torch.rand(64, generator=generator(0)) * 3
    many = method.start(Task(64, 100, 10)).weights(evidence(2 * losses, torch.arange(64)), 0.1)
    there = method.start(Task(64, 10, 10)).weights(evidence(losses, torch.arange(64)), 0.1)
    assert many is not None
    assert there is not None
    torch.testing.assert_close(many, there)
    assert 0.2 < many.mean() < 0.9


def dd(is_correct: torch.Tensor, steps: int = 200) -> Weighted:
    count = len(is_correct)
    verdicts = Verdicts(torch.arange(count), is_correct)
    method = make_method(
        "mentornet-dd", burn_in=0.0, smoothing=0.0, sharpness=0.0, teaches_verified=False,
        updates=(0.21, 0.75), steps=steps,
    )  # fmt: skip
    supervision = method.start(Task(count, 2, 100, verdicts=verdicts))
    assert isinstance(supervision, Weighted)
    return supervision


def run(
    supervision: Weighted, losses: torch.Tensor, steps: int, wrong: torch.Tensor | None = None
) -> torch.Tensor:
    index = torch.arange(len(losses))
    for _ in range(steps):
        weights = supervision.weights(evidence(losses, index, index % 2, wrong), 0.1)
    assert weights is not None
    return weights


def test_dd_learns_what_no_threshold_on_the_loss_could() -> None:
    """Here small losses are the wrong ones: the predefined mentor is wrong, the learned right."""
    is_correct = torch.rand(200, generator=generator(1)) < 0.5
    losses = torch.where(is_correct, 3.0, 0.5) + torch.rand(200, generator=generator(2)) / 10
    supervision = dd(is_correct)
    before = run(supervision, losses, 21)
    assert before[is_correct].mean() < before[~is_correct].mean()
    after = run(supervision, losses, 1)
    assert after[is_correct].mean() > 0.9
    assert after[~is_correct].mean() < 0.1
    run(supervision, losses, 78)
    assert list(supervision.learned()) == ["1-at-21", "2-at-75"]
    assert all("the learned one is used" in note for note in supervision.notes())
    assert supervision.notes() == []


def test_updates_within_one_percent_keep_their_own_mentors() -> None:
    is_correct = torch.rand(100, generator=generator(1)) < 0.5
    losses = torch.where(is_correct, 3.0, 0.5)  # what PD gets wrong
    verdicts = Verdicts(torch.arange(100), is_correct)
    method = make_method("mentornet-dd", steps=50, burn_in=0.0, updates=(0.021, 0.024))
    supervision = method.start(Task(100, 2, 1000, verdicts=verdicts))
    assert isinstance(supervision, Weighted)
    run(supervision, losses, 30)
    assert list(supervision.learned()) == ["1-at-02", "2-at-02"]


def test_dd_keeps_the_predefined_mentor_unless_the_learned_one_is_better() -> None:
    is_correct = torch.rand(100, generator=generator(1)) < 0.85
    supervision = dd(is_correct, steps=1)
    losses = torch.where(is_correct, 0.1, 9.0)  # PD makes no mistake here, one step does
    run(supervision, losses, 22)
    (note,) = supervision.notes()
    assert "the predefined one is used" in note
    engine = supervision.engine
    assert engine.learning is not None
    assert engine.rule is engine.learning.predefined
    assert supervision.learned() == {}


def test_dd_with_every_label_right_trusts_all() -> None:
    """No loss is as large as that of a wrong label would be, so there are none to play."""
    supervision = dd(torch.ones(50, dtype=torch.bool))
    losses = torch.rand(50, generator=generator(0))
    weights = run(supervision, losses, 22, wrong=losses + 5)
    assert isinstance(supervision.engine.rule, Uniform)
    assert weights.tolist() == [1.0] * 50


def test_dd_simulates_wrong_labels_where_only_right_ones_are_verified() -> None:
    """Samples 0 to 59 are verified; of the other 40, half have the loss of a wrong label."""
    verdicts = Verdicts(torch.arange(60), torch.ones(60).bool())
    method = make_method("mentornet-dd", updates=(0.3,), steps=200)
    supervision = method.start(Task(100, 2, 100, verdicts=verdicts))
    assert isinstance(supervision, Weighted)
    is_wrong = torch.arange(100) >= 80
    losses = torch.rand(100, generator=generator(0)) / 2 + 3.0 * is_wrong
    weights = run(supervision, losses, 60, wrong=3 + torch.rand(100, generator=generator(1)))
    assert "the learned one is used" in supervision.notes()[0]
    assert weights[60:80].min() > 0.9
    assert weights[80:].max() < 0.1


def test_pd_is_the_shipped_mentor() -> None:
    supervision = make_method("mentornet-pd", burn_in=0.0).start(Task(4, 2, 10))
    losses = torch.tensor([0.1, 1.0, 2.0, 9.0])
    weights = supervision.weights(evidence(losses, torch.arange(4)), 0.1)
    level = torch.quantile(losses, 0.75)
    expected = load_mentor("pd")(MentorFeatures.from_loss(losses, loss_level=level))
    assert weights is not None
    assert torch.equal(weights, expected)


def test_the_explicit_step_moves_only_the_samples_of_the_batch() -> None:
    supervision = make_method("spade", burn_in=0.0).start(Task(6, 2, 10))
    assert isinstance(supervision, Weighted)
    losses = torch.tensor([0.1, 8.0, 0.2])
    supervision.weights(evidence(losses, torch.tensor([0, 2, 4])), 0.1)
    stored = supervision.engine.stored
    assert stored is not None
    assert stored[[1, 3, 5]].tolist() == [1.0] * 3
    assert stored[2] < 1


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("mentornet-dd", {"updates": (0.2,), "mentor": "pd"}, "is not learned again"),
        ("mentornet-dd", {"updates": (0.7, 0.2)}, "updates must rise"),
        ("mentornet-dd", {"updates": (0.2, 1.0)}, r"shares of training in \(0, 1\), got 1"),
        ("mentornet-dd", {"mentor": "nobody"}, "no mentor 'nobody'"),
        ("mentornet-dd", {"history": 0}, "history must be ≥ 1"),
        ("mentornet-dd", {"mentor_classes": 10}, "is only for a transferred mentor"),
        ("mentornet-dd", {"mentor": "pd", "mentor_classes": 1}, "mentor_classes must be ≥ 2"),
        ("mentornet-pd", {"percentile": 75}, "did you mean 0.75"),
        ("mentornet-pd", {"burn_in": -1}, r"burn_in must be in \[0, 1\]"),
        ("mentornet-pd", {"percentile": "high"}, "percentile must be a number, got 'high'"),
        ("mentornet", {"reads_label": 1}, "reads_label must be true or false"),
        ("forgetting", {"dropout": 1.0}, r"dropout must be in \[0, 1\)"),
        ("reed-soft", {"beta": 1.5}, r"beta must be in \[0, 1\]"),
        ("focal", {"gamma": -1}, "gamma must be ≥ 0"),
        ("goldberger", {"rate": 0}, r"must be in \(0, 1\)"),
        ("spade", {"curriculum": "focal"}, "focal has no known G"),
        ("self-paced", {"growth": -0.1}, "growth must be ≥ 0"),
    ],
)
def test_bad_settings(name: str, settings: dict[str, float], message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        make_method(name, **settings)


@pytest.mark.parametrize(
    ("index", "is_correct", "message"),
    [
        (range(5), [True] * 5, "5 verified samples; give at least 10"),
        ([*range(19), 99], [True] * 20, "verified sample 99 is not one of the 50"),
        ([*range(19), 3], [True] * 20, "verified sample 3 is listed twice"),
        (range(20), [False] * 20, "all 20 verified labels are wrong"),
        (range(20), [1] * 20, "verdicts must be boolean"),
        (range(20), [True] * 19, "one verdict a verified sample"),
    ],
)
def test_bad_verified_samples(index: list[int], is_correct: list[bool], message: str) -> None:
    verdicts = Verdicts(torch.tensor(list(index)), torch.tensor(is_correct))
    with pytest.raises(MentorNetError, match=message):
        verdicts.check(50)


def test_dd_without_verified_samples_says_how_to_name_them() -> None:
    with pytest.raises(MentorNetError, match="there are none"):
        make_method("mentornet-dd").start(Task(50, 2, 10))
