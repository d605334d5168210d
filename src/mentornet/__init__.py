"""MentorNet learns which labels to trust while you train.

>>> import torch, mentornet
>>> mentor = mentornet.Mentor.from_pretrained("pd")
>>> losses = torch.tensor([0.2, 1.5, 6.0])
>>> mentor.weigh(mentornet.MentorFeatures.from_loss(losses, loss_level=1.0)).round(decimals=2)
tensor([1.0000, 0.5000, 0.0000])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mentornet.version import __version__

if TYPE_CHECKING:
    from mentornet.curricula import CURRICULA, Curriculum, implied_loss, make_curriculum
    from mentornet.errors import MentorNetError
    from mentornet.features import MentorFeatures
    from mentornet.mentors import (
        ARCHITECTURES,
        FitConfig,
        FitRecord,
        Mentor,
        MentorSeries,
        enumerate_features,
        fit_curriculum,
        fit_labels,
        make_mentor,
    )
    from mentornet.weighting import (
        EarlyConfig,
        EarlyLoss,
        MentorLoss,
        NoiseEstimate,
        WeightDecay,
        scale_weight_decay,
    )

__all__ = [
    "ARCHITECTURES",
    "CURRICULA",
    "Curriculum",
    "EarlyConfig",
    "EarlyLoss",
    "FitConfig",
    "FitRecord",
    "Mentor",
    "MentorFeatures",
    "MentorLoss",
    "MentorNetError",
    "MentorSeries",
    "NoiseEstimate",
    "WeightDecay",
    "__version__",
    "enumerate_features",
    "fit_curriculum",
    "fit_labels",
    "implied_loss",
    "make_curriculum",
    "make_mentor",
    "scale_weight_decay",
]

_ROOMS = ("curricula", "errors", "features", "mentors", "weighting")
"""Where the names above are. A name is imported when it is first used, because these rooms import
torch, which takes a second that `mentornet --help` and `--version` need not wait."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"mentornet.{name}")
    if name in __all__:
        for room in map(import_module, (f"mentornet.{room}" for room in _ROOMS)):
            if name in room.__all__:
                globals()[name] = found = getattr(room, name)
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
