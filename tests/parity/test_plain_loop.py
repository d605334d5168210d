"""The trainer against the loop that anybody would write."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from mentornet.data import augment, standardise
from mentornet.randomness import generator
from mentornet.students import make_student
from mentornet.training import Trainer
from tests.training.runs import prepared


def plain_loop(seed: int, epochs: int = 3, batch_size: int = 32) -> dict[str, torch.Tensor]:
    images = prepared("full-model", seed=seed).train
    student = make_student("small-cnn", channels=1, classes=10, width=4, seed=seed)
    sgd = torch.optim.SGD(
        student.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4
    )
    steps = len(images) // batch_size
    total, step = epochs * steps, 0
    for epoch in range(epochs):
        order = torch.randperm(len(images), generator=generator(seed, 1, epoch))
        draws = generator(seed, 2, epoch)
        for part in order.tensor_split(steps):
            warm = 0.1 * total
            done = (step - warm) / (total - warm)
            factor = (step + 1) / warm if step < warm else (1 + math.cos(math.pi * done)) / 2
            sgd.param_groups[0]["lr"] = 0.1 * min(1.0, factor)
            pixels = augment(images.tensor[part], generator=draws, padding=1, flip=False)
            loss = cross_entropy(student(standardise(pixels)), images.given_label[part])
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            step += 1
    return student.state_dict()


@pytest.mark.parametrize("seed", [0, 1])
def test_plain_training_is_bit_identical_to_a_plain_loop(seed: int) -> None:
    trainer = Trainer(prepared("full-model", seed=seed, epochs=3, channels_last="off"))
    trainer.fit()
    expected = plain_loop(seed)
    for name, value in trainer.module.state_dict().items():
        assert torch.equal(value, expected[name]), name


def test_weights_of_one_are_plain_training_bit_for_bit() -> None:
    """Without weight decay, which weights scale by another formula of the same value."""
    plain = Trainer(prepared("full-model", epochs=3, weight_decay=0.0))
    settings = ("burn_in=1", "burn_in_drop=0")
    weighted = Trainer(prepared("mentornet-pd", epochs=3, weight_decay=0.0, set=settings))
    plain.fit()
    weighted.fit()
    assert weighted.records.weight.unique().tolist() == [1.0]
    for name, value in plain.module.state_dict().items():
        assert torch.equal(value, weighted.module.state_dict()[name]), name
