"""`MentorClassifier(estimator=…)`: wrong labels found by out-of-fold predictions, and verdicts."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from mentornet import MentorNetError
from mentornet.integrations.sklearn import MentorClassifier


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Two processes of tests share two cores, where waiting threads would cost minutes."""
    with threadpool_limits(1):
        yield


def noisy_digits(noise: float = 0.3, count: int = 900) -> tuple[Any, Any, Any, Any, Any]:
    x, true = load_digits(return_X_y=True)
    draw = np.random.default_rng(0)
    wrong = draw.random(len(true)) < noise
    given = np.where(wrong, (true + draw.integers(1, 10, len(true))) % 10, true)
    return x[:count], given[:count], wrong[:count], x[count:], true[count:]


def linear() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.05))


def test_wrong_labels_are_found_and_the_classifier_is_better_for_it() -> None:
    x, given, wrong, x_test, y_test = noisy_digits()
    model = MentorClassifier(estimator=linear()).fit(x, given)
    plain = linear().fit(x, given)
    assert model.score(x_test, y_test) > plain.score(x_test, y_test) + 0.03
    assert (model.label_issues_ == wrong).mean() > 0.95
    assert model.label_quality_[wrong].mean() < 0.1 < 0.9 < model.label_quality_[~wrong].mean()
    assert model.noise_estimate_.rate == pytest.approx(wrong.mean(), abs=0.03)
    assert "true class" in f"{model.noise_estimate_}"
    assert model.suggested_labels_.dtype == given.dtype
    assert np.array_equal(model.sample_weight_, model.label_quality_)


def test_correct_labels_are_left_alone() -> None:
    x, given, _, x_test, y_test = noisy_digits(noise=0.0)
    model = MentorClassifier(estimator=linear()).fit(x, given)
    assert model.noise_estimate_.rate < 0.02
    assert model.label_issues_.mean() < 0.02
    plain = linear().fit(x, given).score(x_test, y_test)
    assert model.score(x_test, y_test) > plain - 0.01


def ruled(count: int = 1500) -> tuple[Any, Any, Any]:
    """Return samples whose labels a rule gave that is wrong about one kind of sample."""
    draw = np.random.default_rng(3)
    x = draw.normal(size=(count, 6))
    true = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)
    given = np.where((x[:, 2] > 0.3) & (true == 1), 2, true)  # the rule's mistake
    return x, given, true


def test_verdicts_show_what_a_rule_gets_wrong() -> None:
    x, given, true = ruled()
    wrong = given != true
    rows = np.random.default_rng(0).permutation(len(x))[:200]
    checked = np.full(len(x), np.nan)
    checked[rows] = true[rows]
    boosted = HistGradientBoostingClassifier(max_iter=10)
    told = MentorClassifier(estimator=boosted, rounds=1, folds=3).fit(x, given, true_y=checked)
    alone = MentorClassifier(estimator=boosted, rounds=1, folds=3).fit(x, given)
    others = np.isnan(checked)
    assert (told.label_issues_ == wrong)[others].mean() > 0.93
    assert (alone.label_issues_ == wrong).mean() < 0.9
    assert told.score(x, true) > alone.score(x, true) + 0.05
    assert (told.label_quality_[rows] == (given == true)[rows]).all()  # as the person said


def test_rows_that_are_known_to_be_correct() -> None:
    x, given, wrong, _, _ = noisy_digits(count=300)
    rows = np.flatnonzero(~wrong)[:40]
    model = MentorClassifier(estimator=linear(), rounds=1).fit(x, given, clean_index=rows)
    assert (model.label_quality_[rows] == 1).all()
    column = np.isin(np.arange(len(given)), rows)
    same = MentorClassifier(estimator=linear(), rounds=1).fit(x, given, clean_index=column)
    assert np.array_equal(model.label_quality_, same.label_quality_)


def test_texts_data_frames_and_missing_values() -> None:
    texts = ["good fine great"] * 20 + ["bad poor awful"] * 20
    words = np.repeat(["yes", "no"], 20)
    words[3], words[25] = "no", "yes"
    model = MentorClassifier(
        estimator=make_pipeline(TfidfVectorizer(), LogisticRegression()), folds=4
    ).fit(texts, words)
    assert np.flatnonzero(model.label_issues_).tolist() == [3, 25]
    assert model.predict(["great", "awful"]).tolist() == ["yes", "no"]
    frame = pd.DataFrame({"size": [1.0, np.nan, 1.2] * 10 + [5.0, 5.5, np.nan] * 10})
    frame["kind"] = pd.Categorical(["a"] * 30 + ["b"] * 30)
    boosted = HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=2, categorical_features="from_dtype"
    )
    found = MentorClassifier(estimator=boosted).fit(frame, [0] * 30 + [1] * 30)
    assert found.feature_names_in_.tolist() == ["size", "kind"]
    assert found.predict(frame).tolist() == [0] * 30 + [1] * 30


