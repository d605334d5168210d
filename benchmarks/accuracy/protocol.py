"""The paper's training of CIFAR-10 to the letter, but for the student.

All 50,000 images, 39,000 steps of batch 128, the paper's drops of the learning rate, weight decay,
augmentation, 5,000 verified samples and updates at 21 % and 75 %: `--preset paper` with a student
that trains some twenty times as fast as the paper's. What the paper tunes has the value that short
runs on 10,000 images chose (tables `mentornet-pd paper` and `self-paced paper` of `benchmark`).
"""

from __future__ import annotations

from dataclasses import replace

from mentornet.config import LabelsConfig, MethodConfig, StudentConfig, TrainConfig
from mentornet.experiments.cells import Cell, Table
from mentornet.experiments.paper_runs import SMALL_WIDTH
from mentornet.experiments.runs import Run
from mentornet.training.presets import with_preset

__all__ = ["protocol"]

_VERIFIED = 5_000
_EVERY = 5  # epochs between two evaluations
_PERCENTILE = {"0.4": {"mentornet-pd": 0.6, "self-paced": 0.75},
               "0.8": {"mentornet-pd": 0.3, "self-paced": 0.6}}  # fmt: skip
_PAPER = {
    "full-model": {"0.4": 0.69, "0.8": 0.18},
    "self-paced": {"0.4": 0.85, "0.8": 0.28},
    "mentornet-pd": {"0.4": 0.77, "0.8": 0.33},
    "mentornet-dd": {"0.4": 0.89, "0.8": 0.49},
}
"""The numbers of Table 2, with ResNet-101."""


def protocol() -> Table:
    """The paper's protocol with a small student."""
    cells = []
    for noise in ("0.4", "0.8"):
        for method in ("full-model", "self-paced", "mentornet-pd", "mentornet-dd"):
            run = Run(_as_in_the_paper(method, noise))
            row = method if method == "full-model" else f"{method} paper"
            cells.append(Cell(row, noise, run, paper=_PAPER[method][noise]))
        ours = ("mentornet-dd", "mentornet-early", "oracle")
        cells += [Cell(method, noise, Run(_ours(method, noise))) for method in ours]
    return Table(
        "protocol",
        "The paper's protocol on CIFAR-10 with a small student",
        tuple(cells),
        note=(
            "All 50,000 images, 39,000 steps of batch 128, the paper's schedule, weight decay, "
            "augmentation and 5,000 verified samples; the student is `fast` with 16 channels "
            "(275,000 parameters) where the paper's has 84 million. One seed. The paper's numbers "
            "are those of Table 2 with ResNet-101. The student is evaluated after every fifth "
            "epoch."
        ),
        about={
            "mentornet-dd": "our default DD in the same training: smoothed losses, many updates, "
            "decisions, and what was verified is taught; 5,000 verified samples",
            "mentornet-early": "our default where nothing is verified, in the same training",
            "oracle": "told which labels are right",
        },
    )


def _as_in_the_paper(method: str, noise: str) -> TrainConfig:
    percentile = _PERCENTILE[noise].get(method)
    words = () if percentile is None else (f"percentile={percentile:g}",)
    config = with_preset(
        TrainConfig(
            "cifar10",
            labels=LabelsConfig(f"uniform:{noise}"),
            student=StudentConfig("fast", width=SMALL_WIDTH),
            method=MethodConfig(method, words),
            preset="paper",
        )
    )
    return replace(config, optimiser=replace(config.optimiser, evaluate_every=_EVERY))


def _ours(method: str, noise: str) -> TrainConfig:
    """The same training with the defaults of one of our methods."""
    plain = _as_in_the_paper("full-model", noise)
    verified = _VERIFIED if method == "mentornet-dd" else None
    labels = replace(plain.labels, clean_count=verified)
    return replace(plain, labels=labels, method=MethodConfig(method), preset=None)
