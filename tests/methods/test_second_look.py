"""A second look at rejected samples: which rows, which views, and what is learned."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorNetError
from mentornet.data import Batch
from mentornet.data.augmentation import COVER_DRAWS, covered
from mentornet.methods import Outputs, Seen, Task, make_method
from mentornet.methods.second_look import SecondLook
from mentornet.randomness import generator
from tests.methods.steps import AtWork

COUNT, CLASSES, SIDE = 80, 4, 8


class Bands(nn.Module):
    """A student that sees how bright each of four bands of an image is."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(3.0))

    def forward(self, images: Tensor) -> Tensor:
        bands = images.mean((1, 3)).view(len(images), CLASSES, -1)
        return self.scale * bands.mean(2)


def images() -> tuple[Tensor, Tensor]:
    """Images of mean 0 and variance 1 whose band number `true` is bright, and `true`."""
    draw, true = generator(1), torch.arange(COUNT) % CLASSES
    found = torch.randn(COUNT, 3, SIDE, SIDE, generator=draw)
    for image, label in zip(found, true.tolist(), strict=True):
        image[:, 2 * label : 2 * label + 2] += 3
    mean, deviation = (
        part.view(-1, 1, 1, 1) for part in (found.mean((1, 2, 3)), found.std((1, 2, 3)))
    )
    return (found - mean) / deviation, true


def seen(batch: Batch, student: nn.Module) -> Seen:
    outputs = Outputs(student(batch.inputs))
    losses = nn.functional.cross_entropy(outputs.logits, batch.given_label, reduction="none")
    return Seen(batch, outputs, batch.given_label, losses, None, student)


def test_the_loss_is_that_of_covered_views_by_hand() -> None:
    inputs, true = images()
    shown, student = [], Bands()

    def look(views: Tensor) -> Tensor:
        shown.append(views)
        return torch.as_tensor(student(views))

    weight = torch.zeros(COUNT)
    weight[[3, 10, 41]] = torch.tensor([0.5, 1.0, 0.25])
    order = torch.randperm(COUNT, generator=generator(2))
    batch = Batch(order, inputs[order], true[order])
    parts = seen(batch, student)
    parts = Seen(parts.batch, parts.outputs, parts.label, parts.losses, None, look)
    each = SecondLook(0).losses(parts, true, weight, share=3 / COUNT, step=5)
    assert len(shown[0]) == 16  # two in each eighth; 1.25 · 3/80 + 0.05 of the batch is 7.75
    for row, index in enumerate(order.tolist()):
        if not weight[index]:
            assert each[row] == 0
            continue
        views = [view for view in shown[0] if _is_view_of(view, inputs[index])]
        assert len(views) == 1
        log_p = (3.0 * views[0].mean((0, 2)).view(CLASSES, 2).mean(1)).log_softmax(0)
        assert each[row].item() == pytest.approx(-weight[index].item() * log_p[true[index]].item())
    each.sum().backward()
    assert student.scale.grad is not None


def _is_view_of(view: Tensor, image: Tensor) -> bool:
    """Where it is not covered, a channel of the view is a multiple of the image's, and more."""
    kept = view[0] != 0
    pair = torch.stack([view[0][kept], image[0][kept]])
    return bool(torch.corrcoef(pair)[0, 1] > 0.999)


def test_the_views_of_a_sample_depend_on_seed_step_and_sample_alone() -> None:
    inputs, true = images()
    weight, student = torch.ones(COUNT), Bands()

    def of(index: Tensor, seed: int = 0, step: int = 5) -> Tensor:
        batch = Batch(index, inputs[index], true[index])
        looked = SecondLook(seed).losses(seen(batch, student), true, weight, share=1.0, step=step)
        return torch.zeros(COUNT).index_add(0, index, looked.detach())

    some = torch.arange(20)
    assert torch.equal(of(some), of(some.flip(0)))
    assert torch.equal(of(some)[:10], of(torch.arange(10))[:10])
    assert not torch.equal(of(some), of(some, seed=1))
    assert not torch.equal(of(some), of(some, step=6))


