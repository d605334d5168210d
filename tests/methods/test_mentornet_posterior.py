"""MentorNet posterior: its objective and its weights, each derived again."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorNetError
from mentornet.data import Batch
from mentornet.methods import Task, make_method
from mentornet.verdicts import Verdicts
from mentornet.weighting import label_posterior
from tests.methods.steps import AtWork

COUNT, CLASSES, STRENGTH = 60, 3, 2.0


class Fixed(nn.Module):
    """A student whose logits are its inputs, and that has a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs * self.scale


def everything() -> Batch:
    """Sure predictions; one label in five contradicts them."""
    draw = torch.Generator().manual_seed(0)
    true = torch.arange(COUNT) % CLASSES
    logits = 3 * nn.functional.one_hot(true, CLASSES) + torch.randn(COUNT, CLASSES, generator=draw)
    given = torch.where(torch.arange(COUNT) % 5 == 4, (true + 1) % CLASSES, true)
    return Batch(torch.arange(COUNT), logits, given)


def at_work(verdicts: Verdicts | None = None, **settings: float) -> AtWork:
    method = make_method("mentornet-posterior", strength=STRENGTH, belief=0.5, **settings)
    return AtWork(method, Task(COUNT, CLASSES, 10, verdicts=verdicts))


def test_the_objective_and_the_weights_by_hand() -> None:
    batch, work = everything(), at_work(burn_in=0.2)
    p, target = batch.inputs.softmax(1), torch.zeros(COUNT, CLASSES)
    cross_entropy = -p.gather(1, batch.given_label[:, None])[:, 0].log()
    for epoch in range(4):
        work.supervision.begin_epoch(epoch)
        weights = torch.ones(COUNT)
        if epoch >= 2:  # two steps of ten are burn-in
            weights = label_posterior(p, batch.given_label).right.float()
        target = 0.5 * target + 0.5 * p
        expected = weights * cross_entropy + STRENGTH * torch.log(1 - (p * target).sum(1))
        done = work.step(Fixed(), batch)
        assert done.trust is not None
        assert torch.allclose(done.trust, weights, atol=2e-3)
        assert done.loss.item() == pytest.approx(expected.mean().item(), abs=2e-3)
        assert torch.allclose(done.evidence.losses, cross_entropy, atol=1e-5)
    contradicted = torch.arange(COUNT) % 5 == 4
    assert weights[contradicted].max() < 0.5 < weights[~contradicted].min()
    rate = work.supervision.metrics()["noise_rate"]
    assert float(rate) == pytest.approx(0.2, abs=0.05)


def test_nothing_is_weighted_before_every_sample_was_seen() -> None:
    batch, work = everything(), at_work(burn_in=0.0)
    work.step(Fixed(), batch.rows(slice(0, COUNT // 2)))
    work.supervision.begin_epoch(1)
    done = work.step(Fixed(), batch)
    assert done.trust is not None
    assert (done.trust == 1).all()


def test_verdicts_decide_their_samples() -> None:
    batch = everything()
    right = batch.inputs.argmax(1)
    verdicts = Verdicts(
        torch.tensor([0, 4, 9]), torch.tensor([True, False, False]),
        torch.tensor([-1, int(right[4]), -1]),
    )  # fmt: skip
    work = at_work(verdicts, burn_in=0.0)
    for epoch in range(2):
        work.supervision.begin_epoch(epoch)
        done = work.step(Fixed(), batch)
    assert done.trust is not None
    assert done.trust[[0, 4, 9]].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"strength": -1.0}, "strength must be ≥ 0 and finite, got -1"),
        ({"belief": 1.0}, r"belief must be in \[0, 1\), got 1"),
        ({"burn_in": 1.5}, r"burn_in must be in \[0, 1\], got 1.5"),
    ],
)
def test_bad_settings(settings: dict[str, float], match: str) -> None:
    with pytest.raises(MentorNetError, match=match):
        make_method("mentornet-posterior", **settings)
