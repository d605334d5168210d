"""Tables 4 and 5 of the paper: ImageNet at 40 % noise, and WebVision.

They need those datasets, in the folder that MENTORNET_DATA names or under `imagenet` and
`webvision` there; and, to be done in a lifetime, GPUs. What the paper does not say is chosen here:
the mentor is the one learned on CIFAR-10 at 40 % noise, as the labels of both were not verified,
and WebVision is trained for as many steps as ImageNet, Mini for 30 epochs.
"""

from __future__ import annotations

from dataclasses import replace

from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.data import DATASETS
from mentornet.experiments.cells import Cell, Reads, Scale, Table
from mentornet.experiments.jobs import Tuning
from mentornet.experiments.runs import Run
from mentornet.methods.mentornet_dd import AS_IN_THE_PAPER

__all__ = ["large_config", "table4", "table5"]

_BATCH, _STEPS, _STEPS_NOREG, _EPOCHS = 32, 1_000_000, 500_000, 10
_KEEP, _KEEP_FORGETTING = 0.8, 0.2
_SMALL_IMAGES = 10_000
_OTHER_STUDENT = "The paper's numbers are those of inception-resnet-v2 on all images."
_MENTOR = (*AS_IN_THE_PAPER, "mentor=dd-cifar10-40")
VERIFIED = "webvision-verified.csv"
"""What MentorNet* learns from: in the working folder, 30,000 labels of 118 classes in the paper."""


def large_config(data: str, scale: Scale, *, noise: str | None = None) -> TrainConfig:
    """Plain training with weight decay, dropout and augmentation, as App. E sets it.

    Args:
        data: imagenet, webvision or webvision-mini.
        scale: paper; or small, with views of 96 pixels, the fast student, 10,000 images and ten
            epochs: enough to see every row run, too little to learn 1,000 classes.
        noise: uniform, its fraction.
    """
    small = scale == "small"
    plain = OptimiserConfig(
        batch_size=_BATCH, learning_rate=0.05, schedule="steps", warm_up=0.0, momentum=0.9,
        nesterov=False, weight_decay=4e-5, augment=True,
    )  # fmt: skip
    if small:
        optimiser = replace(plain, epochs=10, drops=(0.5,))
    elif data == "webvision-mini":
        optimiser = replace(plain, epochs=30, drops=(1 / 3, 2 / 3))
    else:
        drop = _EPOCHS * DATASETS[data].count / _BATCH / _STEPS
        drops = tuple(round(drop * time, 6) for time in (1, 2) if drop * time < 1)
        optimiser = replace(plain, steps=_STEPS, drops=drops)
    return TrainConfig(
        data,
        files=FilesConfig(
            image_size=96 if small else None,
            imagenet=None if data == "imagenet" else "imagenet",
            limit=_SMALL_IMAGES if small else None,
        ),
        labels=LabelsConfig(noise=None if noise is None else f"uniform:{noise}"),
        student=(
            StudentConfig("fast")
            if small
            else StudentConfig("inception-resnet-v2", dropout=round(1 - _KEEP, 6))
        ),
        method=MethodConfig("full-model"),
        optimiser=optimiser,
    )


def _forgetting(config: TrainConfig) -> TrainConfig:
    """The student drops all but a fifth of its last features."""
    return replace(
        config,
        student=replace(config.student, dropout=None),
        method=MethodConfig("forgetting", (f"dropout={1 - _KEEP_FORGETTING:g}",)),
    )


def _mentornet(config: TrainConfig) -> TrainConfig:
    return replace(config, method=MethodConfig("mentornet-dd", _MENTOR))


_TABLE4 = {
    "noreg": (0.538, 0.770),
    "noreg + weight decay": (0.560, 0.809),
    "noreg + dropout": (0.575, 0.807),
    "noreg + augmentation": (0.522, 0.772),
    "noreg + mentornet": (0.590, 0.814),
    "full-model": (0.612, 0.844),
    "forgetting": (0.628, 0.845),
    "mentornet": (0.651, 0.859),
}


