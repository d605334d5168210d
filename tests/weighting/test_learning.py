"""What a mentor learns from verdicts in a run."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mentornet.curricula import MentorNetPD
from mentornet.features import MentorFeatures
from mentornet.mentors import Lesson, fitting, label_fit
from mentornet.randomness import generator
from mentornet.verdicts import Verdicts
from mentornet.weighting import LearningConfig
from mentornet.weighting.learning import Learning


def features(loss: torch.Tensor, label: torch.Tensor, progress: int = 50) -> MentorFeatures:
    """Features at the loss level 2."""
    return MentorFeatures(loss[:, None], loss[:, None] - 2, label, torch.full_like(label, progress))


def test_labels_without_verified_samples_are_read_as_one() -> None:
    """Of 5 classes, 0 and 1 have verified samples; labels of class 1 are right up to a loss of 3.

    Of class 2 there are too few. So nothing can be known of the labels 2, 3 and 4 beyond what holds
    for all: a small loss speaks for the label, and a large one against it.
    """
    count = 403
    loss = 4 * torch.rand(count, generator=generator(0))
    label = torch.arange(count) % 2
    label[400:] = 2
    is_correct = loss < torch.where(label == 1, 3.0, 1.0)
    verdicts = Verdicts(torch.arange(count), is_correct, torch.full((count,), -1))
    learning = Learning(
        verdicts, count=count, predefined=MentorNetPD(), total_steps=100, classes=5,
        config=LearningConfig(updates=(0.5,), reads_label=True, steps=300),
    )  # fmt: skip
    learning.steps = 50
    learning.observe(features(loss, label), torch.arange(count))
    rule = learning.update()
    assert learning.outcomes[0].used == "the learned one"
    asked = torch.tensor([0.3, 2.0, 3.7]).repeat(5)
    read = torch.arange(5).repeat_interleave(3)
    weights = rule.weight(features(asked, read, progress=60)).view(5, 3)
    small, middle, large = weights.T
    assert middle[1] - middle[0] > 0.5  # the label is read where it is known
    torch.testing.assert_close(weights[2], weights[3])
    torch.testing.assert_close(weights[2], weights[4])
    assert small[2] > 0.8
    assert large[2] < 0.2
    assert middle[0] < middle[2] < middle[1]


@pytest.mark.parametrize("noise_rate", [0.3, 0.8])
def test_simulated_wrong_labels_stay_on_their_samples_side_of_the_split(
    noise_rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With right labels only, a sample and all its wrong copies are learned, or judge, not both.

    The whole part of a loss is the number of its sample; at a rate of 0.8 there are four copies of
    each sample.
    """
    count = 50
    parts: list[Lesson] = []

    def fit(mentor: Any, lesson: Lesson, *rest: Any, evaluated_on: Lesson, **options: Any) -> Any:
        parts.extend([lesson, evaluated_on])
        return real(mentor, lesson, *rest, evaluated_on=evaluated_on, **options)

    def error_of(mentor: Any, lesson: Lesson, *rest: Any) -> float:
        parts.append(lesson)
        return 0.0

    real = fitting.fit
    monkeypatch.setattr(label_fit, "fit", fit)
    monkeypatch.setattr(label_fit, "error_of", error_of)
    every = torch.arange(count)
    verdicts = Verdicts(every, torch.ones(count, dtype=torch.bool), torch.full((count,), -1))
    learning = Learning(
        verdicts, count=count, predefined=MentorNetPD(), total_steps=100,
        config=LearningConfig(updates=(0.5,), steps=1),
    )  # fmt: skip
    learning.steps = 50
    learning.observe(features(every + 0.25, every * 0), every, wrong=every + 0.75)
    learning.update(noise_rate)
    samples = [set(part.features.current_loss.long().tolist()) for part in parts]
    assert [len(part) for part in samples] == [32, 8, 10]
    assert len(set.union(*samples)) == count  # so no sample is in two parts
    wrong = [int((part.target == 0).sum()) for part in parts]
    assert wrong[0] / 16 + wrong[1] + wrong[2] == round(count * noise_rate / (1 - noise_rate))
    for part in parts:
        assert torch.equal(part.target == 1, part.features.current_loss % 1 == 0.25)
