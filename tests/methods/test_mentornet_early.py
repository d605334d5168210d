"""MentorNet early: its objective and its weights, each derived again."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorNetError
from mentornet.data import Batch
from mentornet.methods import Task, make_method
from mentornet.weighting import EarlyConfig, EarlyJudge, Evidence, anchored_posterior
from tests.methods.steps import AtWork

COUNT, CLASSES, STRENGTH = 60, 3, 2.0


class Fixed(nn.Module):
    """A student whose logits are its inputs, and that has a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs * self.scale


def everything(every: int = 5) -> Batch:
    """Sure predictions; one label in `every` contradicts them."""
    draw = torch.Generator().manual_seed(0)
    true = torch.arange(COUNT) % CLASSES
    logits = 3 * nn.functional.one_hot(true, CLASSES) + torch.randn(COUNT, CLASSES, generator=draw)
    given = torch.where(torch.arange(COUNT) % every == every - 1, (true + 1) % CLASSES, true)
    return Batch(torch.arange(COUNT), logits, given)


def at_work(**settings: float) -> AtWork:
    settings = {"burn_in": 0.0, "rise": 0.0, **settings}
    method = make_method("mentornet-early", strength=STRENGTH, belief=0.5, **settings)
    return AtWork(method, Task(COUNT, CLASSES, 10))


def test_the_objective_and_the_weights_by_hand() -> None:
    """Every epoch is one of ten steps; after two of them, a rises to 1 in four more."""
    batch, work = everything(), at_work(burn_in=0.2, rise=0.4)
    p, belief, given = batch.inputs.softmax(1), torch.zeros(COUNT, CLASSES), batch.given_label
    own = -p.gather(1, given[:, None])[:, 0].log()
    true = anchored_posterior(p, given).true.float()
    right = true.gather(1, given[:, None])[:, 0]
    trusted = torch.stack([right[given == k].sum() for k in range(CLASSES)])
    members = true.sum(0) / trusted
    members = members * trusted.sum() / (members * trusted).sum()
    for epoch, share in enumerate((0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0)):
        work.supervision.begin_epoch(epoch)
        weights = 1 - share * (1 - right)
        balance = 1 - share + share * members
        belief = 0.5 * belief + 0.5 * p
        term = torch.log(1 - (p * belief).sum(1))
        expected = weights * (balance[given] * own + STRENGTH * term)
        done = work.step(Fixed(), batch)
        assert done.trust is not None
        assert torch.allclose(done.trust, weights, atol=2e-3)
        assert done.loss.item() == pytest.approx(expected.mean().item(), abs=2e-3)
    contradicted = torch.arange(COUNT) % 5 == 4
    assert right[contradicted].max() < 0.5 < right[~contradicted].min()
    rate = work.supervision.metrics()["noise_rate"]
    assert float(rate) == pytest.approx(0.2, abs=0.05)


def test_a_class_that_lost_its_labels_to_another_counts_as_much_as_before() -> None:
    judge = EarlyJudge(400, 2, EarlyConfig(burn_in=0, rise=0))
    true, index = torch.arange(400) % 2, torch.arange(400)
    lost = (true == 1) & (index % 8 < 4)  # half the samples of class 1 are labelled 0
    given = torch.where(lost, 0, true)
    p = torch.where(nn.functional.one_hot(true, 2) == 1, 0.9, 0.1)
    evidence = Evidence(torch.zeros(400), given, true, index, probabilities=p)
    judge.see(evidence)
    judge.judge(0.5)
    share = judge.balance[given] * judge.see(evidence)
    counts = [share[true == k].sum() / share.sum() for k in (0, 1)]
    assert counts[1] == pytest.approx(0.5, abs=0.06)
    assert (given == 1).float().mean() == 0.25


def test_the_second_term_is_dropped_where_most_labels_are_wrong() -> None:
    """All labels contradict the predictions, so only v c(y) ℓ is left."""
    batch, work = everything(every=1), at_work()
    work.step(Fixed(), batch)
    work.supervision.begin_epoch(1)
    done = work.step(Fixed(), batch)
    assert float(work.supervision.metrics()["noise_rate"]) > 0.65
    assert done.trust is not None
    losses = nn.functional.cross_entropy(batch.inputs, batch.given_label, reduction="none")
    assert done.loss.item() == pytest.approx((done.trust * losses).mean().item(), rel=0.1)


def test_samples_that_were_never_seen_keep_weight_one() -> None:
    batch, work = everything(), at_work()
    assert "noise_rate" not in work.supervision.metrics()
    work.step(Fixed(), batch.rows(slice(0, COUNT // 2)))
    work.supervision.begin_epoch(1)
    done = work.step(Fixed(), batch)
    assert done.trust is not None
    assert (done.trust[COUNT // 2 :] == 1).all()
    assert done.trust[: COUNT // 2].min() < 0.5


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"strength": -1.0}, "strength must be ≥ 0 and finite, got -1"),
        ({"belief": 1.0}, r"belief must be in \[0, 1\), got 1"),
        ({"forget": -0.1}, r"forget must be in \[0, 1\), got -0.1"),
        ({"burn_in": -0.5}, r"burn_in must be in \[0, 1\], got -0.5"),
        ({"rise": 1.5}, r"rise must be in \[0, 1\], got 1.5"),
    ],
)
def test_bad_settings(settings: dict[str, float], match: str) -> None:
    with pytest.raises(MentorNetError, match=match):
        make_method("mentornet-early", **settings)
