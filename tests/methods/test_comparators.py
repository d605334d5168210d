"""The methods of others, each against its own paper's formula, by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods import Task, make_method
from mentornet.methods.co_teaching import smallest
from mentornet.methods.memory import PredictionMemory
from mentornet.methods.mentor_bootstrap import trusted_target
from mentornet.methods.mentormix import leaning_share
from mentornet.methods.mixing import Mixer, blend, blended_loss
from mentornet.methods.robust_losses import generalised_cross_entropy, symmetric_cross_entropy
from mentornet.randomness import generator, seeded
from mentornet.students import Pair
from mentornet.weighting import early_learning_term
from tests.methods.steps import AtWork

LOGITS = torch.tensor([[2.0, 0.0, -1.0], [0.5, 0.5, 3.0]], dtype=torch.float64)
LABEL = torch.tensor([0, 1])


def probabilities(row: list[float]) -> list[float]:
    total = sum(math.exp(value) for value in row)
    return [math.exp(value) / total for value in row]


@pytest.mark.parametrize("q", [0.1, 0.7, 1.0])
def test_generalised_cross_entropy(q: float) -> None:
    """L_q = (1 − f_y^q) / q (Zhang and Sabuncu 2018, Eq. 6)."""
    expected = [
        (1 - probabilities(row)[y] ** q) / q
        for row, y in zip(LOGITS.tolist(), LABEL.tolist(), strict=True)
    ]
    found = generalised_cross_entropy(LOGITS, LABEL, q=q)
    assert found.tolist() == pytest.approx(expected)


def test_generalised_cross_entropy_lies_between_its_ends() -> None:
    small = generalised_cross_entropy(LOGITS, LABEL, q=1e-6)
    assert torch.allclose(small, nn.functional.cross_entropy(LOGITS, LABEL, reduction="none"))
    absolute = generalised_cross_entropy(LOGITS, LABEL, q=1.0)
    assert torch.allclose(absolute, 1 - LOGITS.softmax(1).gather(1, LABEL[:, None])[:, 0])


def test_symmetric_cross_entropy() -> None:
    """α H(q, p) + β H(p, q), q the label as one-hot and log 0 = A (Wang et al. 2019, Eq. 5–7)."""
    alpha, beta, log_zero = 0.3, 2.0, -6.0
    expected = []
    for row, y in zip(LOGITS.tolist(), LABEL.tolist(), strict=True):
        p = probabilities(row)
        log_q = [0.0 if k == y else log_zero for k in range(3)]
        reverse = -sum(share * log for share, log in zip(p, log_q, strict=True))
        expected.append(-alpha * math.log(p[y]) + beta * reverse)
    found = symmetric_cross_entropy(LOGITS, LABEL, alpha=alpha, beta=beta, log_zero=log_zero)
    assert found.tolist() == pytest.approx(expected)


class Fixed(nn.Module):
    """A student whose logits are its images."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, images: Tensor) -> Tensor:
        return self.scale * images.flatten(1)


def batch(count: int = 6, classes: int = 3, seed: int = 0) -> Batch:
    draw = generator(seed)
    images = torch.randn(count, classes, 1, 1, generator=draw)
    return Batch(torch.arange(count), images, torch.randint(classes, (count,), generator=draw))


def test_elr_by_hand() -> None:
    """−log p_y + λ log(1 − ⟨p, t⟩), t ← β t + (1 − β) p (Liu et al. 2020, Eq. 6 and 9)."""
    seen = batch()
    elr = AtWork(make_method("elr", strength=3.0, decay=0.7), Task(6, 3, 10))
    p = seen.inputs.flatten(1).softmax(1)
    target = torch.zeros(6, 3)
    for _ in range(3):
        target = 0.7 * target + 0.3 * p
        expected = -p.gather(1, seen.given_label[:, None])[:, 0].log() + 3 * torch.log(
            1 - (p * target).sum(1)
        )
        found = elr.step(Fixed(), seen)
        assert torch.allclose(found.evidence.losses, expected, atol=1e-5)
        assert torch.allclose(found.loss, expected.mean(), atol=1e-5)


def test_elr_pulls_towards_what_was_predicted() -> None:
    """Its gradient raises the probability that is in the target (Liu et al. 2020, Lemma 2)."""
    logits = torch.zeros(1, 3, requires_grad=True)
    term = early_learning_term(logits.softmax(1), torch.tensor([[0.8, 0.1, 0.1]]))
    (gradient,) = torch.autograd.grad(term.sum(), logits)
    assert gradient[0, 0] < 0 < gradient[0, 1]


