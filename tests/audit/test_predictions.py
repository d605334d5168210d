"""Labels ranked by probabilities from anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mentornet import MentorNetError
from mentornet.audit import rank_predictions


def test_out_of_fold_predictions_rank_wrong_labels_first() -> None:
    x, true = load_digits(return_X_y=True)
    draw = np.random.default_rng(0)
    wrong = draw.random(len(true)) < 0.2
    given = np.where(wrong, (true + draw.integers(1, 10, len(true))) % 10, true)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.05))
    p = cross_val_predict(model, x, given, cv=3, method="predict_proba")
    found = rank_predictions(p, given)
    assert found.wrong.count == pytest.approx(wrong.sum(), rel=0.15)
    assert found.wrong.low <= wrong.sum() <= found.wrong.high
    hits = found.is_issue & wrong
    assert hits.sum() > 0.85 * wrong.sum()
    assert hits.sum() > 0.85 * found.is_issue.sum()
    table = found.table
    assert wrong[table["index"][:100]].mean() > 0.95
    names = [f"digit {number}" for number in range(10)]
    named = rank_predictions(p, [names[label] for label in given], classes=names)
    assert named.table["given_label"][0].startswith("digit ")
    assert np.array_equal(named.quality, found.quality)


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (["a", "b"], None, "labels must be class numbers, got <U1; for names, give classes"),
        (["a", "c"], ["a", "b"], "label 'c' in row 1 is none of the 2 classes"),
        ([0, 2], None, "given_label must be in 0–1, got 2"),
        ([0], None, "given_label must be 2 class numbers"),
    ],
)
def test_bad_input(labels: Any, classes: Any, message: str) -> None:
    with pytest.raises(MentorNetError) as caught:
        rank_predictions([[0.5, 0.5], [0.2, 0.8]], labels, classes=classes)
    assert message in f"{caught.value}"
