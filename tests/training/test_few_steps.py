"""Runs that end in the middle of an epoch."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from mentornet.records import read_records
from mentornet.training import train
from tests.training.runs import small

PER_EPOCH = 6  # steps, of 32 of 192 digits


@pytest.mark.parametrize("steps", [3, 9])
def test_what_was_not_seen_does_not_count(tmp_path: Path, steps: int) -> None:
    config = small("full-model", epochs=None, steps=steps)
    train(config, tmp_path / "run")
    records = read_records(tmp_path / "run" / "records.parquet")
    seen = records["loss"].map(lambda losses: any(map(math.isfinite, losses)))
    assert seen.sum() == min(steps, PER_EPOCH) * 32
    assert set(records["mean_weight"][seen]) == {1.0}
    text = (tmp_path / "run" / "metrics.jsonl").read_text()
    assert "NaN" not in text
    last = json.loads(text.splitlines()[-1])
    fits = records["predicted_label"] == records["given_label"]
    assert last["train_accuracy"] == pytest.approx(fits[seen].mean())
    assert last["train_loss"] > 0
