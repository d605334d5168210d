"""The students that read vectors and tokens."""

from __future__ import annotations

import math
import re

import pytest
import torch
from torch import nn

from mentornet import MentorNetError
from mentornet.randomness import generator, seeded
from mentornet.students import MLP, NGramStudent, check_reads, make_student


def test_the_perceptron_by_hand() -> None:
    """Twice linear, layer norm, GELU; then W h + V x + b."""
    with seeded(0):
        student = MLP(channels=3, classes=2, width=4, depth=2).eval()
        for part in student.parameters():
            nn.init.normal_(part)
    parts = student.state_dict()
    x = torch.randn(5, 3, generator=generator(1))
    hidden = x
    for place in (0, 3):
        hidden = hidden @ parts[f"hidden.{place}.weight"].T + parts[f"hidden.{place}.bias"]
        mean = hidden.mean(1, keepdim=True)
        spread = ((hidden - mean) ** 2).mean(1, keepdim=True)
        norm = f"hidden.{place + 1}"
        hidden = (hidden - mean) / (spread + 1e-5).sqrt() * parts[f"{norm}.weight"]
        hidden = hidden + parts[f"{norm}.bias"]
        hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    expected = hidden @ parts["classify.weight"].T + parts["classify.bias"]
    expected = expected + x @ parts["linear.weight"].T
    torch.testing.assert_close(student(x), expected)


def test_the_linear_model_by_hand() -> None:
    """Two texts: {1, 2} and {2}; idf of 1 is 1 + log(3/2), and that of 2 is 1 + log(3/3)."""
    student = NGramStudent(channels=4, classes=2).eval()
    tokens = torch.tensor([[1, 2, 0], [2, 0, 0]], dtype=torch.int32)
    student.prepare(tokens)
    with torch.no_grad():
        student.weight.copy_(torch.tensor([[9.0, 9.0], [1.0, 0.0], [0.0, 2.0], [5.0, 5.0]]))
        student.bias.copy_(torch.tensor([0.5, 0.0]))
    rare, length = 1 + math.log(1.5), math.hypot(1 + math.log(1.5), 1)
    expected = torch.tensor([[rare / length + 0.5, 2 / length], [0.5, 2.0]])
    torch.testing.assert_close(student(tokens), expected)
    wider = nn.functional.pad(tokens, [0, 5])
    assert torch.equal(student(wider), student(tokens))  # padding changes nothing


def test_padding_has_no_gradient() -> None:
    student = NGramStudent(channels=4, classes=2)
    student(torch.tensor([[1, 0], [0, 0]])).sum().backward()
    assert student.weight.grad is not None
    assert student.weight.grad.any(1).tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "fast",
            "vectors",
            "reads images, but the data has vectors; leave student out, or choose mlp",
        ),
        (
            "mlp",
            "images",
            "student 'mlp' reads vectors, but the data has images; leave student out",
        ),
        ("ngrams", "vectors", "reads tokens, but the data has vectors"),
    ],
)
def test_a_student_that_reads_something_else(name: str, kind: str, message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        check_reads(name, kind)


def test_a_student_of_ones_own_may_read_anything() -> None:
    check_reads("tests.training.sharing:Smooth", "tokens")


@pytest.mark.parametrize("name", ["mlp", "ngrams"])
def test_sizes(name: str) -> None:
    assert make_student(name, channels=7, classes=3, dropout=0.25).training
