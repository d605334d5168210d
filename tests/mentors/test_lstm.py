"""Our LSTM is `nn.LSTM`."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mentornet.mentors import enumerate_features, make_mentor
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


def test_a_long_sequence_is_read_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's kernel against our own steps: the states and all gradients."""
    with seeded(3):
        ours = LSTMEncoder(inputs=4, units=5, directions=1)
    sequence = torch.randn(70, 4, 3, generator=generator(0))
    found = []
    for limit in (71, 70):
        monkeypatch.setattr("mentornet.mentors.lstm._LONG", limit)
        states = torch.stack(ours.states(sequence))
        gradients = torch.autograd.grad(states.square().sum(), list(ours.parameters()))
        found.append((states, *gradients))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_the_rnn_reads_the_batch_that_it_is_given() -> None:
    """All 256 samples of a batch of App. D; a larger batch is read in runs of as many."""
    mentor = make_mentor("batch-lstm", history=10)
    features = enumerate_features(300, history=10)
    other = features.rows(torch.cat([torch.tensor([299]), torch.arange(1, 300)]))
    with torch.no_grad():
        for count, end in ((256, 256), (300, 256)):
            changed = [mentor.logit(some.rows(slice(count))).double() for some in (features, other)]
            differs = (changed[0] - changed[1]).abs() > 0
            assert differs[:5].all()
            reached = differs[32:end]
            assert not differs[end:].any()
            assert reached.any()
