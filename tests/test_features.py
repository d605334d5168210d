from __future__ import annotations

import torch

from mentornet import MentorFeatures
from tests.samples import some_features


def test_from_loss_repeats_scalars() -> None:
    features = MentorFeatures.from_loss(
        torch.tensor([1.0, 4.0]), loss_level=3.0, label=2, progress=7
    )
    assert features.loss.tolist() == [[1.0], [4.0]]
    assert features.difference.tolist() == [[-2.0], [1.0]]
    assert features.label.tolist() == [2, 2]
    assert features.progress.tolist() == [7, 7]


def test_from_loss_takes_a_percentile_of_every_spelling() -> None:
    loss = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    spellings: list[torch.Tensor | float] = [
        0.5,
        torch.tensor(0.5),
        torch.tensor([0.5, 0.5]),
        torch.full((2, 2), 0.5),
    ]
    for spelling in spellings:
        features = MentorFeatures.from_loss(loss, loss_level=spelling)
        assert torch.equal(features.difference, loss - 0.5)


def test_the_newest_step_is_the_last() -> None:
    features = some_features(5, history=4)
    assert torch.equal(features.current_loss, features.loss[:, 3])
    assert torch.equal(features.current_difference, features.difference[:, 3])
    torch.testing.assert_close(
        features.loss_level, features.current_loss - features.current_difference
    )


def test_at_loss_moves_only_the_current_loss_and_its_difference() -> None:
    features = some_features(5, history=4, dtype=torch.float64)
    moved = features.at_loss(torch.full((5,), 9.0, dtype=torch.float64))
    assert torch.equal(moved.loss[:, :3], features.loss[:, :3])
    assert (moved.current_loss == 9).all()
    torch.testing.assert_close(moved.loss_level, features.loss_level)
    assert torch.equal(moved.progress, features.progress)


def test_repeat_keeps_copies_of_a_sample_together() -> None:
    features = some_features(3, history=2)
    repeated = features.repeat(4)
    assert repeated.batch_size == 12
    for i in range(12):
        assert torch.equal(repeated.loss[i], features.loss[i // 4])
        assert repeated.progress[i] == features.progress[i // 4]
