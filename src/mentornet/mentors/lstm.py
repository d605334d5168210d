"""An LSTM encoder that compiles without a graph break and is fast for few units.

TorchDynamo cannot compile `nn.LSTM`, and its fixed cost is high for ten units; `make bench`
measures both. Here the batch is the last axis, so that every gate is one contiguous block, and
both directions share each multiplication. The formulas are those of `nn.LSTM`, but with one bias
instead of two, and with the gates in the order i, f, o, g. A long sequence is read by PyTorch's own
kernel, whose cost per step is far lower, unless the mentor is compiled.

Shapes: D directions, F inputs, H units, B sequences, T steps.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["LSTMEncoder"]

_LONG = 64  # steps from which PyTorch's kernel is used


class LSTMEncoder(nn.Module):
    """An LSTM that maps x `(T, F, B)` to the hidden state h after every step, or after the last.

    i, f, o = σ(W x + U h + b) and g = tanh(W x + U h + b), each with its own rows of W, U and b;
    c ← f·c + i·g; h ← o·tanh(c). The first c and h are 0, so U and f have no effect if T = 1.

    Args:
        inputs: F, the number of inputs at each step.
        units: H, the number of hidden units per direction.
        directions: 1, or 2 to read the sequence backwards as well.
    """

    def __init__(self, inputs: int, units: int, directions: int = 2) -> None:
        super().__init__()
        self.units, self.directions = units, directions
        bound = units**-0.5
        self.input = nn.Parameter(
            torch.empty(directions, 4 * units, inputs).uniform_(-bound, bound)
        )
        self.hidden = nn.Parameter(
            torch.empty(directions, 4 * units, units).uniform_(-bound, bound)
        )
        self.bias = nn.Parameter(torch.empty(directions, 4 * units, 1).uniform_(-bound, bound))

    def forward(self, sequence: Tensor) -> Tensor:
        """Return the last hidden state of each direction, `(D·H, B)`."""
        return self.states(sequence)[-1]

    def states(self, sequence: Tensor) -> list[Tensor]:
        """Return the hidden states, `(D·H, B)` each, in the order in which the steps were read."""
        long = self.directions == 1 and len(sequence) >= _LONG
        if long and not torch.compiler.is_compiling():
            return list(self._by_kernel(sequence))
        if len(sequence) == 1 or self.directions == 1:  # one direction, or one step
            both = sequence[:, None].expand(-1, self.directions, -1, -1)
        else:
            both = torch.stack([sequence, sequence.flip(0)], dim=1)
        gates = self.input @ both + self.bias
        state: Tensor | None = None
        cell: Tensor | None = None
        states = []
        for read in gates.unbind(0):
            gate = read if state is None else torch.baddbmm(read, self.hidden, state)
            switches, candidate = gate[:, : 3 * self.units], gate[:, 3 * self.units :]
            write, keep, show = switches.sigmoid().chunk(3, dim=1)
            new = write * candidate.tanh()
            cell = new if cell is None else torch.addcmul(new, keep, cell)
            state = show * cell.tanh()
            states.append(state.flatten(0, 1))
        return states

    def _by_kernel(self, sequence: Tensor) -> Tensor:
        """Return the hidden states of one direction, `(T, H, B)`, by PyTorch's kernel."""
        weights = []
        for part in (self.input[0], self.hidden[0], self.bias[0, :, 0]):
            write, keep, show, candidate = part.chunk(4)
            weights.append(torch.cat([write, keep, candidate, show]))
        weights.append(torch.zeros_like(weights[-1]))  # the second bias
        start = sequence.new_zeros(1, sequence.shape[2], self.units)
        states: Tensor = torch.lstm(
            sequence.transpose(1, 2).contiguous(), (start, start), weights, True, 1, 0.0,
            self.training, False, False,
        )[0]  # fmt: skip
        return states.transpose(1, 2)
