"""One exam for all students."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor, nn

from mentornet import MentorNetError
from mentornet.data import Batch, load_digits
from mentornet.methods import Task, make_method
from mentornet.randomness import generator, seeded
from mentornet.students import (
    STUDENTS,
    FastStudent,
    InceptionResNetV2,
    WideResNet,
    make_student,
)
from tests.methods.steps import AtWork

OTHERS = ("mlp", "ngrams")
"""Those that read no images."""

SMALL = [n for n in STUDENTS if n not in ("resnet101", "inception-resnet-v2", *OTHERS)]
"""Those that read small images in no time."""


def parameters(student: nn.Module) -> int:
    return sum(parameter.numel() for parameter in student.parameters())


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("channels", "size"), [(1, 8), (1, 28), (3, 32)])
def test_logits_of_any_image(name: str, channels: int, size: int) -> None:
    student = make_student(name, channels=channels, classes=7).eval()  # no dropout is drawn
    logits = student(torch.randn(3, channels, size, size, generator=generator(0)))
    assert logits.shape == (3, 7)
    logits.sum().backward()
    assert all(parameter.grad is not None for parameter in student.parameters())


@pytest.mark.parametrize("name", SMALL)
def test_the_seed_fixes_the_starting_values(name: str) -> None:
    images = torch.randn(2, 3, 32, 32, generator=generator(0))
    logits = [
        make_student(name, channels=3, classes=10, seed=seed).eval()(images) for seed in (1, 1, 2)
    ]
    assert torch.equal(logits[0], logits[1])
    assert not torch.equal(logits[0], logits[2])


@pytest.mark.parametrize("name", STUDENTS)
def test_dropout_is_a_size_of_every_student(name: str) -> None:
    with torch.device("meta"):
        student = STUDENTS[name](channels=3, classes=10, dropout=0.25)
    rates = [layer.p for layer in student.modules() if isinstance(layer, nn.Dropout)]
    assert rates == [0.25]


@pytest.mark.parametrize(("name", "table1"), [("inception", 1.7e6), ("resnet101", 84e6)])
@pytest.mark.parametrize("classes", [10, 100])
def test_parameter_counts_of_table_1(name: str, table1: float, classes: int) -> None:
    """The millions that are printed; the inception's 1.65M is 1.7M to two digits (docstring)."""
    with torch.device("meta"):
        count = parameters(STUDENTS[name](channels=3, classes=classes))
    if name == "inception":
        assert round(count / 1e6, 1) == 1.7
    else:
        assert int(count / 1e6) == round(table1 / 1e6)


def test_resnet101_is_what_its_docstring_says() -> None:
    with torch.device("meta"):
        student = STUDENTS["resnet101"]()
    convolutions = [layer for layer in student.modules() if isinstance(layer, nn.Conv2d)]
    threes = [layer for layer in convolutions if layer.kernel_size == (3, 3)]
    assert len(threes) == 1 + 3 * 9 * 2
    assert sorted({layer.out_channels for layer in threes}) == [16, 160, 320, 640]
    assert convolutions == threes  # shortcuts have no parameters
    norms = [layer for layer in student.modules() if isinstance(layer, nn.BatchNorm2d)]
    assert {(layer.eps, round(layer.momentum or 0, 6)) for layer in norms} == {(1e-3, 0.1)}


