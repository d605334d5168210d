"""How well the audit finds wrong labels, beside the tools that people use.

    make bench-audit

Each case is one run of `mentornet-auto`, with six tenths of the epochs of plain training. From
that very run: our ranking, cleanlab's two scores of the run's own probabilities at its end, and the
area under the margin (Pleiss et al. 2020). And beside it what cleanlab recommends, probabilities of
five-fold cross-validation by plain training, five times four fifths of a run. Average precision and
AUROC of finding labels that are really wrong; one seed, one thread. What the run gives goes to
results/audit/CASE.json, cross-validation to results/audit/CASE-crossed.json, and what is there is
not run again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor

from benchmarks.accuracy.cleanlab_prune import cross_validate, shortened
from mentornet.audit.evidence import evidence_of
from mentornet.audit.ranking import rank
from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.data import Splits
from mentornet.experiments.conditions import conditions
from mentornet.files import read_json, write_json
from mentornet.records import Records
from mentornet.training import Trainer, predict, prepare
from mentornet.training.observer import Observer

RESULTS = Path(__file__).parents[1] / "results" / "audit"
FOLDS, SHARE = 5, 0.6


@dataclass(frozen=True)
class Case:
    """Which labels are looked for."""

    data: str
    noise: str

    @property
    def name(self) -> str:
        return f"{self.data}-{self.noise}".replace(":", "-")

    def config(self, method: str, share: float) -> TrainConfig:
        machine = MachineConfig(precision="32", compile="off", channels_last="on")
        labels = LabelsConfig(self.noise)
        if self.data == "digits":
            return TrainConfig(
                self.data, labels=labels, method=MethodConfig(method),
                optimiser=OptimiserConfig(epochs=round(50 * share)), machine=machine,
            )  # fmt: skip
        optimiser = OptimiserConfig(
            epochs=round(25 * share), batch_size=128, learning_rate=0.2, weight_decay=5e-4,
            augment=True, padding=2,
        )  # fmt: skip
        return TrainConfig(
            self.data, files=FilesConfig(limit=10_000), labels=labels,
            student=StudentConfig("fast", width=16), method=MethodConfig(method),
            optimiser=optimiser, machine=machine,
        )  # fmt: skip


CASES = (
    Case("digits", "uniform:0.2"),
    Case("digits", "uniform:0.4"),
    Case("cifar10", "uniform:0.4"),
    Case("cifar10", "asymmetric:0.4"),
    Case("cifar10", "human:random_label1"),
    Case("cifar10", "human:aggre_label"),
)


class WithMargins(Records):
    """Records that add up the plain margins too, for the area under the margin."""

    def __init__(self, count: int) -> None:
        super().__init__(count, labels=True)
        self.plain = torch.zeros(count)

    def add(self, index: Tensor, *columns: Any) -> None:
        super().add(index, *columns)
        self.plain[index] += columns[-1]


def found(wrong: NDArray[np.bool_], badness: NDArray[Any]) -> dict[str, float]:
    return {
        "average_precision": float(average_precision_score(wrong, badness)),
        "auroc": float(roc_auc_score(wrong, badness)),
    }


def cleanlab_scores(given: NDArray[Any], chances: NDArray[Any]) -> dict[str, NDArray[Any]]:
    from cleanlab.rank import get_label_quality_scores

    safe = chances.astype(np.float64)
    safe /= safe.sum(1, keepdims=True)
    return {
        method: 1 - get_label_quality_scores(given, safe, method=method)
        for method in ("self_confidence", "normalized_margin")
    }


def audited(case: Case) -> dict[str, Any]:
    """Our ranking, and what else the same run gives."""
    prepared = prepare(case.config("mentornet-auto", SHARE))
    trainer = Trainer(prepared)
    trainer.records = records = WithMargins(len(prepared.train))
    started = time.perf_counter()
    for epoch in range(trainer.epochs):
        trainer.run_epoch(epoch)
    trained = time.perf_counter() - started
    truth = prepared.train.true_label
    assert truth is not None
    given = prepared.train.given_label.numpy()
    wrong = given != truth.numpy()
    started = time.perf_counter()
    rate = float(trainer.supervision.metrics()["noise_rate"])
    ranking = rank(evidence_of(records), noise_rate=rate)
    ranking_took = time.perf_counter() - started
    scores = cleanlab_scores(given, predict(trainer.module.eval(), prepared.train.inputs).numpy())
    suggested = ranking.evidence.suggested_label[ranking.is_issue & wrong]
    return {
        "wrong": int(wrong.sum()),
        "estimated": ranking.wrong.count,
        "plausible": [ranking.wrong.low, ranking.wrong.high],
        "suspect": int(ranking.is_issue.sum()),
        "precision": float(wrong[ranking.is_issue].mean()),
        "recall": float(ranking.is_issue[wrong].mean()),
        "suggestions_right": float((suggested == truth.numpy()[ranking.is_issue & wrong]).mean()),
        "test_accuracy": trainer.evaluate(prepared.test).accuracy,
        "seconds": trained + ranking_took,
        "ours": found(wrong, 1 - ranking.quality),
        "area under the margin": found(wrong, -records.plain.numpy()),
        "cleanlab, same run": found(wrong, scores["self_confidence"]),
        "cleanlab margin, same run": found(wrong, scores["normalized_margin"]),
    }


def crossed(case: Case) -> dict[str, Any]:
    """What cleanlab recommends: the probabilities of models that did not see the sample."""
    plain = prepare(case.config("full-model", 1.0))
    assert plain.train.true_label is not None
    given = plain.train.given_label.numpy()
    wrong = given != plain.train.true_label.numpy()
    chances, took = cross_validate(
        shortened(plain.config, 1.0), Splits(plain.train, plain.test), FOLDS, None, Observer()
    )
    scores = cleanlab_scores(given, chances.numpy())
    return {
        "seconds": took,
        "cleanlab, cross-validated": found(wrong, scores["self_confidence"]),
        "cleanlab margin, cross-validated": found(wrong, scores["normalized_margin"]),
    }


SCORES = (
    "ours", "area under the margin", "cleanlab, same run", "cleanlab margin, same run",
    "cleanlab, cross-validated", "cleanlab margin, cross-validated",
)  # fmt: skip


def markdown(results: Sequence[Mapping[str, Any]]) -> str:
    """Average precision and AUROC in percent, the best of each row in bold; then our estimates."""
    lines = ["| labels | " + " | ".join(SCORES) + " | time |"]
    lines.append("|---" * (len(SCORES) + 2) + "|")
    for result in results:
        best = max(round(100 * result[name]["average_precision"], 2) for name in SCORES)
        cells = []
        for name in SCORES:
            found = result[name]
            precision = round(100 * found["average_precision"], 2)
            text = f"{precision:.2f} / {100 * found['auroc']:.2f}"
            cells.append(f"**{text}**" if precision == best else text)
        lines.append(f"| {result['case']} | {' | '.join(cells)} | {result['time_ratio']:.2f} |")
    lines += ["", "| labels | wrong | estimated | plausible | suspect | of these wrong | found |"]
    lines.append("|---" * 7 + "|")
    for result in results:
        low, high = result["plausible"]
        lines.append(
            f"| {result['case']} | {result['wrong']:,} | {result['estimated']:,} "
            f"| {low:,} to {high:,} | {result['suspect']:,} | {result['precision']:.0%} "
            f"| {result['recall']:.0%} |"
        )
    return "\n".join(lines) + "\n"


def stored() -> list[dict[str, Any]]:
    """The cases that were run, in order, both parts of each in one."""
    results = []
    for case in CASES:
        paths = _paths(case)
        if all(path.exists() for path in paths):
            ours, theirs = (read_json(path) for path in paths)
            ratio = ours["seconds"] / theirs["seconds"]
            apart = {"conditions_crossed": theirs["conditions"], "time_ratio": ratio}
            results.append({**theirs, **ours, **apart})
    return results


def _paths(case: Case) -> tuple[Path, Path]:
    return RESULTS / f"{case.name}.json", RESULTS / f"{case.name}-crossed.json"


def main() -> int:
    torch.set_num_threads(1)
    for case in CASES:
        for path, work in zip(_paths(case), (audited, crossed), strict=True):
            if not path.exists():
                result = {"case": case.name, **work(case)}
                about = {"threads": torch.get_num_threads(), "conditions": conditions()}
                write_json(path, {**result, **about})
                print(f"wrote {path}", flush=True)
    print(markdown(stored()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
