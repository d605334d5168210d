from __future__ import annotations

import torch

from mentornet.weighting import LossHistory


def test_window_holds_the_last_losses_newest_last_whatever_the_order_of_samples() -> None:
    history = LossHistory(count=5, steps=3)
    seen: dict[int, list[float]] = {}
    for step, batch in enumerate([[0, 3], [3, 1], [0, 3], [3, 4], [3, 0]]):
        index = torch.tensor(batch)
        loss = index.float() + 10 * step
        losses, differences = history.push(index, loss, loss - 1)
        for row, sample in enumerate(batch):
            seen.setdefault(sample, []).append(float(sample + 10 * step))
            known = seen[sample][-3:]
            padded = [known[0]] * (3 - len(known)) + known
            assert losses[row].tolist() == padded
            assert differences[row].tolist() == [value - 1 for value in padded]


def test_goes_on_where_it_was() -> None:
    history, restored = LossHistory(3, 2), LossHistory(3, 2)
    index, loss = torch.tensor([0, 2]), torch.tensor([1.0, 2.0])
    history.push(index, loss, loss)
    restored.load_state_dict(history.state_dict())
    for one, other in zip(
        history.push(index, loss + 1, loss), restored.push(index, loss + 1, loss), strict=True
    ):
        assert torch.equal(one, other)