def test_the_wide_network_by_hand() -> None:
    """Leaky ReLU 0.1, ε 1e-3, and shortcuts of means and zeros, from the released code's facts."""
    with seeded(0):
        student = WideResNet(3, 5, units=2, width=2).eval()
        for layer in student.modules():
            if isinstance(layer, nn.BatchNorm2d):
                assert layer.running_mean is not None
                assert layer.running_var is not None
                for values in (layer.running_mean, layer.bias.data):
                    values.normal_()
                for values in (layer.running_var, layer.weight.data):
                    values.uniform_(0.5, 2)
    parts = student.state_dict()

    def leaky(images: Tensor) -> Tensor:
        return torch.where(images < 0, 0.1 * images, images)

    def norm(images: Tensor, name: str) -> Tensor:
        mean, variance, scale, shift = (
            parts[f"{name}.{part}"][:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (images - mean) / (variance + 0.001).sqrt() * scale + shift

    def conv(images: Tensor, name: str, stride: int = 1) -> Tensor:
        return nn.functional.conv2d(images, parts[f"{name}.weight"], None, stride, 1)

    images = torch.randn(2, 3, 8, 8, generator=generator(0))
    x = conv(images, "stem")
    for place, (stride, more) in enumerate([(1, 16), (1, 0), (2, 32), (1, 0), (2, 64), (1, 0)]):
        name = f"units.{place}"
        if place == 0:
            kept = ready = norm(leaky(x), f"{name}.norm1")
        else:
            kept, ready = x, leaky(norm(x, f"{name}.norm1"))
        if stride == 2:
            corners = [kept[:, :, row::2, column::2] for row in (0, 1) for column in (0, 1)]
            kept = torch.stack(corners).mean(0)
        zeros = torch.zeros(2, more // 2, *kept.shape[2:])
        kept = torch.cat([zeros, kept, zeros], 1)
        x = leaky(norm(conv(ready, f"{name}.conv1", stride), f"{name}.norm2"))
        x = kept + conv(x, f"{name}.conv2")
    features = leaky(norm(x, "norm")).mean((2, 3))
    expected = features @ parts["classify.weight"].T + parts["classify.bias"]
    torch.testing.assert_close(student(images), expected, rtol=1e-4, atol=1e-4)


def test_the_wide_network_starts_like_the_released_one() -> None:
    """√(2 / (9 · 640)) for the last convolutions, and at most √(3 / 640) for the linear layer."""
    with seeded(0):
        student = WideResNet(3, 10, units=1, width=10)
    last = [layer for layer in student.modules() if isinstance(layer, nn.Conv2d)][-1]
    assert last.weight.std().item() == pytest.approx((2 / (9 * 640)) ** 0.5, rel=0.01)
    limit = (3 / 640) ** 0.5
    assert 0.98 * limit < student.classify.weight.abs().max().item() <= limit
    assert not student.classify.bias.any()


def test_the_wide_network_reads_images_of_odd_size() -> None:
    with seeded(0):
        student = WideResNet(1, 4, units=1, width=1)
    assert student(torch.randn(2, 1, 7, 9, generator=generator(0))).shape == (2, 4)


def test_inception_resnet_is_that_of_slim() -> None:
    """Table 1's 59M with its auxiliary head; the sizes and widths of slim's end points."""
    student = make_student("inception-resnet-v2", channels=3, classes=1000)
    assert isinstance(student, InceptionResNetV2)
    assert student.auxiliary is not None
    assert abs(parameters(student) / 59e6 - 1) < 0.02
    assert abs((parameters(student) - parameters(student.auxiliary)) / 55.8e6 - 1) < 0.001
    norms = [layer for layer in student.modules() if isinstance(layer, nn.BatchNorm2d)]
    assert {layer.eps for layer in norms} == {1e-3}
    assert {round(layer.momentum or 0, 6) for layer in norms} == {0.0003}  # decay 0.9997
    with torch.no_grad():
        images = torch.zeros(1, 3, 299, 299)
        first = student.stem(images)
        second = student.mixed_6a(student.mixed_5b(first))
        third = student.mixed_7a(second)
    assert first.shape == (1, 192, 35, 35)
    assert second.shape == (1, 1088, 17, 17)
    assert third.shape == (1, 2080, 8, 8)


def test_the_auxiliary_head_learns_along() -> None:
    """0.4 of its own cross-entropy is added, with the same weights; at test it is not asked."""
    student = make_student("inception-resnet-v2", channels=3, classes=5, dropout=0.0)
    assert isinstance(student, InceptionResNetV2)
    images = torch.randn(2, 3, 139, 139, generator=generator(0))
    batch = Batch(torch.arange(2), images, torch.tensor([1, 3]))
    task = Task(2, 5, 1, is_correct=torch.tensor([True, False]))
    done = AtWork(make_method("oracle"), task).step(student, batch, 0.1)
    assert student.auxiliary_logits is not None
    beside = nn.functional.cross_entropy(student.auxiliary_logits[:1], torch.tensor([1]))
    assert torch.allclose(done.loss, (done.evidence.losses[0] + 0.4 * beside) / 2)
    assert student.auxiliary is not None
    assert all(part.grad is not None for part in student.auxiliary.parameters())
    kept = student.auxiliary_logits
    student.eval()(batch.inputs[:1])
    assert student.auxiliary_logits is kept


def tiny(channels: int, classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(16 * channels, classes))


not_callable = 3


def not_a_module(channels: int, classes: int) -> int:
    return channels * classes


def test_a_factory_of_the_users() -> None:
    student = make_student("tests.students.test_students:tiny", channels=1, classes=5)
    assert student(torch.zeros(2, 1, 4, 4)).shape == (2, 5)


MISTAKES = [
    ("resnet_101", "unknown student 'resnet_101'; did you mean 'resnet101'?"),
    ("no.such.module:net", "must name a module and a factory in it"),
    ("tests.students.test_students:nothing", "must name a module and a factory in it"),
    ("tests.students.test_students:not_callable", "is not a function or class"),
    ("tests.students.test_students:not_a_module", "must return a torch module, got int"),
]


@pytest.mark.parametrize(("name", "message"), MISTAKES)
def test_mistake(name: str, message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        make_student(name, channels=3, classes=10)


def test_a_depth_that_cannot_be() -> None:
    with pytest.raises(MentorNetError, match="depth must be 6 n"):
        make_student("resnet", channels=3, classes=10, depth=19)


def test_the_fast_student_whitens_what_it_sees() -> None:
    """After `prepare`, the stem's answers to random patches of the images are uncorrelated."""
    images = load_digits().train.tensor[:500].float()
    images = (images - images.mean()) / images.std()
    images = images + torch.randn(images.shape, generator=generator(0)) / 10
    student = make_student("fast", channels=1, classes=10)
    assert isinstance(student, FastStudent)
    before = student.stem.weight.clone()
    student.prepare(images)
    assert not torch.equal(student.stem.weight, before)
    assert not student.stem.weight.requires_grad
    with torch.no_grad():
        answers = torch.nn.functional.conv2d(images, student.stem.weight[:4])
    flat = answers.transpose(0, 1).flatten(1)
    second_moment = flat @ flat.T / flat.shape[1]
    assert torch.allclose(second_moment, torch.eye(4), atol=0.05)
    assert torch.equal(student.stem.weight[4:], -student.stem.weight[:4])
