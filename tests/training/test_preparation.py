"""What a run starts from."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from mentornet.config import FilesConfig, LabelsConfig
from mentornet.data import Samples, Splits
from mentornet.training import prepare
from tests.training.runs import small


def numbered(count: int) -> Samples:
    """Images that show their number, in two classes."""
    number = torch.arange(count)
    pixels = torch.stack([number % 256, number // 256], 1).to(torch.uint8).view(count, 1, 1, 2)
    return Samples(pixels.repeat(1, 1, 8, 4), number % 2, ("even", "odd"))


def number_of(samples: Samples) -> Tensor:
    assert isinstance(samples.inputs, Tensor)
    return samples.inputs[:, 0, 0, :2].long() @ torch.tensor([1, 256])


@pytest.mark.parametrize(
    ("limit", "tests"), [(None, 2_500), (64, 1_000), (1_200, 1_200), (2_500, 2_500), (2_600, 2_500)]
)
def test_a_quick_try_is_not_spent_on_test_samples(limit: int | None, tests: int) -> None:
    splits = Splits(numbered(3_000), numbered(2_500), further={"other": numbered(10)})
    kept = []
    for seed in (0, 1):
        config = replace(
            small("full-model"), seed=seed, files=FilesConfig(limit=limit), labels=LabelsConfig()
        )
        made = prepare(config, splits=splits)
        assert len(made.train) == (limit or 3_000)
        assert len(made.test) == tests
        assert len(made.further["other"]) == 10
        kept.append(made.test)
    shown = [number_of(part) for part in kept]
    assert torch.equal(*shown)  # the same for every seed
    assert shown[0].unique().numel() == tests
    assert torch.equal(kept[0].given_label, shown[0] % 2)  # images keep their labels