def test_memory_of_what_was_never_seen_is_even() -> None:
    memory = PredictionMemory(2, 4, decay=0.5)
    memory.add(torch.tensor([1]), torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    assert memory.shares(torch.arange(2)).tolist() == [[0.25] * 4, [1.0, 0.0, 0.0, 0.0]]


def test_co_teaching_learns_what_the_other_finds_easy() -> None:
    """Each student's loss is over the R(t) B samples of smallest loss of its peer."""
    with seeded(1):
        pair = Pair(*(nn.Sequential(nn.Flatten(), nn.Linear(3, 3)) for _ in range(2)))
    seen = batch(8)
    work = AtWork(make_method("co-teaching", forget=0.5, rise=0.0), Task(8, 3, 10))
    work.step(pair, seen)  # the first step of all keeps everything
    done = work.step(pair, seen)
    one, two = (
        nn.functional.cross_entropy(student(seen.inputs), seen.given_label, reduction="none")
        for student in (pair.first, pair.second)
    )
    easy_for_one, easy_for_two = one.argsort()[:4], two.argsort()[:4]
    expected = one[easy_for_two].mean() + two[easy_for_one].mean()
    assert torch.allclose(done.loss, expected)
    assert done.trust is not None
    assert done.trust.nonzero().flatten().tolist() == sorted(easy_for_two.tolist())


def test_co_teaching_forgets_more_and_more() -> None:
    work = AtWork(make_method("co-teaching", forget=0.4, rise=0.5), Task(8, 3, 10))
    with seeded(1):
        pair = Pair(*(nn.Sequential(nn.Flatten(), nn.Linear(3, 3)) for _ in range(2)))
    used = []
    for _ in range(8):
        weights = work.step(pair, batch(10)).trust
        assert weights is not None
        used.append(int(weights.sum()))
    assert used == [10, 9, 8, 7, 6, 6, 6, 6]


def test_smallest_keeps_at_least_one() -> None:
    assert smallest(torch.tensor([2.0, 1.0]), 0.1).tolist() == [0.0, 1.0]


def test_mixup_by_hand() -> None:
    share, partner = torch.tensor([0.75, 0.5]), torch.tensor([1, 0])
    target = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    mixed = blend(LOGITS, share, partner)
    assert mixed[0].tolist() == pytest.approx([0.75 * 2 + 0.25 * 0.5, 0.125, -0.75 + 0.75])
    found = blended_loss(LOGITS, target, share, partner)
    p = [probabilities(row) for row in LOGITS.tolist()]
    expected = [
        -0.75 * math.log(p[0][0]) - 0.25 * math.log(p[0][2]),
        -0.5 * math.log(p[1][2]) - 0.5 * math.log(p[1][0]),
    ]
    assert found.tolist() == pytest.approx(expected)


def test_partners_are_drawn_by_weight() -> None:
    mixer = Mixer(1.0, seed=0)
    weights = torch.tensor([0.0, 3.0, 1.0]).repeat(1)
    drawn = torch.cat([mixer.draw(weights)[1] for _ in range(2000)])
    counts = torch.bincount(drawn, minlength=3) / len(drawn)
    assert counts.tolist() == pytest.approx([0.0, 0.75, 0.25], abs=0.02)


def test_shares_are_drawn_from_beta() -> None:
    """Beta(α, α) has mean ½ and variance 1 / (4 (2 α + 1))."""
    mixer = Mixer(2.0, seed=0)
    drawn = torch.cat([mixer.draw(torch.ones(50))[0] for _ in range(200)])
    assert drawn.mean().item() == pytest.approx(0.5, abs=0.01)
    assert drawn.var().item() == pytest.approx(1 / 20, abs=0.003)


def test_whom_the_mentor_trusts_is_the_larger_part() -> None:
    found = leaning_share(torch.tensor([0.2, 0.2, 0.2]), torch.tensor([1.0, 0.0, 0.5]))
    assert found.tolist() == pytest.approx([0.8, 0.2, 0.5])


def test_bootstrap_targets() -> None:
    belief = torch.tensor([[0.2, 0.8], [0.6, 0.4]])
    target = trusted_target(torch.tensor([0, 1]), torch.tensor([1.0, 0.0]), belief)
    assert target.tolist() == [[1.0, 0.0], pytest.approx([0.6, 0.4])]


def test_bootstrap_trusts_all_labels_in_burn_in() -> None:
    seen, student = batch(), Fixed()
    method = make_method("mentor-bootstrap", mentor="pd", burn_in=0.5, belief=0.0)
    work = AtWork(method, Task(6, 3, 4))
    plain = nn.functional.cross_entropy(seen.inputs.flatten(1), seen.given_label)
    for _ in range(2):
        done = work.step(student, seen)
        assert torch.allclose(done.loss, plain, atol=1e-6)
    done = work.step(student, seen)
    assert work.weights is not None
    p = seen.inputs.flatten(1).softmax(1)
    target = trusted_target(seen.given_label, work.weights, p)
    assert torch.allclose(done.loss, -(target * p.log()).sum(1).mean(), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("gce", {"q": 0.0}, r"q must be in \(0, 1\], got 0"),
        ("sce", {"log_zero": 1.0}, "log_zero must be < 0, got 1"),
        ("sce", {"alpha": -1.0}, "alpha must be ≥ 0 and finite, got -1"),
        ("elr", {"decay": 1.0}, r"decay must be in \[0, 1\), got 1"),
        ("co-teaching", {"forget": 1.0}, r"forget must be in \[0, 1\), got 1"),
        ("mentormix", {"alpha": 0.0}, "alpha must be > 0, got 0"),
        ("mentor-bootstrap", {"belief": 1.0}, r"belief must be in \[0, 1\), got 1"),
    ],
)
def test_bad_settings(name: str, settings: dict[str, float], match: str) -> None:
    with pytest.raises(MentorNetError, match=match):
        make_method(name, **settings)
