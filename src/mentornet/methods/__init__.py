"""One file a row of the paper's tables: what it does to the loss and the weight of a sample."""

from __future__ import annotations

from dataclasses import fields
from typing import get_type_hints

from mentornet.errors import MentorNetError
from mentornet.methods.co_teaching import CoTeaching
from mentornet.methods.early_learning import EarlyLearning
from mentornet.methods.explicit_spade import ExplicitSpade
from mentornet.methods.focal import FocalMethod, focal_loss
from mentornet.methods.full_model import Forgetting, FullModel
from mentornet.methods.goldberger import Goldberger, NoiseLayer
from mentornet.methods.mentor_bootstrap import MentorBootstrap
from mentornet.methods.mentormix import MentorMix
from mentornet.methods.mentornet import MentorNet, MentorNetPD
from mentornet.methods.mentornet_auto import MentorNetAuto
from mentornet.methods.mentornet_dd import MentorNetDD
from mentornet.methods.method import Method, Setting, Step, Supervision, Task
from mentornet.methods.oracle import Oracle
from mentornet.methods.reed import ReedHard, ReedSoft, reed_hard, reed_soft
from mentornet.methods.robust_losses import GeneralisedCrossEntropy, SymmetricCrossEntropy
from mentornet.methods.self_paced import SelfPacedMethod
from mentornet.methods.verified import VerifiedMethod
from mentornet.names import check_keys, pick

__all__ = [
    "METHODS",
    "Method",
    "NoiseLayer",
    "Setting",
    "Step",
    "Supervision",
    "Task",
    "focal_loss",
    "make_method",
    "reed_hard",
    "reed_soft",
]

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        FullModel,
        Forgetting,
        SelfPacedMethod,
        FocalMethod,
        ReedSoft,
        ReedHard,
        Goldberger,
        ExplicitSpade,
        MentorNet,
        MentorNetPD,
        MentorNetAuto,
        MentorNetDD,
        MentorBootstrap,
        GeneralisedCrossEntropy,
        SymmetricCrossEntropy,
        EarlyLearning,
        CoTeaching,
        MentorMix,
        VerifiedMethod,
        Oracle,
    )
}


def make_method(name: str, **settings: Setting) -> Method:
    """The method called `name`, with `settings` in place of its defaults.

    >>> make_method("reed-soft", beta=0.9)
    ReedSoft(beta=0.9)
    """
    kind = pick(METHODS, name, "method")
    check_keys(settings, [field.name for field in fields(kind)], f"{name} has no setting")
    types = get_type_hints(kind)
    return kind(**{key: _as(types[key], key, value) for key, value in settings.items()})


def _as(kind: object, key: str, value: Setting) -> Setting:
    """The value in the setting's own type, or an error that says what it must be."""
    if kind is bool and isinstance(value, bool):
        return value
    if kind is str and isinstance(value, str):
        return value
    if not isinstance(value, bool | str):
        if kind is float and not isinstance(value, tuple):
            return float(value)
        if kind is int and isinstance(value, int):
            return value
        if kind not in (bool, str, int, float):
            values = value if isinstance(value, tuple | list) else (value,)
            return tuple(float(part) for part in values)
    expected = {bool: "true or false", str: "a name", int: "a whole number", float: "a number"}
    what = expected.get(kind, "numbers with commas between them")  # type: ignore[call-overload]
    raise MentorNetError(f"{key} must be {what}, got {value!r}")
