"""Predefined curricula: v*(z), its G, and the robust loss it implies."""

from __future__ import annotations

from dataclasses import fields

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
from mentornet.names import did_you_mean, pick

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
    """The curriculum called `name`, with `settings` in place of its defaults.

    >>> make_curriculum("linear", lambda2=2.0)
    Linear(lambda1=1.0, lambda2=2.0, relative=False)
    """
    kind = pick(CURRICULA, name, "curriculum")
    known = {field.name for field in fields(kind)}
    for key in settings:
        if key not in known:
            raise MentorNetError(f"{name} has no setting {key!r}; {did_you_mean(key, known)}")
    return kind(**settings)
