"""Our LSTM is `nn.LSTM`."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mentornet.mentors.lstm import LSTMEncoder
from mentornet.randomness import generator, seeded


def library_twin(ours: LSTMEncoder, inputs: int) -> nn.LSTM:
    """nn.LSTM with our parameters; it orders its gates i, f, g, o and has two biases."""
    with seeded(0):
        twin = nn.LSTM(inputs, ours.units, bidirectional=ours.directions == 2)
    order = torch.arange(4 * ours.units).view(4, -1)[[0, 1, 3, 2]].flatten()
    with torch.no_grad():
        for direction, suffix in enumerate(["", "_reverse"][: ours.directions]):
            for name, value in (
                ("weight_ih", ours.input[direction]),
                ("weight_hh", ours.hidden[direction]),
                ("bias_ih", ours.bias[direction, :, 0]),
                ("bias_hh", torch.zeros(4 * ours.units)),
            ):
                getattr(twin, f"{name}_l0{suffix}").copy_(value[order])
    return twin


@pytest.mark.parametrize("steps", [1, 2, 10])
@pytest.mark.parametrize("directions", [1, 2])
def test_last_hidden_states_and_gradients_are_those_of_nn_lstm(steps: int, directions: int) -> None:
    with seeded(3):
        ours = LSTMEncoder(inputs=2, units=10, directions=directions)
    theirs = library_twin(ours, inputs=2)
    sequence = torch.randn(steps, 7, 2, generator=generator(0))
    _, (hidden, _) = theirs(sequence)
    expected = hidden.transpose(0, 1).reshape(7, -1)
    actual = ours(sequence.transpose(1, 2)).T
    torch.testing.assert_close(actual, expected)

    expected.square().sum().backward()
    actual.square().sum().backward()
    order = torch.arange(40).view(4, -1)[[0, 1, 3, 2]].flatten()
    for direction, suffix in enumerate(["", "_reverse"][:directions]):
        for name, parameter in (
            ("weight_ih", ours.input),
            ("weight_hh", ours.hidden),
            ("bias_ih", ours.bias),
        ):
            gradient = getattr(theirs, f"{name}_l0{suffix}").grad
            if name == "weight_hh" and steps == 1:
                assert parameter.grad is None  # the first state is 0: it takes no part
                continue
            assert parameter.grad is not None
            ours_now = parameter.grad[direction].view_as(gradient)[order]
            torch.testing.assert_close(ours_now, gradient, msg=name + suffix)


def test_all_states_are_those_of_nn_lstm() -> None:
    with seeded(3):
        ours = LSTMEncoder(inputs=4, units=5, directions=1)
    sequence = torch.randn(6, 3, 4, generator=generator(0))
    outputs, _ = library_twin(ours, inputs=4)(sequence)
    states = torch.stack(ours.states(sequence.transpose(1, 2))).transpose(1, 2)
    torch.testing.assert_close(states, outputs)