@pytest.mark.parametrize("world", [2, 3])
def test_processes_look_at_what_one_would_look_at(world: int) -> None:
    inputs, true = images()
    weight, student = torch.rand(COUNT, generator=generator(4)), Bands()
    whole = Batch(torch.arange(COUNT), inputs, true)
    alone = SecondLook(0).losses(seen(whole, student), true, weight, share=0.3, step=2)
    each = []
    for index in torch.arange(COUNT).tensor_split(world):
        part = Batch(index, inputs[index], true[index], shared=whole)
        each.append(SecondLook(0).losses(seen(part, student), true, weight, share=0.3, step=2))
    assert torch.allclose(torch.cat(each), alone)


def test_a_process_without_such_rows_looks_all_the_same() -> None:
    """All processes must take as many forward passes, because they share batch norms."""
    inputs, true = images()
    weight = torch.zeros(COUNT)
    weight[:4] = 1.0
    whole = Batch(torch.arange(COUNT), inputs, true)
    part = Batch(torch.arange(40, 80), inputs[40:], true[40:], shared=whole)
    each = SecondLook(0).losses(seen(part, Bands()), true, weight, share=0.0, step=0)
    assert each.requires_grad
    assert not each.any()


def test_batch_norms_do_not_remember_covered_views() -> None:
    inputs, true = images()
    norm = nn.BatchNorm2d(3)
    student = nn.Sequential(norm, Bands())
    batch = Batch(torch.arange(COUNT), inputs, true)
    first = seen(batch, student)
    assert norm.running_mean is not None
    before = norm.running_mean.clone()
    assert before.any()
    looked = SecondLook(0).losses(first, true, torch.ones(COUNT), share=1.0, step=0)
    assert torch.equal(norm.running_mean, before)
    assert norm.momentum == 0.1
    (first.losses.sum() + looked.sum()).backward()


def test_a_square_is_covered_and_colours_change() -> None:
    inputs, _ = images()
    draws = torch.rand(COUNT, COVER_DRAWS, generator=generator(5))
    views = covered(inputs, draws)
    gone = (views == 0).all(1)
    sides = torch.stack([gone.any(2).sum(1), gone.any(1).sum(1)])
    assert sides.max() == 3  # 3/8 of 8 pixels
    assert sides.min() >= 1
    assert torch.equal(gone.sum((1, 2)), sides[0] * sides[1])
    plain = covered(inputs, torch.cat([draws[:, :2], torch.full((COUNT, 2), 0.5)], 1))
    assert torch.allclose(plain[:, 0][~gone], inputs[:, 0][~gone])
    assert covered(inputs.half(), draws).dtype == torch.float16


def after(rejected: str, sure: float = 0.6) -> tuple[AtWork, nn.Module, list[int]]:
    """Six epochs of one step; a quarter of the labels is wrong."""
    inputs, true = images()
    given = torch.where(torch.arange(COUNT) % 8 < 2, (true + 1) % CLASSES, true)
    method = make_method("mentornet-early", rejected=rejected, sure=sure, burn_in=0.2, rise=0.0)
    work, student, sizes = AtWork(method, Task(COUNT, CLASSES, 8)), Bands(), []
    student.register_forward_pre_hook(lambda _, views: sizes.append(len(views[0])))
    for epoch in range(6):
        work.supervision.begin_epoch(epoch)
        work.step(student, Batch(torch.arange(COUNT), inputs, given))
    return work, student, sizes


def test_what_is_dropped_is_not_looked_at_again() -> None:
    dropped, learned = after("drop")[2], after("learn")[2]
    assert dropped == [COUNT] * 6
    assert learned[:3] == dropped[:3]  # until burn-in has ended
    assert len(learned) > 6
    assert set(learned) == {COUNT, min(learned)}
    assert after("learn", sure=1.0)[2] == dropped


def test_what_it_costs_is_said_once() -> None:
    work = after("learn")[0]
    (said,) = work.supervision.notes()
    assert "of the images have a label that is not trusted" in said
    assert "% longer (rejected=drop does without)" in said
    assert not work.supervision.notes()
    again = after("drop")[0].supervision
    assert not again.notes()
    again.load_state_dict(work.supervision.state_dict())
    assert not again.notes()


def test_a_bad_choice() -> None:
    with pytest.raises(MentorNetError, match="rejected must be learn or drop, got 'keep'"):
        make_method("mentornet-early", rejected="keep")
    with pytest.raises(MentorNetError, match=r"sure must be in \[0, 1\], got 2"):
        make_method("mentornet-early", sure=2.0)
