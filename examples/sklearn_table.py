"""MentorNet in scikit-learn: `MentorClassifier` beside the same network with plain training.

python examples/sklearn_table.py
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split

from mentornet.integrations.sklearn import MentorClassifier

TABLES = {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}


def corrupt(y: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """Replace a share of the labels by another class."""
    draw = np.random.default_rng(seed)
    classes = int(y.max()) + 1
    another = (y + draw.integers(1, classes, len(y))) % classes
    return np.where(draw.random(len(y)) < noise, another, y)


def accuracies(table: str, noise: float, seed: int) -> tuple[float, float]:
    """Return the accuracies on clean test rows: with plain training, and with a mentor."""
    X, y = TABLES[table](return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    given = corrupt(y, noise, seed)
    plain = MentorClassifier(mentor="uniform", burn_in=0, random_state=seed).fit(X, given)
    mentored = MentorClassifier(random_state=seed).fit(X, given)
    return plain.score(X_test, y_test), mentored.score(X_test, y_test)


def main(seeds: int = 5, noise: float = 0.4) -> None:
    """Print a line for each table, with the mean over the seeds and the range of the gain."""
    for table in TABLES:
        found = np.array([accuracies(table, noise, seed) for seed in range(seeds)]) * 100
        gain = found[:, 1] - found[:, 0]
        print(
            f"{table:14} plain {found[:, 0].mean():.1f}, mentored {found[:, 1].mean():.1f}, "
            f"gain {gain.mean():+.1f} ({gain.min():+.1f} to {gain.max():+.1f})"
        )


if __name__ == "__main__":
    main()
