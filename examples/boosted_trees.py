"""Wrong labels in a table, with boosted trees: `MentorClassifier` around any classifier.

python examples/boosted_trees.py
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from mentornet.integrations.sklearn import MentorClassifier


def main(
    noise: float = 0.3, checked: int = 50, folds: int = 5, rounds: int = 3, seed: int = 0
) -> dict[str, float]:
    """Train on noisy labels three times, and print and return the accuracies on clean rows."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    draw = np.random.default_rng(seed)
    given = np.where(draw.random(len(y)) < noise, 1 - y, y)

    trees = HistGradientBoostingClassifier(max_iter=30, random_state=seed)
    found = {"plain": trees.fit(X, given).score(X_test, y_test)}

    mentored = MentorClassifier(estimator=trees, folds=folds, rounds=rounds)
    model = clone(mentored).fit(X, given)
    found["mentored"] = model.score(X_test, y_test)
    suspects = np.argsort(model.label_quality_)[:5]
    print(f"{model.noise_estimate_}; in fact {(given != y).mean():.0%} are")
    print("the most suspect rows:", *suspects.tolist())

    # A person looks at some rows, drawn at random, and says what the label should be.
    rows = draw.permutation(len(y))[:checked]
    verdicts = np.full(len(y), np.nan)
    verdicts[rows] = y[rows]
    model = clone(mentored).fit(X, given, true_y=verdicts)
    found[f"with {checked} verdicts"] = model.score(X_test, y_test)
    for way, accuracy in found.items():
        print(f"{way:18} {100 * accuracy:.1f}")
    return found


if __name__ == "__main__":
    main()
