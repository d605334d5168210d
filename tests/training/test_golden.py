"""Twenty steps of loss and Σv, kept as text: a change of these files is a decision."""

from __future__ import annotations

from pathlib import Path

import pytest

from mentornet.training import Trainer
from tests.training.runs import prepared

GOLDEN = Path(__file__).parents[1] / "golden"


def trace(method: str) -> list[list[float]]:
    """Loss (weighted mean) and Σv of every step."""
    trainer = Trainer(prepared(method, epochs=4, limit=160, channels_last="off"))
    rows: list[list[float]] = []
    for epoch in range(4):
        trainer.student.train()
        for batch in trainer.batches.epoch(epoch):
            trainer.step(batch, epoch)
            weight, loss = (
                getattr(trainer.records, name)[batch.index] for name in ("weight", "loss")
            )
            rows.append([(weight * loss).mean().item(), weight.sum().item()])
    return rows


@pytest.mark.parametrize("method", ["full-model", "mentornet-pd", "mentornet-dd", "spade"])
def test_golden_trace(method: str) -> None:
    path = GOLDEN / f"train_{method}.txt"
    expected = [[float(word) for word in line.split()] for line in path.read_text().splitlines()]
    found = trace(method)
    assert len(found) == len(expected) == 20
    for step, (row, wanted) in enumerate(zip(found, expected, strict=True)):
        assert row == pytest.approx(wanted, rel=1e-3, abs=1e-4), f"step {step}"
