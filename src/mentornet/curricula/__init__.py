"""Predefined curricula: the weight v*(z), its penalty G, and the robust loss that it implies."""

from __future__ import annotations

from mentornet.curricula.curriculum import Curriculum, Direction
from mentornet.curricula.focal import Focal
from mentornet.curricula.hard_negative_mining import HardNegativeMining
from mentornet.curricula.huber import Huber
from mentornet.curricula.implied_loss import implied_loss
from mentornet.curricula.linear import Linear
from mentornet.curricula.log_sum import LogSum
from mentornet.curricula.lorentzian import Lorentzian
from mentornet.curricula.pd import MentorNetPD
from mentornet.curricula.prediction_variance import PredictionVariance
from mentornet.curricula.self_paced import SelfPaced
from mentornet.curricula.temporal_mixture import TemporalMixture
from mentornet.curricula.uniform import Uniform
from mentornet.errors import MentorNetError
from mentornet.names import check_keys, pick

__all__ = [
    "CURRICULA",
    "Curriculum",
    "Direction",
    "Focal",
    "HardNegativeMining",
    "Huber",
    "Linear",
    "LogSum",
    "Lorentzian",
    "MentorNetPD",
    "PredictionVariance",
    "SelfPaced",
    "TemporalMixture",
    "Uniform",
    "implied_loss",
    "make_curriculum",
]

CURRICULA: dict[str, type[Curriculum]] = {
    curriculum.name: curriculum
    for curriculum in (
        Uniform,
        SelfPaced,
        Linear,
        MentorNetPD,
        Focal,
        HardNegativeMining,
        PredictionVariance,
        TemporalMixture,
        Huber,
        LogSum,
        Lorentzian,
    )
}


def make_curriculum(name: str, **settings: float | bool) -> Curriculum:
    """Return the curriculum called `name`, with `settings` in place of its defaults.

    >>> make_curriculum("linear", lambda2=2.0)
    Linear(lambda1=1.0, lambda2=2.0, relative=False)
    """
    kind = pick(CURRICULA, name, "curriculum")
    defaults = kind().settings
    check_keys(settings, defaults, f"{name} has no setting")
    for key, value in settings.items():
        _check_type(key, value, defaults[key])
    return kind(**settings)


def _check_type(key: str, value: object, default: float | bool) -> None:
    """Raise if the value is not of its default's type: boolean, whole number or number."""
    if isinstance(default, bool):
        fits, expected = isinstance(value, bool), "true or false"
    elif isinstance(default, int):
        fits, expected = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    else:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        expected = "a number"
    if not fits:
        raise MentorNetError(f"{key} must be {expected}, got {value!r}")
