"""The audit of a run whose method judged labels before the first step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from mentornet.audit.evidence import by_weights, evidence_of
from mentornet.audit.run_audit import audit_run
from mentornet.config import LabelsConfig, MethodConfig, OptimiserConfig, TrainConfig
from mentornet.training import train
from mentornet.weighting import judge_features


def test_the_margin_is_the_log_odds_of_the_weight() -> None:
    columns = {"given_label": [0, 1, 0, 1], "margin": [1.0, 2.0, 3.0, 4.0]}
    evidence = replace(evidence_of(columns), mean_weight=np.array([0.5, 0.2, 1.0, np.nan]))
    margin = by_weights(evidence).margin
    assert margin[:2] == pytest.approx([0.0, np.log(0.2 / 0.8)])
    assert 13 < margin[2] < 14  # finite, and above all others
    assert margin[3] == 4.0  # nothing is known of its weight


def test_labels_are_ranked_by_what_was_judged_before_training(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    true = draw.integers(0, 3, 300)
    x = np.eye(6)[true] * 2 + draw.normal(size=(300, 6))
    wrong = draw.random(300) < 0.2
    given = np.where(wrong, (true + 1) % 3, true)
    data, run = tmp_path / "data.npz", tmp_path / "run"
    split = np.where(np.arange(300) < 240, "train", "test")
    np.savez(data, features=x.astype(np.float32), label=given, true_label=true, split=split)
    config = TrainConfig(
        f"{data}", method=MethodConfig("mentornet-features"), labels=LabelsConfig(),
        optimiser=OptimiserConfig(epochs=3),
    )  # fmt: skip
    train(config, run)
    audit_run(run)
    issues = pd.read_csv(run / "audit" / "issues.csv").sort_values("index")
    seen = torch.from_numpy(x[:240].astype(np.float32))
    judged = judge_features(
        (seen - seen.mean(0)) / seen.std(0, correction=0), torch.from_numpy(given[:240]), 3, seed=0
    )
    assert issues["label_quality"].to_numpy() == pytest.approx(judged.right.numpy(), abs=2e-3)
