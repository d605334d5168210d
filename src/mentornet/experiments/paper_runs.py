"""The runs behind the tables: the methods as the paper has them, and the same made small.

At paper scale everything is as App. E gives it. At small scale noise, methods and tuning stay the
same, and the rest shrinks: the fast student at half its width, 10,000 images, 40 epochs on a cosine
schedule, 2 pixels of padding, 1,000 verified samples. SPADE then burns in for a tenth of training
without dropping samples, and weighs a sample by the average of its losses; DD has its defaults. The
student is evaluated after every fourth epoch, so the best epoch is the best of ten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.data import Noise, parse_noise
from mentornet.experiments.jobs import Tuning
from mentornet.experiments.runs import Run
from mentornet.training.paper import TRIED
from mentornet.training.presets import with_preset

__all__ = [
    "NOISES", "ROWS", "SMALL", "SMALL_IMAGES", "SMALL_TRIAL", "SMALL_VERIFIED", "SMALL_WIDTH",
    "each", "paper_config", "paper_run", "run_for", "small_config", "transferred",
]  # fmt: skip

Candidates = tuple[tuple[str, ...], ...]

NOISES = ("0.2", "0.4", "0.8")

SMALL = OptimiserConfig(
    epochs=40, batch_size=128, learning_rate=0.2, weight_decay=5e-4, augment=True, padding=2,
    evaluate_every=4,
)  # fmt: skip
SMALL_IMAGES, SMALL_WIDTH, SMALL_VERIFIED = 10_000, 16, 1_000
SMALL_TRIAL = 20
"""Epochs of a candidate, of the 40 that the run will have."""


def paper_config(
    data: str, student: str, noise: str | None = None, method: str = "full-model"
) -> TrainConfig:
    """The training of a student as §5 and App. E have it.

    Args:
        data: cifar10 or cifar100.
        student: resnet101 or inception.
        noise: the noise fraction, or None for clean labels.
        method: the method that trains it.
    """
    return with_preset(
        TrainConfig(
            data,
            labels=LabelsConfig(noise=None if noise is None else f"uniform:{noise}"),
            student=StudentConfig(student),
            method=MethodConfig(method),
            preset="paper",
        )
    )


def small_config(data: str, noise: str | None = None) -> TrainConfig:
    """Plain training made small."""
    return TrainConfig(
        data,
        files=FilesConfig(limit=SMALL_IMAGES),
        labels=LabelsConfig(noise=None if noise is None else f"uniform:{noise}"),
        student=StudentConfig("fast", width=SMALL_WIDTH),
        method=MethodConfig("full-model"),
        optimiser=SMALL,
    )


@dataclass(frozen=True)
class Row:
    """A method as a row: its settings in small runs, and what is tuned.

    Args:
        method: the method.
        small: its settings in small runs; runs of the paper have those of the preset.
        tuned: what is tried, beside what the paper tries (`TRIED`).
        tuned_small: what small runs try; None for what the paper tries.
        tuned_mostly_right: what small runs try where four labels in five are right, if not that.
    """

    method: str
    small: tuple[str, ...] = ()
    tuned: Candidates = ()
    tuned_small: Candidates | None = None
    tuned_mostly_right: Candidates = ()

    @property
    def of_the_paper(self) -> Candidates:
        """What is tried at paper scale."""
        tried = TRIED.get(self.method)
        return () if tried is None else (*each(tried.setting, *tried.values), *self.tuned)

    def of_small_runs(self, noise: str | None) -> Candidates:
        """What small runs try under that noise."""
        if noise == f"uniform:{NOISES[0]}" and self.tuned_mostly_right:
            return self.tuned_mostly_right
        return self.of_the_paper if self.tuned_small is None else self.tuned_small


def each(key: str, *values: float) -> Candidates:
    """One candidate for each value of a setting."""
    return tuple((f"{key}={value:g}",) for value in values)


_SMOOTH = ("burn_in=0.1", "burn_in_drop=0", "smoothing=0.8")
"""How SPADE starts and smooths losses at small scale, with any mentor, as there are 40 epochs."""

ROWS = {
    row.method: row
    for row in (
        Row("full-model"),
        Row("forgetting", tuned_small=each("dropout", 0.2, 0.5, 0.8)),
        Row("self-paced"),
        Row("focal", tuned_small=each("gamma", 1, 2)),
        Row("reed-soft", tuned_small=each("beta", 0.8, 0.95)),
        Row("reed-hard", tuned_small=each("beta", 0.8, 0.95)),
        Row("goldberger"),
        Row(
            "spade",
            small=_SMOOTH,
            tuned_small=each("percentile", 0.3, 0.6),
            tuned_mostly_right=each("percentile", 0.6, 0.85),
        ),
        Row(
            "mentornet-pd",
            small=_SMOOTH,
            tuned=tuple(("percentile=0.75", f"lambda2={value:g}") for value in (0.5, 2)),
            tuned_small=each("percentile", 0.3, 0.45, 0.6, 0.75),
        ),
        Row("mentornet-auto"),
        Row("mentornet-dd", tuned_small=()),
        Row("oracle"),
    )
}  # fmt: skip
"""The methods of the paper. At paper scale DD and PD are tuned over the same percentiles, which is
λ₁, as it follows them; PD also over two λ₂ at the paper's percentile. Small DD has our defaults."""


def paper_run(method: str, data: str, student: str, noise: str | None = None) -> Run:
    """That method as the paper has it.

    DD's mentors are learned in the run on CIFAR-10, from verified samples. On all other data, whose
    labels nobody has verified, they are those of DD on CIFAR-10 with the same student and noise.
    """
    config = paper_config(data, student, noise, method)
    candidates = ROWS[method].of_the_paper
    tuning = Tuning(candidates) if candidates else None
    if method != "mentornet-dd" or data == "cifar10":
        return Run(config, tuning)
    return transferred(config, paper_run(method, "cifar10", student, noise), tuning)


def transferred(config: TrainConfig, learned: Run, tuning: Tuning | None = None) -> Run:
    """A run of DD that takes the mentors of another one, so that it learns none of its own."""
    words = (
        word for word in config.method.set if not word.startswith(("updates=", "reads_label="))
    )
    method = replace(config.method, set=tuple(words))
    return Run(replace(config, method=method), tuning, mentors_of=learned)


def run_for(method: str, config: TrainConfig) -> Run:
    """That method on a small run like `config`.

    A mentor learned on CIFAR-10 with the same student is transferred to CIFAR-100; on CIFAR-10 it
    is learned in the run, from verified samples.
    """
    row, labels = ROWS[method], config.labels
    settings = row.small
    if method == "mentornet-dd" and config.data == "cifar100":
        noise = parse_noise(labels.noise or "uniform:0.4")
        assert isinstance(noise, Noise)
        settings = ("mentor_classes=10", f"mentor=dd-cifar10-{round(100 * noise.rate)}")
    elif method == "mentornet-dd":
        labels = replace(labels, clean_count=SMALL_VERIFIED)
    candidates = row.of_small_runs(labels.noise)
    return Run(
        replace(config, labels=labels, method=MethodConfig(method, settings)),
        Tuning(candidates, SMALL_TRIAL) if candidates else None,
    )
