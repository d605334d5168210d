"""Labels ranked by the embeddings of their samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from mentornet import MentorNetError
from mentornet.audit import rank_embeddings
from mentornet.verdicts import Verdicts

COUNT, WIDTH = 240, 12


def clouds(seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Three clouds of points that touch, of which a fifth have another label; and which."""
    draw = np.random.default_rng(seed)
    true = np.arange(COUNT) % 3
    centers = draw.normal(0, 1.2, (3, WIDTH))
    wrong = draw.random(COUNT) < 0.2
    given = np.where(wrong, (true + draw.integers(1, 3, COUNT)) % 3, true)
    return centers[true] + draw.normal(size=(COUNT, WIDTH)), given, wrong


def test_wrong_labels_come_first() -> None:
    x, given, wrong = clouds()
    found = rank_embeddings(x, given)
    assert len(found.quality) == COUNT  # every row is judged
    assert wrong[np.argsort(found.quality)[:30]].mean() > 0.95
    assert found.wrong.low <= wrong.sum() <= found.wrong.high
    assert np.array_equal(found.quality, rank_embeddings(x, given).quality)
    assert not np.array_equal(found.quality, rank_embeddings(x, given, seed=1).quality)


def test_files_tensors_and_names_are_the_same_data(tmp_path: Path) -> None:
    x, given, _ = clouds()
    x = x.astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    names = ["ant", "bee", "cow"]
    plain = rank_embeddings(x, given, classes=names)
    for same in (tmp_path / "x.npy", f"{tmp_path / 'x.npy'}", torch.from_numpy(x)):
        found = rank_embeddings(same, [names[label] for label in given])
        assert np.array_equal(found.quality, plain.quality)
        assert found.classes == ("ant", "bee", "cow")


def test_an_estimator_of_ones_own_takes_what_it_takes() -> None:
    x, given, wrong = clouds()
    frame = pd.DataFrame(x, columns=[f"column {n}" for n in range(WIDTH)])
    found = rank_embeddings(frame, given, estimator=GaussianNB())
    assert wrong[np.argsort(found.quality)[: wrong.sum()]].mean() > 0.9


def test_what_people_said_holds() -> None:
    x, given, wrong = clouds()
    kept, refuted = (int(np.flatnonzero(part)[0]) for part in (wrong, ~wrong))
    told = int(np.flatnonzero(~wrong)[1])
    other = (int(given[told]) + 1) % 3
    verdicts = Verdicts.of({kept: int(given[kept]), refuted: -1, told: other}, torch.tensor(given))
    found = rank_embeddings(x, given, verdicts=verdicts)
    assert found.quality[kept] == pytest.approx(1)
    assert not found.is_issue[kept]
    assert found.quality[refuted] == pytest.approx(0)
    assert found.quality[told] == pytest.approx(0)
    assert found.is_issue[[refuted, told]].all()
    assert found.evidence.suggested_label[refuted] != given[refuted]
    assert found.evidence.suggested_label[told] == other


@pytest.mark.parametrize(
    ("embeddings", "labels", "settings", "message"),
    [
        (np.ones((2, 3)), [0, 1, 1], {}, "there are 3 labels for 2 embeddings"),
        (np.ones(3), [0, 1, 1], {}, "embeddings must be numbers of shape (N, D), got float64 of"),
        ([[np.nan], [1.0]], [0, 1], {}, "and 1 rows are not; the first is row 0 (from 0)"),
        (np.ones((2, 3)), [0, 0], {}, "all labels are of one class"),
        (np.ones((2, 3)), [0, -1], {}, "labels must be class numbers in 0–1, got -1 to 0"),
        (np.ones((2, 3)), [0, 1990], {}, "got 0 to 1990; give names as text"),
        (np.ones((2, 3)), ["a", "b"], {"classes": ["a", "c"]}, "label 'b' in row 1 is none of"),
        (np.ones((2, 3)), [0, 1], {"folds": 1}, "folds must be at least 2, got 1"),
        (np.ones((2, 3)), [0, 1], {"estimator": object()}, "estimator must be a scikit-learn cl"),
    ],
)
def test_bad_input(embeddings: Any, labels: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(MentorNetError) as caught:
        rank_embeddings(embeddings, labels, **settings)
    assert message in f"{caught.value}"
