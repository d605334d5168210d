"""MentorNet early: its objective and its weights, each derived again."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorNetError
from mentornet.data import Batch
from mentornet.mentors.universal import universal_mentor
from mentornet.methods import Task, make_method
from mentornet.verdicts import Verdicts
from mentornet.weighting import EarlyConfig, EarlyJudge, Evidence, anchored_posterior
from mentornet.weighting.calibration import evidence_for, share_of_wrong
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


def as_rated(right: Tensor, rate: float) -> Tensor:
    """Return σ(w log(r / (1 − r)) + m), with m by search on a grid, ever finer."""
    (weight,) = universal_mentor().weights.values()
    sureness = weight * torch.log(right / (1 - right))
    best, width = 0.0, 10.0
    for _ in range(12):
        tried = best + width * torch.linspace(-1, 1, 41).double()
        off = (1 - torch.sigmoid(sureness + tried[:, None])).mean(1) - rate
        best, width = float(tried[off.abs().argmin()]), width / 10
    return torch.sigmoid(sureness + best)


def test_the_objective_and_the_weights_by_hand() -> None:
    """Every epoch is one of ten steps; after two of them, a rises to 1 in four more."""
    batch, work = everything(), at_work(burn_in=0.2, rise=0.4)
    p, belief, given = batch.inputs.softmax(1), torch.zeros(COUNT, CLASSES), batch.given_label
    own = -p.gather(1, given[:, None])[:, 0].log()
    found = anchored_posterior(p, given)
    right = as_rated(found.right, float(found.noise_rate))
    true = found.true * ((1 - right) / (1 - found.right))[:, None]
    true[torch.arange(COUNT), given] = right
    right, true = right.float(), true.float()
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


def shown(judge: EarlyJudge, wrong: float, progress: float) -> float:
    """Show the judge a student that contradicts that share of the labels; return what it finds."""
    draw, index = torch.Generator().manual_seed(0), torch.arange(COUNT)
    label = index % CLASSES
    doubted = torch.rand(COUNT, generator=draw) < wrong
    believed = (label + doubted * torch.randint(1, CLASSES, (COUNT,), generator=draw)) % CLASSES
    logits = 4 * nn.functional.one_hot(believed, CLASSES)
    p = (logits + torch.randn(COUNT, CLASSES, generator=draw)).softmax(1)
    for _ in range(40):  # the memory forgets what it saw before
        judge.see(Evidence(torch.zeros(COUNT), label, believed, index, probabilities=p))
    judge.judge(progress)
    return float(anchored_posterior(judge.seen / judge.seen.sum(1, keepdim=True), label).noise_rate)


def test_the_estimate_is_the_mean_of_a_time_and_then_stays() -> None:
    judge = EarlyJudge(COUNT, CLASSES, EarlyConfig(burn_in=0.1, rise=0.1))
    early = shown(judge, 0.5, 0.15)
    assert float(judge.rate) == pytest.approx(early)
    found = [shown(judge, 0.4, 0.2), shown(judge, 0.3, 0.3)]
    assert float(judge.rate) == pytest.approx(sum(found) / 2)
    memorised = shown(judge, 0.1, 0.9)
    assert memorised < min(found) - 0.05
    assert float(judge.rate) == pytest.approx(sum(found) / 2)
    assert 1 - judge.right.mean().item() == pytest.approx(sum(found) / 2, abs=1e-5)


def test_a_short_training_is_judged_by_its_first_look_after_burn_in() -> None:
    """Two epochs: nothing falls in the time that the estimate is the mean of."""
    judge = EarlyJudge(COUNT, CLASSES)
    judge.judge(0.0)
    assert judge.rate.isnan()
    found = shown(judge, 0.3, 0.5)
    assert float(judge.rate) == pytest.approx(found)
    assert shown(judge, 0.1, 0.75) < found - 0.1
    assert float(judge.rate) == pytest.approx(found)


def verdicts_on(batch: Batch, rows: Tensor) -> Verdicts:
    """Verdicts on what `everything` has made wrong; the first wrong label is to be dropped."""
    true = torch.arange(COUNT) % CLASSES
    right = batch.given_label[rows] == true[rows]
    label = true[rows].clone()
    label[(~right).nonzero()[0]] = -1
    return Verdicts(rows, right, label)


def test_verdicts_are_taught_once_they_were_compared() -> None:
    batch = everything()
    said = verdicts_on(batch, torch.arange(12))
    method = make_method("mentornet-early", belief=0.5, burn_in=0.2, rise=0.0)
    work = AtWork(method, Task(COUNT, CLASSES, 10, verdicts=said))
    for epoch in range(2):
        work.supervision.begin_epoch(epoch)
        work.step(Fixed(), batch)
        assert work.supervision.known is None
    work.supervision.begin_epoch(2)
    done = work.step(Fixed(), batch)
    known = work.supervision.known
    assert known is not None
    assert done.trust is not None
    assert torch.equal(done.trust[said.index], said.is_correct.float())
    wrong, dropped = said.index[~said.is_correct], said.index[said.true_label < 0]
    assert len(dropped) == 1
    weights = work.supervision.weights(done.evidence, 0.1)
    assert weights is not None
    assert weights[dropped] == 0
    relabelled = wrong[~torch.isin(wrong, dropped)]
    assert (weights[relabelled] == 1).all()
    assert torch.equal(
        known.correct(batch.given_label, batch.index)[relabelled], relabelled % CLASSES
    )
    restored = AtWork(method, Task(COUNT, CLASSES, 10, verdicts=said)).supervision
    restored.load_state_dict(work.supervision.state_dict())
    assert restored.known is not None


@pytest.mark.parametrize("first", ["any", "worst"])
def test_verdicts_correct_an_estimate_that_memorising_made_too_low(first: str) -> None:
    """A third of the labels is wrong, and the student has memorised half of these."""
    draw, index = torch.Generator().manual_seed(1), torch.arange(1200)
    true = index % CLASSES
    wrong = torch.rand(1200, generator=draw) < 1 / 3
    given = (true + wrong * torch.randint(1, CLASSES, (1200,), generator=draw)) % CLASSES
    believed = torch.where(torch.rand(1200, generator=draw) < 0.5, true, given)
    logits = 2 * nn.functional.one_hot(believed, CLASSES) + torch.randn(
        1200, CLASSES, generator=draw
    )
    found = anchored_posterior(logits.softmax(1), given)
    assert float(found.noise_rate) < 0.24
    rows = torch.randperm(1200, generator=draw) if first == "any" else found.right.argsort()
    if first == "worst":  # people look at what looks wrong, and at some others
        rows = torch.cat([rows[:200], rows[200::5]])
    rows = rows[:400]
    sureness = universal_mentor()(evidence_for(found, logits.softmax(1)))
    share, spread = share_of_wrong(sureness, found.noise_rate, rows, ~wrong[rows])
    assert float(share) == pytest.approx(float(wrong.float().mean()), abs=0.05)
    assert 0.005 < float(spread) ** 0.5 < 0.06


def test_verdicts_show_which_classes_are_taken_for_which() -> None:
    """The student cannot tell classes 0 and 1, and all wrong labels are a 2 that was a 0."""
    draw, index = torch.Generator().manual_seed(2), torch.arange(900)
    true = index % CLASSES
    wrong = (true == 0) & (torch.rand(900, generator=draw) < 0.4)
    given = torch.where(wrong, 2, true)
    p = torch.tensor([[0.5, 0.45, 0.05], [0.45, 0.5, 0.05], [0.05, 0.05, 0.9]])[true]
    said = torch.where(index < 300, true, -1)
    rate = wrong.float().mean()
    after = anchored_posterior(p, given, said=said, rate=rate)
    before = anchored_posterior(p, given).transition[0]
    assert after.transition[0, 2] > 0.15
    assert after.transition[0, 2] > 4 * max(after.transition[0, 1], before[2])
    assert after.transition.sum(1).tolist() == pytest.approx([1.0] * CLASSES, abs=0.03)