def test_a_classifier_that_takes_no_weights() -> None:
    x, given, wrong, x_test, y_test = noisy_digits()
    nearest = KNeighborsClassifier(1)
    model = MentorClassifier(estimator=KNeighborsClassifier(5), rounds=2).fit(x, given)
    assert (model.label_issues_ == wrong).mean() > 0.9
    assert model.score(x_test, y_test) > nearest.fit(x, given).score(x_test, y_test) + 0.1


def test_weights_of_the_users_own() -> None:
    x, y = load_wine(return_X_y=True)
    light = np.where(y == 2, 0.0, 1.0)
    model = MentorClassifier(estimator=GaussianNB(), rounds=1).fit(x, y, sample_weight=light)
    assert (model.predict(x) != 2).all()
    assert model.predict_proba(x).shape == (len(x), 3)
    even = MentorClassifier(estimator=GaussianNB(), rounds=1).fit(x, y, sample_weight=2 * y * 0 + 2)
    plain = MentorClassifier(estimator=GaussianNB(), rounds=1).fit(x, y)
    assert np.allclose(even.label_quality_, plain.label_quality_)
    network = MentorClassifier(epochs=30).fit(x, y, sample_weight=light)
    assert (network.predict(x) != 2).mean() > 0.95


@pytest.mark.usefixtures("learns_twice")
def test_verdicts_teach_a_network_too() -> None:
    x, y = load_wine(return_X_y=True)
    draw = np.random.default_rng(0)
    given = np.where(draw.random(len(y)) < 0.3, (y + 1) % 3, y)
    checked = np.where(np.arange(len(y)) % 3 == 0, y, np.nan)
    model = MentorClassifier(epochs=8).fit(x, given, true_y=checked)
    wrong = (given != y) & ~np.isnan(checked)
    # Their true labels are taught, with weight 1, so only the criterion knows that they were wrong.
    assert model.criterion_.engine.known is not None
    assert model.score(x[wrong], y[wrong]) > 0.8


def test_rare_classes_and_tiny_tables() -> None:
    x, y = load_wine(return_X_y=True)
    y = y.copy()
    y[0] = 7  # a class of one sample
    model = MentorClassifier(estimator=linear(), folds=3, rounds=1).fit(x, y)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    tiny = MentorClassifier(estimator=GaussianNB()).fit(x[55:62], load_wine().target[55:62])
    assert tiny.predict(x[:2]).shape == (2,)


def test_seeds_clones_pickles_and_searches() -> None:
    x, given, _, _, _ = noisy_digits(count=200)
    first = MentorClassifier(estimator=linear(), rounds=1).fit(x, given)
    again = pickle.loads(pickle.dumps(clone(first).fit(x, given)))
    assert np.array_equal(first.predict_proba(x), again.predict_proba(x))
    other = MentorClassifier(estimator=linear(), rounds=1, random_state=1).fit(x, given)
    assert not np.array_equal(first.label_quality_, other.label_quality_)
    search = GridSearchCV(
        MentorClassifier(estimator=LogisticRegression(max_iter=2000), rounds=1, folds=2),
        {"estimator__C": [0.001, 0.01]},
        cv=2,
    )
    assert search.fit(x, given).best_params_["estimator__C"] in (0.001, 0.01)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": LogisticRegression}, "estimator must be a classifier, such as"),
        ({"estimator": LinearSVC()}, "estimator must have predict_proba, and LinearSVC() has none"),
        ({"estimator": linear(), "folds": 1}, "folds must be ≥ 2, got 1"),
        ({"estimator": linear(), "rounds": 0}, "rounds must be ≥ 1, got 0"),
        ({"estimator": linear(), "module": print}, "give either module or estimator, not both"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    x, y = load_wine(return_X_y=True)
    with pytest.raises(MentorNetError) as caught:
        MentorClassifier(**settings).fit(x, y)
    assert message in f"{caught.value}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"true_y": [1, 2]}, "true_y must have one entry for each of the 178 samples"),
        ({"true_y": [9] * 178}, "true_y has 9 in row 0, but no sample has that label"),
        ({"clean_index": [500]}, "clean_index must be in 0–177, got 500"),
    ],
)
def test_bad_verdicts(given: dict[str, Any], message: str) -> None:
    x, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        MentorClassifier(estimator=linear()).fit(x, y, **given)
