"""The drop-in: parity with the plain loss, with the engine, with itself after a restart."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from mentornet import Mentor, MentorFeatures, MentorLoss, make_curriculum, make_mentor
from mentornet.randomness import generator
from mentornet.weighting import LossLevel, Weighting, WeightingConfig
from tests.processes import start
from tests.weighting.parts import evidence

TWICE = (0.21, 0.75)
"""When mentors are learned in these tests: as often as in the paper, because it takes time."""


def batch(size: int = 64, classes: int = 10, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = generator(seed)
    logits = torch.randn(size, classes, generator=draw) * 3
    return logits.requires_grad_(), torch.randint(classes, (size,), generator=draw)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1, 7, 100, 128, 512, 1000])
def test_weights_of_1_are_cross_entropy_bit_for_bit(size: int, dtype: torch.dtype) -> None:
    criterion = MentorLoss("uniform", total_steps=100, burn_in=0.0)
    for seed in range(3):
        logits, labels = batch(size, seed=seed)
        logits = logits.detach().to(dtype).requires_grad_()
        ours, plain = criterion(logits, labels), F.cross_entropy(logits, labels)
        assert torch.equal(ours, plain)
        (gradient,) = torch.autograd.grad(ours, logits)
        (expected,) = torch.autograd.grad(plain, logits)
        assert torch.equal(gradient, expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("places", [(), (3, 4)])
def test_options_of_cross_entropy_mean_the_same(
    weighted: bool, smoothing: float, places: tuple[int, ...]
) -> None:
    draw = generator(3)
    logits = torch.randn(20, 5, *places, generator=draw, requires_grad=True)
    labels = torch.randint(5, (20, *places), generator=draw)
    weight = torch.rand(5, generator=draw) + 0.5 if weighted else None
    criterion = MentorLoss(
        "uniform", total_steps=9, burn_in=0.0, label_smoothing=smoothing, class_weight=weight
    )
    plain = F.cross_entropy(logits, labels, weight, label_smoothing=smoothing)
    torch.testing.assert_close(criterion(logits, labels), plain, rtol=1e-6, atol=0)
    assert torch.equal(criterion.eval()(logits, labels), plain)


def test_it_is_the_mean_of_v_times_the_loss() -> None:
    criterion = MentorLoss("pd", total_steps=10, burn_in=0.0)
    mentor, level = Mentor.from_pretrained("pd"), LossLevel()
    for step in range(4):
        logits, labels = batch(seed=step)
        losses = F.cross_entropy(logits.detach(), labels, reduction="none")
        z = MentorFeatures.from_loss(
            losses, loss_level=level.update(losses), progress=10 * step, label=0
        )
        expected = mentor.weigh(z)
        loss = criterion(logits, labels)
        torch.testing.assert_close(criterion.weights, expected)
        torch.testing.assert_close(loss, (expected * losses).mean())
        (gradient,) = torch.autograd.grad(loss, logits)
        plain = torch.softmax(logits.detach(), 1) - F.one_hot(labels, 10)
        torch.testing.assert_close(gradient, expected[:, None] * plain / len(labels))


def test_the_three_forms_agree() -> None:
    by_logits, by_losses, by_weights = (MentorLoss("pd", 10, 0.0) for _ in range(3))
    for step in range(3):
        logits, labels = batch(seed=step)
        losses = F.cross_entropy(logits, labels, reduction="none")
        loss = by_logits(logits, labels)
        torch.testing.assert_close(by_losses(losses=losses, labels=labels), loss)
        torch.testing.assert_close((by_weights.weigh(losses, labels) * losses).mean(), loss)
    assert by_losses(losses=losses).requires_grad
    assert not by_weights.weigh(losses).requires_grad


def test_it_takes_the_trainers_step() -> None:
    engine = Weighting(
        Mentor.from_pretrained("pd"), total_steps=20, config=WeightingConfig(burn_in=0.2), seed=4
    )
    criterion = MentorLoss("pd", total_steps=20, samples=64, seed=4)
    index = torch.arange(64)
    for step in range(20):
        logits, labels = batch(seed=step)
        losses = F.cross_entropy(logits, labels, reduction="none")
        criterion(logits, labels, index=index)
        expected = engine.weigh(evidence(losses.detach(), labels, index))
        torch.testing.assert_close(criterion.weights, expected)


def test_in_eval_it_is_the_plain_loss_and_nothing_moves() -> None:
    criterion = MentorLoss(total_steps=10)
    logits, labels = batch()
    criterion(logits, labels)
    before = {name: value.clone() for name, value in criterion.state_dict().items()}
    criterion.eval()
    assert torch.equal(criterion(logits, labels), F.cross_entropy(logits, labels))
    losses = torch.rand(8, 3, generator=generator(0))
    torch.testing.assert_close(criterion(losses=losses), losses.mean())
    after = criterion.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_shapes_of_losses_are_averaged_to_one_a_sample() -> None:
    losses = torch.rand(6, 4, 5, generator=generator(0), requires_grad=True)
    criterion = MentorLoss("uniform", 10, 0.0)
    assert torch.equal(criterion(losses=losses), losses.flatten(1).mean(1).mean())
    assert criterion.weights.shape == (6,)


def test_places_without_a_label_do_not_count() -> None:
    draw = generator(0)
    logits = torch.randn(4, 3, 2, 2, generator=draw)
    labels = torch.randint(3, (4, 2, 2), generator=draw)
    labels[0, 0, 0] = -100
    criterion = MentorLoss("uniform", 10, 0.0, samples=4)
    loss = criterion(logits, labels, index=torch.arange(4))
    torch.testing.assert_close(loss, F.cross_entropy(logits, labels))
    assert criterion.records is not None
    each = F.cross_entropy(logits, labels, reduction="none")
    assert criterion.records.loss[0].item() == pytest.approx(each[0].sum().item() / 3)


def test_it_follows_to_another_dtype_and_keeps_its_mentor_with_it() -> None:
    criterion = MentorLoss("pd", 10, 0.0).double()
    logits, labels = batch()
    loss = criterion(logits.double(), labels)
    assert loss.dtype == torch.float64
    assert isinstance(criterion.engine.rule, Mentor)
    assert next(criterion.engine.rule.parameters()).dtype == torch.float64


def test_half_precision_logits_are_evaluated_in_float32() -> None:
    criterion, precise = MentorLoss("pd", 10, 0.0), MentorLoss("pd", 10, 0.0)
    logits, labels = batch()
    half = logits.detach().bfloat16().requires_grad_()
    loss = criterion(half, labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, precise(half.float(), labels))
    loss.backward()
    assert half.grad is not None
    assert half.grad.dtype == torch.bfloat16


def test_autocast() -> None:
    with torch.random.fork_rng():
        student, criterion = nn.Linear(8, 3), MentorLoss(total_steps=10)
    with torch.autocast("cpu", torch.bfloat16):
        loss = criterion(student(torch.eye(8)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.isfinite()


def test_compiles_in_one_graph() -> None:
    with torch.random.fork_rng():
        student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
    for mentor in ("auto", "pd"):
        torch.compiler.reset()
        eager = MentorLoss(mentor, total_steps=20, samples=32, by_class=4)
        fused = MentorLoss(mentor, total_steps=20, samples=32, by_class=4)

        def step(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return fused(student(x), y, index=i)  # noqa: B023

        compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
        for k in range(6):
            x = torch.randn(32, 6, generator=generator(k))
            y = torch.randint(4, (32,), generator=generator(k, 1))
            ours = compiled(x, y, torch.arange(32))
            theirs = eager(student(x), y, index=torch.arange(32))
            torch.testing.assert_close(ours, theirs)
            torch.testing.assert_close(fused.weights, eager.weights)
        torch.testing.assert_close(dict(fused.state_dict()), dict(eager.state_dict()))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs g++: apt install g++")
def test_inductor_compiles_it_for_any_batch_size() -> None:
    """Records, draws and levels in C++: same losses, gradients and state as without."""
    torch.compiler.reset()
    with torch.random.fork_rng():
        student = nn.Linear(6, 4)
    eager, fused = (MentorLoss(total_steps=20, burn_in=0.5, samples=64) for _ in range(2))

    @torch.compile(fullgraph=True, dynamic=True)
    def step(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return fused(student(x), y, index=i)

    for k, size in enumerate((32, 48, 17, 32)):
        x = torch.randn(size, 6, generator=generator(k))
        y = torch.randint(4, (size,), generator=generator(k, 1))
        i = torch.randperm(64, generator=generator(k, 2))[:size]
        gradients = []
        for loss in (step(x, y, i), eager(student(x), y, index=i)):
            loss.backward()
            assert student.weight.grad is not None
            gradients.append((loss.detach(), student.weight.grad.clone()))
            student.zero_grad()
        torch.testing.assert_close(*gradients)
    torch.testing.assert_close(dict(fused.state_dict()), dict(eager.state_dict()), equal_nan=True)


def make(kind: str) -> MentorLoss:
    if kind == "explicit":
        return MentorLoss(make_curriculum("pd"), 30, samples=64, explicit=True)
    if kind == "history":
        return MentorLoss(make_mentor("bilstm", history=3), 30, samples=64)
    if kind == "by class":
        return MentorLoss("auto", 30, samples=64, by_class=10)
    criterion = MentorLoss("auto", 30, samples=64, updates=TWICE)
    if kind == "verified":
        criterion.learn_from(torch.arange(40), torch.arange(40) % 3 > 0)
    return criterion


KINDS = ("auto", "explicit", "history", "by class", "verified")


def steps(criterion: MentorLoss, first: int, last: int) -> list[torch.Tensor]:
    found = []
    for step in range(first, last):
        logits, labels = batch(seed=step)
        index = torch.randperm(64, generator=generator(step, 5))
        loss = criterion(logits, labels, index=index)
        found += [loss.detach(), criterion.weights]
    return found


def go_on(state: dict[str, object]) -> dict[str, list[torch.Tensor]]:
    found = {}
    for kind in KINDS:
        criterion = make(kind)
        criterion.load_state_dict(state[kind])  # type: ignore[arg-type]
        found[kind] = steps(criterion, 12, 30)
    return found


def restored(state: Path, out: Path) -> None:
    torch.save(go_on(torch.load(state, weights_only=True)), out)


def test_restored_in_a_fresh_process_the_rest_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    state, expected = {}, {}
    for kind in KINDS:
        criterion = make(kind)
        steps(criterion, 0, 12)
        state[kind] = {
            name: value.clone() if isinstance(value, torch.Tensor) else value
            for name, value in criterion.state_dict().items()
        }
        torch.save(state, tmp_path / "state")  # at once: what is a reference would move on
        expected[kind] = steps(criterion, 12, 30)
    code, told = start(restored, tmp_path / "state", tmp_path / "rest", log=tmp_path / "log").end()
    assert code == 0, told
    rest = torch.load(tmp_path / "rest", weights_only=True)
    for kind in KINDS:
        assert all(torch.equal(a, b) for a, b in zip(rest[kind], expected[kind], strict=True)), kind


def test_the_state_without_a_lesson_is_tensors_only() -> None:
    criterion = MentorLoss(total_steps=10, samples=64)
    assert all(isinstance(value, torch.Tensor) for value in criterion.state_dict().values())


def test_verified_samples_teach_a_mentor() -> None:
    """Here small losses are the wrong ones, which no rule on the loss alone would guess."""
    is_correct = torch.rand(400, generator=generator(1)) < 0.5
    criterion = MentorLoss("pd", 100, 0.0, samples=400, updates=TWICE)
    index, others = torch.arange(400), torch.arange(400) >= 200
    criterion.learn_from(index[:200], is_correct[:200])
    losses = torch.where(is_correct, 3.0, 0.5) + torch.rand(400, generator=generator(2)) / 10
    before = [criterion.weigh(losses, index=index) for _ in range(21)]
    for weights in before:  # what is known is taught from the first step on
        assert torch.equal(weights[:200], is_correct[:200].float())
    assert before[-1][others & is_correct].mean() < before[-1][others & ~is_correct].mean()
    after = criterion.weigh(losses, index=index)
    assert after[others & is_correct].mean() > 0.9
    assert after[others & ~is_correct].mean() < 0.1
    (note,) = criterion.notes
    assert "the learned one is used" in note


def test_verified_late_they_are_learned_from_as_soon_as_they_were_seen() -> None:
    criterion = MentorLoss("pd", 100, 0.0, samples=200, updates=TWICE)
    index, is_correct = torch.arange(200), torch.arange(200) % 2 == 0
    losses = torch.where(is_correct, 3.0, 0.5) + torch.rand(200, generator=generator(2)) / 10
    for _ in range(50):
        criterion.weigh(losses, index=index)
    criterion.learn_from(index.tolist(), is_correct.tolist())
    for _ in range(2):
        criterion.weigh(losses, index=index)
    assert len(criterion.notes) == 1
    for _ in range(48):
        criterion.weigh(losses, index=index)
    assert [note.split(":")[0] for note in criterion.notes] == ["at 51 %", "at 75 %"]


@pytest.mark.parametrize("mentor", ["auto", "pd"])
def test_verified_late_what_was_seen_before_is_not_forgotten(mentor: str) -> None:
    """Three in ten labels are wrong, and the estimate of that goes on where it was."""
    criterion, other = (MentorLoss(mentor, 100, samples=200) for _ in "ab")
    truth = torch.arange(200) % 4
    is_correct = torch.arange(200) % 10 > 2
    given = torch.where(is_correct, truth, (truth + 1) % 4)
    logits = (6.0 * F.one_hot(truth, 4)).requires_grad_()
    for _ in range(40):
        for one in (criterion, other):
            one(logits, given, index=torch.arange(200))
    before = criterion.noise_estimate()
    assert before.rate == pytest.approx(0.3, abs=0.03)
    criterion.learn_from(torch.arange(50), is_correct[:50])
    assert criterion.noise_estimate() == before
    assert torch.equal(criterion.noise.average, other.noise.average)
    assert torch.equal(criterion.engine.level.value, other.engine.level.value)
    assert criterion.engine.step == 40


def test_from_right_labels_alone_wrong_ones_are_simulated() -> None:
    """40 % wrong labels, whose logits favour another class; 100 right ones are known."""
    draw = generator(0)
    truth = torch.randint(5, (400,), generator=draw)
    is_wrong = torch.rand(400, generator=draw) < 0.4
    given = torch.where(is_wrong, (truth + 1 + torch.randint(4, (400,), generator=draw)) % 5, truth)
    clean = (~is_wrong).nonzero()[:100, 0]
    criterion = MentorLoss("auto", 50, 0.0, samples=400, clean_index=clean, updates=TWICE)
    for step in range(50):
        noise = torch.randn(400, 5, generator=generator(step))
        criterion(5 * F.one_hot(truth, 5) + noise, given, index=torch.arange(400))
    assert len(criterion.notes) == 2
    assert criterion.weights[~is_wrong].mean() > 0.9
    assert criterion.weights[is_wrong].mean() < 0.1


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.4, 0.6])
@pytest.mark.parametrize("form", ["logits", "losses"])
def test_the_noise_rate_comes_out(rate: float, form: str) -> None:
    """A student that is mostly right, and sure of itself to varying degrees."""
    criterion = MentorLoss(total_steps=200)
    for step in range(200):
        draw = generator(step)
        truth = torch.randint(10, (128,), generator=draw)
        wrong = torch.rand(128, generator=draw) < rate
        given = torch.where(
            wrong, (truth + torch.randint(1, 10, (128,), generator=draw)) % 10, truth
        )
        sure = 4 + 4 * torch.rand(128, 1, generator=draw)
        logits = sure * F.one_hot(truth, 10) + torch.randn(128, 10, generator=draw)
        if form == "logits":
            criterion(logits, given)
        else:
            criterion(losses=F.cross_entropy(logits, given, reduction="none"))
    estimate = criterion.noise_estimate()
    assert estimate.rate == pytest.approx(rate, abs=0.05)
    assert 0 <= estimate.low <= estimate.rate <= estimate.high <= 1
    assert ("outliers" in estimate.assumes) == (form == "losses")
    assert f"{estimate.rate:.0%} of the labels" in str(estimate)
    if rate >= 0.1:
        assert criterion.weights.mean() == pytest.approx(1 - rate, abs=0.15)
    else:
        assert criterion.weights.mean() > 0.95


def test_right_labels_that_nobody_can_learn_are_not_taken_for_wrong() -> None:
    """The student guesses at a third of the samples, a new class each time, and is sure of it."""
    count, rate, draw = 1024, 0.5, generator(0)
    truth = torch.randint(10, (count,), generator=draw)
    wrong, hard = (torch.rand(count, generator=draw) < share for share in (rate, 1 / 3))
    given = torch.where(wrong, (truth + torch.randint(1, 10, (count,), generator=draw)) % 10, truth)
    followed = MentorLoss(total_steps=160, samples=count)
    for _ in range(20):
        guess = torch.randint(10, (count,), generator=draw)
        believed = F.one_hot(torch.where(hard, guess, truth), 10)
        logits = 6 * believed + torch.randn(count, 10, generator=draw)
        for index in torch.arange(count).split(128):
            followed(logits[index], given[index], index=index)
    estimate = followed.noise_estimate()
    assert estimate.rate == pytest.approx(wrong.float().mean().item(), abs=0.05)
    assert "steady predictions" in estimate.assumes
    assert followed.noise.estimate().rate > rate + 0.08  # as without following each
    assert followed.audit().wrong.count == pytest.approx(wrong.sum().item(), rel=0.1)


def test_one_look_at_each_sample_is_no_steady_opinion() -> None:
    criterion = MentorLoss(total_steps=10, samples=64)
    logits = torch.randn(64, 4, generator=generator(0))
    criterion(logits, torch.zeros(64, dtype=torch.long), index=torch.arange(64))
    assert criterion.noise_estimate() == criterion.noise.estimate()


def test_rare_classes_are_not_starved() -> None:
    """One class in fifty is hard, with losses around 3; the others are around 0.5."""

    def kept(by_class: int | None) -> float:
        criterion = MentorLoss("pd", 200, 0.0, by_class=by_class, percentile=0.75)
        rare = []
        for step in range(200):
            draw = generator(step)
            labels = (torch.rand(128, generator=draw) < 0.02).long()
            losses = 0.5 + 2.5 * labels + torch.rand(128, generator=draw)
            weights = criterion.weigh(losses, labels)
            rare += weights[labels == 1].tolist() if step > 100 else []
        return sum(rare) / len(rare)

    assert kept(None) < 0.05
    assert kept(2) > 0.4


def test_auto_does_not_starve_a_class_that_is_learned_late() -> None:
    """Class 3 is not learned when labels are first left out, and its losses rise from there."""
    criterion = MentorLoss(total_steps=400, burn_in=0.1)
    kept = []
    for step in range(400):
        draw = generator(step)
        truth, given = torch.randint(10, (2, 64), generator=draw)
        given = torch.where(torch.rand(64, generator=draw) < 0.4, given, truth)
        logits = torch.randn(64, 10, generator=draw) + 6 * F.one_hot(truth, 10)
        logits[:, 3] -= 6 + step / 40
        criterion(logits.requires_grad_(), given)
        kept += criterion.weights[given == 3].tolist() if step > 200 else []
    assert sum(kept) / len(kept) > 0.2
    assert criterion.weights.mean() == pytest.approx(0.6, abs=0.15)


def test_auto_is_the_paper_s_percentile_where_classes_are_alike() -> None:
    fair = MentorLoss(total_steps=100, burn_in=0.1)
    plain = MentorLoss(total_steps=100, burn_in=0.1)
    plain.engine.level = LossLevel()
    for step in range(100):
        draw = generator(step)
        truth, given = torch.randint(4, (2, 256), generator=draw)
        given = torch.where(torch.rand(256, generator=draw) < 0.4, given, truth)
        logits = (torch.randn(256, 4, generator=draw) + 6 * F.one_hot(truth, 4)).requires_grad_()
        assert torch.equal(fair(logits, given), plain(logits, given))
    assert fair.weights.mean() < 0.8


def test_metrics_for_the_log() -> None:
    criterion = MentorLoss(total_steps=10)
    assert criterion.metrics()["mean_weight"] == 1.0
    logits, labels = batch()
    criterion(logits, labels)
    metrics = criterion.metrics()
    assert metrics["progress"] == 10.0
    assert metrics["mean_weight"] == pytest.approx(criterion.weights.mean().item())
    assert set(metrics) == {
        "mean_weight", "data_used", "loss_level", "noise_rate", "progress", "bad_samples",
    }  # fmt: skip


def test_records_of_every_sample() -> None:
    criterion = MentorLoss("pd", 10, 0.0, samples=64)
    logits, labels = batch()
    criterion(logits, labels, index=torch.arange(64))
    records = criterion.records
    assert records is not None
    assert torch.equal(records.weight, criterion.weights)
    assert torch.equal(records.predicted_label, logits.argmax(1).int())


def test_a_validation_loss_without_gradient_is_no_step() -> None:
    """`model.eval()` does not reach a criterion that stands beside the model."""
    criterion = MentorLoss(total_steps=10)
    logits, labels = batch()
    with torch.no_grad():
        assert torch.equal(criterion(logits, labels), F.cross_entropy(logits, labels))
    assert criterion.engine.step == 0
    losses = torch.rand(8, generator=generator(0))
    assert criterion.eval().weigh(losses).tolist() == [1.0] * 8
    assert criterion.engine.step == 0


@pytest.mark.parametrize("scale", [0.01, 1.0, 1000.0])
def test_own_losses_of_any_scale(scale: float) -> None:
    criterion = MentorLoss(total_steps=200)
    for step in range(200):
        draw = generator(step)
        wrong = torch.rand(128, generator=draw) < 0.4
        progress = min(1.0, step / 20)  # all alike at first
        losses = 2 + progress * torch.where(wrong, 3.0, -1.9) + torch.rand(128, generator=draw) / 10
        weights = criterion.weigh(scale * losses)
    assert criterion.noise_estimate().rate == pytest.approx(0.4, abs=0.05)
    assert weights[wrong].max() < 0.1
    assert weights[~wrong].min() > 0.9


def test_an_estimate_before_the_first_step_claims_nothing() -> None:
    estimate = MentorLoss(total_steps=10).noise_estimate()
    assert (estimate.low, estimate.high) == (0.0, 1.0)


def test_without_burn_in_auto_leaves_nothing_out_in_the_first_tenth() -> None:
    criterion = MentorLoss(total_steps=100, burn_in=0.0)
    for step in range(10):
        logits, labels = batch(seed=step)
        criterion(logits, labels)
        assert criterion.weights.tolist() == [1.0] * 64


def test_verified_again_and_restored() -> None:
    def made() -> MentorLoss:
        criterion = MentorLoss("pd", 40, 0.0, samples=64, updates=TWICE)
        criterion.learn_from(torch.arange(40), torch.arange(40) % 2 == 0)
        return criterion

    whole = made()
    steps(whole, 0, 15)
    assert len(whole.notes) == 1
    whole.learn_from(torch.arange(20, 60), torch.arange(40) % 3 > 0)
    steps(whole, 15, 20)
    restored = made()
    restored.learn_from(torch.arange(20, 60), torch.arange(40) % 3 > 0)
    restored.load_state_dict(whole.state_dict())
    assert restored.notes == whole.notes
    for ours, theirs in zip(steps(restored, 20, 40), steps(whole, 20, 40), strict=True):
        assert torch.equal(ours, theirs)


def test_verified_labels_that_are_all_right_do_not_turn_the_mentor_off() -> None:
    criterion = MentorLoss("auto", 50, samples=64)
    criterion.learn_from(torch.arange(30), torch.ones(30).bool())
    assert criterion.engine.learning is not None
    assert criterion.engine.learning.lessons.simulates_wrong


def test_a_mentor_that_looks_back_can_be_learned_again() -> None:
    criterion = MentorLoss(make_mentor("bilstm", history=3), 40, 0.0, samples=64, updates=TWICE)
    criterion.learn_from(torch.arange(40), torch.arange(40) % 2 == 0)
    steps(criterion, 0, 40)
    assert len(criterion.notes) == 2


def test_the_mentor_that_was_lent_stays_as_it_is() -> None:
    mentor = Mentor.from_pretrained("pd")
    MentorLoss(mentor, 10).double()
    assert next(mentor.parameters()).dtype == torch.float32


def test_half_precision_stops_at_the_door() -> None:
    criterion = MentorLoss("pd", 10, 0.0).to(torch.bfloat16)
    logits, labels = batch()
    assert criterion(logits.bfloat16(), labels).isfinite()
    assert criterion.engine.level.value.dtype == torch.float32


@pytest.mark.parametrize("weighted", [False, True])
def test_smoothing_passes_over_places_without_a_label(weighted: bool) -> None:
    draw = generator(0)
    logits = torch.randn(4, 3, 5, generator=draw)
    labels = torch.randint(3, (4, 5), generator=draw)
    labels[1, 2:] = -100
    weight = torch.tensor([0.5, 1.0, 2.0]) if weighted else None
    criterion = MentorLoss("uniform", 10, 0.0, label_smoothing=0.1, class_weight=weight)
    plain = F.cross_entropy(logits, labels, weight, label_smoothing=0.1)
    torch.testing.assert_close(criterion(logits.requires_grad_(), labels), plain)