def table4(scale: Scale) -> Table:
    """ImageNet at 40 % noise: what each kind of regularisation adds, and a mentor."""
    full = large_config("imagenet", scale, noise="0.4")
    small = scale == "small"
    drop = round(_EPOCHS * DATASETS["imagenet"].count / _BATCH / _STEPS_NOREG, 6)
    shorter = full.optimiser
    if not small:
        shorter = replace(shorter, steps=_STEPS_NOREG, drops=(drop,))
    noreg = replace(
        full,
        student=replace(full.student, dropout=None if small else 0.0),
        optimiser=replace(shorter, weight_decay=0.0, augment=False),
    )
    decayed = replace(noreg.optimiser, weight_decay=full.optimiser.weight_decay)
    configs = {
        "noreg": noreg,
        "noreg + weight decay": replace(noreg, optimiser=decayed),
        "noreg + dropout": replace(noreg, student=replace(full.student, dropout=1 - _KEEP)),
        "noreg + augmentation": replace(noreg, optimiser=replace(noreg.optimiser, augment=True)),
        "noreg + mentornet": _mentornet(noreg),
        "full-model": full,
        "forgetting": _forgetting(full),
        "mentornet": _mentornet(full),
    }
    cells = []
    columns: tuple[tuple[str, Reads], ...] = (
        ("top-1", "accuracy_last"), ("top-5", "accuracy_top5_last"),
    )  # fmt: skip
    for row, config in configs.items():
        for (column, reads), value in zip(columns, _TABLE4[row], strict=True):
            cells.append(Cell(row, column, Run(config), reads, value))
    return Table(
        "table4", "ImageNet, 40 % uniform noise (Table 4)", tuple(cells),
        note=_OTHER_STUDENT if small else "",
    )  # fmt: skip


_TABLE5: dict[tuple[str, str], tuple[float | None, ...]] = {
    ("entire", "forgetting"): (0.590, 0.808, 0.666, 0.856),
    ("entire", "mentornet"): (0.625, 0.830, 0.708, 0.880),
    ("entire", "mentornet*"): (0.642, 0.848, 0.726, 0.889),
    ("mini", "full-model"): (0.585, 0.818, None, None),
    ("mini", "forgetting"): (0.562, 0.816, None, None),
    ("mini", "reed-soft"): (0.565, 0.827, None, None),
    ("mini", "self-paced"): (0.576, 0.822, None, None),
    ("mini", "mentornet"): (0.638, 0.858, None, None),
}
_COLUMNS: tuple[tuple[str, Reads], ...] = (
    ("ILSVRC12 top-1", "imagenet_accuracy_last"),
    ("ILSVRC12 top-5", "imagenet_accuracy_top5_last"),
    ("WebVision top-1", "accuracy_last"),
    ("WebVision top-5", "accuracy_top5_last"),
)


def table5(scale: Scale) -> Table:
    """WebVision, all of it and Mini; the two rows that the paper cites are nobody's run."""
    cells = []
    for (part, method), values in _TABLE5.items():
        run = _webvision(method, large_config(_DATA[part], scale))
        for (column, reads), value in zip(_COLUMNS, values, strict=True):
            cells.append(Cell(f"{part} {method}", column, run, reads, value))
    return Table(
        "table5", "WebVision (Table 5)", tuple(cells),
        note=f"mentornet* learns from verified labels, which {VERIFIED} must list."
        + (f" {_OTHER_STUDENT}" if scale == "small" else ""),
    )  # fmt: skip


_DATA = {"entire": "webvision", "mini": "webvision-mini"}


def _webvision(method: str, config: TrainConfig) -> Run:
    if method == "forgetting":
        return Run(_forgetting(config))
    if method == "mentornet":
        return Run(_mentornet(config))
    if method == "mentornet*":
        labels = replace(config.labels, verdicts=(VERIFIED,))
        reads = MethodConfig("mentornet-dd", (*AS_IN_THE_PAPER, "reads_label=true"))
        return Run(replace(config, labels=labels, method=reads))
    candidates = {
        "reed-soft": ("beta", 0.7, 0.8, 0.9, 0.95), "self-paced": ("percentile", 0.5, 0.6, 0.75),
    }  # fmt: skip
    if method not in candidates:
        return Run(config)
    key, *values = candidates[method]
    tuning = Tuning(tuple((f"{key}={value:g}",) for value in values))
    settings = ("burn_in=0",) if method == "self-paced" else ()  # the paper says of none
    return Run(replace(config, method=MethodConfig(method, settings)), tuning)
