"""Methods, one per file: each says what the loss, the target and the weight of a sample are."""

from __future__ import annotations

import inspect
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
from mentornet.methods.mentornet_early import MentorNetEarly
from mentornet.methods.mentornet_features import MentorNetFeatures
from mentornet.methods.mentornet_posterior import MentorNetPosterior
from mentornet.methods.method import Method, Needs, Setting, Task
from mentornet.methods.oracle import Oracle
from mentornet.methods.reed import ReedHard, ReedSoft, reed_hard, reed_soft
from mentornet.methods.robust_losses import GeneralisedCrossEntropy, SymmetricCrossEntropy
from mentornet.methods.self_paced import SelfPacedMethod
from mentornet.methods.settings import in_words
from mentornet.methods.supervision import Outputs, Seen, Supervision, Taught
from mentornet.methods.verified import VerifiedMethod
from mentornet.names import check_keys, pick
from mentornet.plugins import load_factory

__all__ = [
    "METHODS",
    "Method",
    "Needs",
    "NoiseLayer",
    "Outputs",
    "Seen",
    "Setting",
    "Supervision",
    "Task",
    "Taught",
    "focal_loss",
    "make_method",
    "reed_hard",
    "reed_soft",
    "settings_in_use",
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
        MentorNetPosterior,
        MentorNetFeatures,
        MentorNetEarly,
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
    """Return the method called `name`, with `settings` in place of its defaults.

    A name `module:factory` is a method of the user's own: the factory is called with the settings
    and returns a `Method`.

    >>> make_method("reed-soft", beta=0.9)
    ReedSoft(beta=0.9)
    """
    if ":" in name:
        return _own_method(name, settings)
    kind = pick(METHODS, name, "method")
    check_keys(settings, [field.name for field in fields(kind)], f"{name} has no setting")
    types = get_type_hints(kind)
    return kind(**{key: _as(types[key], key, value) for key, value in settings.items()})


def settings_in_use(name: str, method: Method, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return every setting of a method as words that make it again.

    Of a method of the user's own, which a function makes, only the words that were given are known.

    Args:
        name: the name that the method was made by.
        method: the method.
        given: the words that it was made with.

    >>> settings_in_use("reed-soft", make_method("reed-soft"), ())
    ('beta=0.95',)
    """
    if ":" in name and load_factory(name, "method") is not type(method):
        return given
    return in_words(method.settings)


def _own_method(name: str, settings: dict[str, Setting]) -> Method:
    factory = load_factory(name, "method")
    try:
        inspect.signature(factory).bind(**settings)
    except TypeError as error:
        raise MentorNetError(
            f"method {name!r} cannot be made with these settings: {error}"
        ) from None
    try:
        method = factory(**settings)
    except Exception as error:
        raise MentorNetError(
            f"method {name!r} cannot be made: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(method, Method):
        raise MentorNetError(
            f"method {name!r} must return a mentornet.methods.Method, got {type(method).__name__}"
        )
    return method


def _as(kind: object, key: str, value: Setting) -> Setting:
    """Return the value in the type of the setting, or raise an error that names the type."""
    if kind is bool and isinstance(value, bool):
        return value
    if kind is str and isinstance(value, str):
        return value
    if value == "" and kind not in (bool, int, float):
        return ()
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
