"""Labels judged by features: the linear classifier, the folds, and what verdicts add."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from mentornet.weighting import fit_linear, judge_features, linear_decay, standardised

CLASSES, EACH, WIDTH = 3, 60, 5


def blobs(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Samples around one corner for each class, and their classes."""
    draws = torch.Generator().manual_seed(seed)
    label = torch.arange(CLASSES).repeat_interleave(EACH)
    noise = torch.randn(len(label), WIDTH, generator=draws)
    return 3 * torch.eye(CLASSES, WIDTH)[label] + noise, label


def flipped(label: Tensor, share: float, seed: int = 1) -> Tensor:
    draws = torch.Generator().manual_seed(seed)
    wrong = torch.rand(len(label), generator=draws) < share
    other = (label + torch.randint(1, CLASSES, label.shape, generator=draws)) % CLASSES
    return torch.where(wrong, other, label)


def test_the_classifier_is_that_of_scikit_learn() -> None:
    """Whose C counts every sample, where ½ λ ‖W‖² stands beside the mean."""
    x, label = blobs()
    decay = 0.05
    ours = fit_linear(x.double(), torch.eye(CLASSES).double()[label], decay).probabilities(
        x.double()
    )
    theirs = LogisticRegression(C=1 / (decay * len(x)), tol=1e-8, max_iter=1000)
    expected = theirs.fit(x.numpy(), label.numpy()).predict_proba(x.numpy())
    np.testing.assert_allclose(ours.numpy(), expected, atol=2e-4)


def test_features_are_standardised_and_constant_ones_are_nothing() -> None:
    x = torch.tensor([[1.0, 7.0], [3.0, 7.0]])
    torch.testing.assert_close(standardised(x), torch.tensor([[-1.0, 0.0], [1.0, 0.0]]))


def test_the_weight_decay_falls_where_there_is_enough() -> None:
    assert linear_decay(1000, 400) == pytest.approx(0.1)
    assert linear_decay(1500, 800) == pytest.approx(0.2)
    assert linear_decay(15_000, 400) == pytest.approx(0.01)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_wrong_labels_are_found(share: float) -> None:
    x, label = blobs()
    given = flipped(label, share)
    found = judge_features(x, given, CLASSES)
    wrong = given != label
    rate = wrong.float().mean()
    assert float(1 - found.right.mean()) == pytest.approx(float(rate), abs=0.05)
    assert ((found.right < 0.5) == wrong).float().mean() > 0.93
    assert (found.suggested == label).float().mean() > 0.93
    assert torch.allclose(found.true.sum(1), torch.ones(len(x)).double())


def test_a_seed_fixes_the_folds() -> None:
    x, label = blobs()
    given = flipped(label, 0.3)
    one, same, other = (judge_features(x, given, CLASSES, seed=seed).true for seed in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_verdicts_show_what_a_rule_gets_wrong() -> None:
    """A rule calls half of class 0, which a feature marks, class 1: no prediction shows that."""
    x, label = blobs()
    marked = (label == 0) & (x[:, 3] > 0)
    given = torch.where(marked, 1, label)
    known = torch.full_like(label, -1)
    known[::3] = label[::3]
    silent = judge_features(x, given, CLASSES)
    told = judge_features(x, given, CLASSES, known=known)
    apart = (known < 0) & marked
    assert (told.suggested[apart] == 0).float().mean() > 0.8
    assert told.right[apart].mean() < silent.right[apart].mean()
    assert torch.equal(told.true[::3], torch.eye(CLASSES)[label[::3]].to(told.true))


def test_a_class_that_one_fold_lacks() -> None:
    x, label = blobs()
    given = label.clone()
    given[:-1][given[:-1] == 2] = 1  # the last sample alone has label 2
    found = judge_features(x, given, CLASSES)
    assert found.true.isfinite().all()
