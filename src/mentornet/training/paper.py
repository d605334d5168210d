"""What the paper says of its experiments (§5, App. E), as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mentornet.data import DATASETS

__all__ = ["CIFAR", "LARGE", "METHODS_OF_THE_PAPER", "PAPER", "TRIED", "Facts", "Tried", "Value"]

Value = float | str | tuple[float, ...] | None

CIFAR = ("cifar10", "cifar100")
LARGE = ("imagenet", "webvision", "webvision-mini")
METHODS_OF_THE_PAPER = (
    "full-model", "forgetting", "self-paced", "focal", "reed-soft", "reed-hard", "goldberger",
    "spade", "mentornet", "mentornet-pd", "mentornet-dd",
)  # fmt: skip

_WEIGHTED = ("spade", "mentornet", "mentornet-pd", "mentornet-dd")
_DD = ("mentornet-dd",)
_OURS = "ours, off"
_AUTHORS = "not stated, the authors' code"
_AS_IMAGENET = "not stated, as ImageNet"


@dataclass(frozen=True)
class Facts:
    """What one section says, and of which data, students and methods it says it.

    Attributes:
        section: where the paper says it, or why it holds though the paper does not say it.
        values: the value of each setting, as `group.name` of the config or as `method.name` of the
            method's own settings. None if the paper leaves it to something else.
        data: the datasets that it is about; empty for all.
        students: the students that it is about; empty for all.
        methods: the methods that it is about; empty for all.
        transfer: whether it is about a mentor that was learned in another run, or in this one;
            None for both.
    """

    section: str
    values: Mapping[str, Value] = field(hash=False)
    data: tuple[str, ...] = ()
    students: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    transfer: bool | None = None


def _every_ten_epochs(data: str, steps: int) -> tuple[float, ...]:
    """Return the shares of training after each ten epochs in batches of 32."""
    ten = 10 * DATASETS[data].count / 32 / steps
    return tuple(round(ten * time, 6) for time in (1, 2) if ten * time < 1)


PAPER: tuple[Facts, ...] = (
    Facts(
        "App. E.1",
        {
            "student.student": "resnet101", "student.dropout": 0.0, "optimiser.steps": 39_000,
            "optimiser.batch_size": 128, "optimiser.learning_rate": 0.1,
            "optimiser.schedule": "steps",
            "optimiser.drops": (19_500 / 39_000, 25_000 / 39_000, 30_000 / 39_000),
            "optimiser.warm_up": 0.0, "optimiser.momentum": 0.9, "optimiser.nesterov": False,
            "optimiser.weight_decay": 2e-4, "optimiser.augment": True, "optimiser.padding": 4,
        },
        data=CIFAR,
    ),
    Facts(
        "App. E.1",
        {
            "student.student": "inception", "student.dropout": 0.5, "optimiser.steps": 120_000,
            "optimiser.drops": (78_000 / 120_000,), "optimiser.weight_decay": 4e-3,
        },
        data=CIFAR,
        students=("inception",),
    ),
    Facts(
        _AS_IMAGENET,
        {
            "student.student": "inception-resnet-v2", "student.dropout": 0.2,
            "optimiser.weight_decay": 4e-5,
        },
        data=CIFAR,
        students=("inception-resnet-v2",),
    ),
    Facts(
        "App. E.1",
        {
            "files.image_size": 299, "student.student": "inception-resnet-v2",
            "student.dropout": 0.2, "optimiser.steps": 1_000_000, "optimiser.batch_size": 32,
            "optimiser.learning_rate": 0.05, "optimiser.schedule": "steps",
            "optimiser.drops": _every_ten_epochs("imagenet", 1_000_000),
            "optimiser.warm_up": 0.0, "optimiser.momentum": 0.9, "optimiser.nesterov": False,
            "optimiser.weight_decay": 4e-5, "optimiser.augment": True, "optimiser.padding": 0,
        },
        data=("imagenet",),
    ),
    Facts("§5.2", {"student.student": "inception-resnet-v2"}, data=LARGE[1:]),
    Facts(
        _AS_IMAGENET,
        {
            "files.image_size": 299, "student.dropout": 0.2, "optimiser.batch_size": 32,
            "optimiser.learning_rate": 0.05, "optimiser.schedule": "steps",
            "optimiser.warm_up": 0.0, "optimiser.momentum": 0.9, "optimiser.nesterov": False,
            "optimiser.weight_decay": 4e-5, "optimiser.augment": True, "optimiser.padding": 0,
        },
        data=LARGE[1:],
    ),
    Facts(
        _AS_IMAGENET,
        {
            "optimiser.steps": 1_000_000,
            "optimiser.drops": _every_ten_epochs("webvision", 1_000_000),
        },
        data=("webvision",),
    ),
    Facts(
        "not stated, three times ten epochs",
        {"optimiser.epochs": 30, "optimiser.drops": (1 / 3, 2 / 3)},
        data=("webvision-mini",),
    ),
    Facts(_AUTHORS, {"optimiser.decayed": "weights"}),
    Facts("App. E.3", {"method.percentile": 0.75, "method.decay": 0.95}, methods=_WEIGHTED),
    Facts("§3.1, App. E.3", {"method.burn_in": 0.2}, methods=_WEIGHTED),
    Facts(_AUTHORS, {"method.burn_in_drop": 0.5}, methods=_WEIGHTED),
    Facts(
        _OURS,
        {
            "method.drop": 0.0, "method.smoothing": 0.0, "method.sharpness": 0.0,
            "method.decided_by": 1.0,
        },
        methods=_WEIGHTED,
    ),
    Facts("§3.1", {"method.history": 1, "method.teaches_verified": False}, methods=_DD),
    Facts(
        _OURS,
        {"method.fallback": False, "method.held_out": 0.0, "method.mentor_classes": 0},
        methods=_DD,
    ),
    Facts("App. E.3", {"method.updates": (0.21, 0.75)}, methods=_DD, transfer=False),
    Facts("§3.1", {"method.reads_label": True}, methods=_DD, transfer=False),
    Facts("§5.1", {"labels.clean_count": 5_000}, data=("cifar10",), methods=_DD, transfer=False),
    Facts("App. E.3", {"method.reads_label": False}, methods=_DD, transfer=True),
    Facts(
        "App. E.2",
        {"method.percentile": 0.75, "method.growth": 0.2, "method.threshold": "rises"},
        methods=("self-paced",),
    ),
    Facts(_OURS, {"method.burn_in": 0.0}, methods=("self-paced",)),
    Facts("App. E.2", {"student.dropout": None}, methods=("forgetting",)),
    Facts("App. E.1", {"method.dropout": 0.8}, data=LARGE, methods=("forgetting",)),
)  # fmt: skip
"""The paper's settings. Where two say something of a setting, the later one counts."""


@dataclass(frozen=True)
class Tried:
    """The values of a setting that the paper tunes over.

    Attributes:
        setting: the method's setting.
        values: what is tried.
        section: where the paper says so.
    """

    setting: str
    values: tuple[float, ...]
    section: str


_PERCENTILES = Tried(
    "percentile", (0.3, 0.45, 0.6, 0.75), "§5.1, by cross-validation; the values are ours"
)

TRIED: dict[str, Tried] = {
    "forgetting": Tried(
        "dropout", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), "App. E.2, read as keeping 0.9 to 0.2"
    ),
    "self-paced": Tried("percentile", (0.5, 0.6, 0.75), "App. E.2"),
    "focal": Tried("gamma", (1, 2, 3), "App. E.2"),
    "reed-soft": Tried("beta", (0.7, 0.8, 0.9, 0.95), "App. E.2"),
    "reed-hard": Tried("beta", (0.7, 0.8, 0.9, 0.95), "App. E.2"),
    "spade": _PERCENTILES,
    "mentornet-pd": _PERCENTILES,
    "mentornet-dd": _PERCENTILES,
}
"""What is tuned, by method."""
