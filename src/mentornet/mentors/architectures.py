"""The registry of mentor architectures."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mentornet.mentors.batch_lstm import BatchLSTMMentor
from mentornet.mentors.bilstm import BiLSTMMentor
from mentornet.mentors.cnn import CNNMentor
from mentornet.mentors.logistic import LogisticMentor
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.mlp import MLPMentor
from mentornet.names import check_keys, pick

__all__ = ["ARCHITECTURES", "make_mentor"]

ARCHITECTURES: dict[str, type[Mentor]] = {
    mentor.name: mentor
    for mentor in (LogisticMentor, MLPMentor, CNNMentor, BatchLSTMMentor, BiLSTMMentor)
}
"""The architectures by name, in the order of the columns of the table in App. D."""


def make_mentor(name: str, *, seed: int = 0, **sizes: Any) -> Mentor:
    """Return a new mentor of the architecture called `name`, with the sizes of its config.

    >>> make_mentor("bilstm", history=10).num_parameters
    2141
    """
    kind = pick(ARCHITECTURES, name, "architecture")
    known = {field.name for field in fields(kind.config_type)}
    check_keys(sizes, known, f"{name} has no size")
    return kind(kind.config_type(**sizes), seed=seed)
