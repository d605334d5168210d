"""`MentorClassifier` as scikit-learn's own checks and users see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from mentornet import MentorNetError
from mentornet.integrations.sklearn import MentorClassifier
from mentornet.randomness import generator

DRAWS = "a repeated sample is drawn twice, into other batches or folds than one of weight 2"
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": DRAWS,
    "check_sample_weight_equivalence_on_sparse_data": DRAWS,
}
"""Checks that fail, and why. (scikit-learn itself skips the one for array_api input unless
SCIPY_ARRAY_API is set.)"""


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        MentorClassifier(epochs=30, batch_size=32, hidden=(32,), learning_rate=0.05),
        MentorClassifier(estimator=LogisticRegression(), folds=3, rounds=1),
    ],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
def test_sklearns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def noisy_wine(noise: float = 0.3) -> tuple[Any, Any, Any]:
    X, y = load_wine(return_X_y=True)
    draw = np.random.default_rng(0)
    wrong = draw.random(len(y)) < noise
    return X, np.where(wrong, (y + draw.integers(1, 3, len(y))) % 3, y), wrong


def test_wrong_labels_are_found_and_the_rest_is_learned() -> None:
    X, given, wrong = noisy_wine()
    model = MentorClassifier(epochs=60).fit(X, given)
    true = load_wine(return_X_y=True)[1]
    assert model.score(X, true) > 0.9
    assert model.label_issues_.dtype == bool
    assert model.label_weights_[wrong].mean() < 0.4 < 0.7 < model.label_weights_[~wrong].mean()
    assert model.noise_estimate_.rate == pytest.approx(wrong.mean(), abs=0.15)


def test_a_seed_fixes_everything_and_the_global_state_is_left_alone() -> None:
    X, given, _ = noisy_wine()
    state = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    first, again = (MentorClassifier(epochs=3).fit(X, given).predict_proba(X) for _ in range(2))
    other = MentorClassifier(epochs=3, random_state=1).fit(X, given).predict_proba(X)
    unseeded = MentorClassifier(epochs=3, random_state=None).fit(X, given)
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    assert not np.allclose(first, unseeded.predict_proba(X))
    now = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002
    assert np.array_equal(now, state)


def test_uniform_without_burn_in_is_plain_training() -> None:
    X, given, _ = noisy_wine()
    model = MentorClassifier(mentor="uniform", burn_in=0, epochs=5).fit(X, given)
    assert model.label_weights_.tolist() == [1.0] * len(given)


@pytest.mark.usefixtures("learns_twice")
def test_known_right_labels_teach_a_mentor() -> None:
    X, given, wrong = noisy_wine()
    clean = np.flatnonzero(~wrong)[:40]
    model = MentorClassifier(epochs=40).fit(X, given, clean_index=clean)
    column = np.isin(np.arange(len(given)), clean)
    same = MentorClassifier(epochs=40).fit(X, given, clean_index=column)
    assert np.array_equal(same.label_weights_, model.label_weights_)
    assert len(model.criterion_.notes) == 2
    assert model.label_weights_[wrong].mean() < model.label_weights_[~wrong].mean() - 0.3


def test_arrays_turned_about() -> None:
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    plain = MentorClassifier(epochs=2, random_state=0).fit(X[::-1].copy(), y[::-1].copy())
    turned = MentorClassifier(epochs=2, random_state=0).fit(X[::-1], y[::-1])
    assert (plain.predict(X[::-1]) == turned.predict(X[::-1])).all()


def test_a_column_of_another_table() -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"one entry for each of the 178 samples, got shape \(20,\)"
    ):
        MentorClassifier(epochs=2).fit(X, y, clean_index=np.ones(20, bool))


def test_burn_ins_dice_are_no_label_issues() -> None:
    X, y = load_iris(return_X_y=True)
    assert not MentorClassifier(epochs=1, burn_in=1.0).fit(X, y).label_issues_.any()
    MentorClassifier(epochs=1).fit(X[40:60], y[40:60])  # one step


def test_in_a_pipeline_and_a_grid_search() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), MentorClassifier(epochs=20)),
        {
            "mentorclassifier__learning_rate": [0.01, 0.03],
            "mentorclassifier__mentor": ["auto", "pd"],
        },
        cv=2,
    )
    assert search.fit(X, y).best_score_ > 0.8


def make_wide(inputs: int, classes: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 50), nn.Tanh(), nn.Linear(50, classes))


def test_a_network_of_ones_own() -> None:
    X, y = load_iris(return_X_y=True)
    model = clone(MentorClassifier(make_wide, epochs=30, learning_rate=0.02, by_class=True))
    assert model.fit(X, y).score(X, y) > 0.9
    assert model.module_[0].out_features == 50
    assert model.predict_proba(X[:1]).sum() == pytest.approx(1.0)


def test_a_fitted_one_is_pickled_with_what_it_knows(tmp_path: Any) -> None:
    import pickle

    X, given, _ = noisy_wine()
    model = MentorClassifier(epochs=3).fit(X, given)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs must be ≥ 1, got 0"),
        ({"batch_size": 0}, "batch_size must be ≥ 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0, got 0"),
        ({"module": nn.Identity()}, "module must be a function of (inputs, classes)"),
        ({"mentor": "pdd"}, "did you mean 'pd'"),
        ({"burn_in": 20}, "burn_in must be in [0, 1], got 20"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    X = torch.rand(20, 3, generator=generator(0)).numpy()
    with pytest.raises(MentorNetError) as caught:
        MentorClassifier(**settings).fit(X, np.arange(20) % 2)
    assert message in str(caught.value)
