"""MentorNet features teaches the probabilities of the true classes, in plain Python."""

from __future__ import annotations

import math

import pytest
import torch

from mentornet.data import Batch
from mentornet.errors import MentorNetError
from mentornet.methods import Outputs, Seen, Task, make_method
from mentornet.weighting import Evidence

METHOD = make_method("mentornet-features")


def task() -> Task:
    x = torch.tensor([[-2.0], [-1.9], [-2.1], [-1.8], [2.0], [1.9], [2.1], [1.8]]).repeat(3, 2)
    given = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1]).repeat(3)
    given[3] = 1
    return Task(len(x), 2, 10, features=x, given_label=given)


def test_the_loss_is_the_cross_entropy_to_what_is_probably_true() -> None:
    supervision = METHOD.start(task())
    true = supervision.state_dict()["true"]
    assert true[3, 0] > 0.5  # its label says 1, its place says 0
    index = torch.tensor([3, 6])
    batch = Batch(index, torch.zeros(2, 2), torch.tensor([1, 1]))
    logits = torch.tensor([[0.5, -1.0], [2.0, 0.0]])
    outputs = Outputs(logits)
    losses = supervision.losses(outputs, batch.given_label, batch)
    evidence = Evidence(losses, batch.given_label, logits.argmax(1), index)
    weights = supervision.weights(evidence, 0.1)
    assert weights is not None
    assert weights.tolist() == pytest.approx([true[3, 1].item(), true[6, 1].item()])
    seen = Seen(batch, outputs, batch.given_label, losses, weights, lambda inputs: inputs)
    taught = supervision.teach(seen).losses
    for row, sample in enumerate((3, 6)):
        total = sum(math.exp(logit) for logit in logits[row].tolist())
        expected = -sum(
            true[sample, k].item() * math.log(math.exp(logits[row, k].item()) / total)
            for k in range(2)
        )
        assert taught[row].item() == pytest.approx(expected, rel=1e-5)


def test_without_vectors_there_is_nothing_to_judge() -> None:
    with pytest.raises(MentorNetError, match="needs the samples as vectors"):
        METHOD.start(Task(10, 2, 10))
