"""Tables 4 and 5 of the paper: ImageNet at 40 % noise, and WebVision.

They need those datasets, in the folder that MENTORNET_DATA names or under `imagenet` and
`webvision` there; and, to be done in a lifetime, GPUs. What the paper does not say is chosen here:
the mentors are those that DD learns on CIFAR-10 at 40 % noise with the same student, as the labels
of both were not verified, and WebVision is trained for as many steps as ImageNet, Mini for 30
epochs.
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
from mentornet.experiments.paper_runs import each, paper_run, run_for, small_config, transferred
from mentornet.experiments.runs import Run
from mentornet.training.paper import TRIED
from mentornet.training.presets import with_preset

__all__ = ["large_config", "table4", "table5"]

_STEPS_NOREG = 500_000
_SMALL_IMAGES = 10_000
_OTHER_STUDENT = "The paper's numbers are those of inception-resnet-v2 on all images."
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
    labels = LabelsConfig(noise=None if noise is None else f"uniform:{noise}")
    tested = None if data == "imagenet" else "imagenet"
    if scale == "paper":
        files = FilesConfig(imagenet=tested)
        plain = MethodConfig("full-model")
        return with_preset(TrainConfig(data, 0, files, labels, method=plain, preset="paper"))
    return TrainConfig(
        data,
        files=FilesConfig(image_size=96, imagenet=tested, limit=_SMALL_IMAGES),
        labels=labels,
        student=StudentConfig("fast"),
        method=MethodConfig("full-model"),
        optimiser=OptimiserConfig(
            epochs=10, batch_size=32, learning_rate=0.05, schedule="steps", warm_up=0.0,
            drops=(0.5,), momentum=0.9, nesterov=False, weight_decay=4e-5, augment=True,
        ),
    )  # fmt: skip


def _with_method(config: TrainConfig, method: str, *settings: str) -> TrainConfig:
    """The same training under another method; at paper scale with its settings of the preset."""
    return with_preset(replace(config, method=MethodConfig(method, settings)))


def _forgetting(config: TrainConfig) -> TrainConfig:
    """The student drops all but a fifth of its last features, the best found on CIFAR-100."""
    plain = replace(config, student=replace(config.student, dropout=None))
    return _with_method(plain, "forgetting", "dropout=0.8")


def _mentornet(config: TrainConfig) -> Run:
    """DD with the mentors that it learns on CIFAR-10 with the same student."""
    student = config.student.student or ""
    if config.preset is not None:
        learned = paper_run("mentornet-dd", "cifar10", student, _NOISE)
    else:
        small = replace(small_config("cifar10", _NOISE), student=config.student)
        learned = run_for("mentornet-dd", small)
    return transferred(_with_method(config, "mentornet-dd"), learned)


_NOISE = "0.4"
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
    shorter = full.optimiser
    if not small:
        drop = 10 * DATASETS["imagenet"].count / 32 / _STEPS_NOREG
        shorter = replace(shorter, steps=_STEPS_NOREG, drops=(round(drop, 6),))
    noreg = replace(
        full,
        student=replace(full.student, dropout=None if small else 0.0),
        optimiser=replace(shorter, weight_decay=0.0, augment=False),
    )
    decayed = replace(noreg.optimiser, weight_decay=full.optimiser.weight_decay)
    augmented = replace(noreg.optimiser, augment=True)
    runs = {
        "noreg": Run(noreg),
        "noreg + weight decay": Run(replace(noreg, optimiser=decayed)),
        "noreg + dropout": Run(replace(noreg, student=replace(full.student, dropout=0.2))),
        "noreg + augmentation": Run(replace(noreg, optimiser=augmented)),
        "noreg + mentornet": _mentornet(noreg),
        "full-model": Run(full),
        "forgetting": Run(_forgetting(full)),
        "mentornet": _mentornet(full),
    }
    cells = []
    columns: tuple[tuple[str, Reads], ...] = (
        ("top-1", "accuracy_last"), ("top-5", "accuracy_top5_last"),
    )  # fmt: skip
    for row, run in runs.items():
        for (column, reads), value in zip(columns, _TABLE4[row], strict=True):
            cells.append(Cell(row, column, run, reads, value))
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
        return _mentornet(config)
    if method == "mentornet*":
        labels = replace(config.labels, verdicts=(VERIFIED,))
        return Run(_with_method(replace(config, labels=labels), "mentornet-dd"))
    tried = TRIED.get(method)
    if tried is None:
        return Run(config)
    tuning = Tuning(each(tried.setting, *tried.values))
    return Run(_with_method(config, method), tuning)
