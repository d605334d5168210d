"""What is expected of a student, which may be code of the user's own."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from mentornet.errors import MentorNetError, first_line
from mentornet.randomness import seeded

__all__ = ["check_student", "initialised", "is_frozen"]


def is_frozen(student: nn.Module) -> bool:
    """Whether no parameter of the student is trained."""
    return not any(part.requires_grad for part in student.parameters())


def initialised(
    student: nn.Module,
    shape: tuple[int, ...],
    *,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    name: str = "the student",
) -> nn.Module:
    """Return the student after a look at two samples, if it has lazy layers, which need one.

    Args:
        student: the student.
        shape: the shape of the input of one sample.
        dtype: of the inputs.
        seed: the seed of the parameters that are made.
        name: what messages call it.
    """
    if not _is_lazy(student):
        return student
    with torch.no_grad(), seeded(seed):
        _logits(student.eval(), torch.zeros(2, *shape, dtype=dtype), name)
    if _is_lazy(student):
        raise MentorNetError(f"{name} has lazy layers that its forward does not use")
    return student.train()


def _is_lazy(student: nn.Module) -> bool:
    parts = (*student.parameters(), *student.buffers())
    return any(is_lazy(part) for part in parts)


def check_student(
    student: nn.Module,
    shape: tuple[int, ...],
    classes: int,
    batch_size: int = 2,
    *,
    dtype: torch.dtype = torch.float32,
    name: str = "the student",
) -> None:
    """Raise if the student does not return logits `(B, K)` for inputs of that shape.

    A copy of the student is called as in training and as in evaluation, so that the student itself
    does not change.

    Args:
        student: the student.
        shape: the shape of the input of one sample.
        classes: K.
        batch_size: B.
        dtype: of the inputs.
        name: what messages call it.
    """
    if not any(True for _ in student.parameters()):
        raise MentorNetError(f"{name} has no parameters, so there is nothing to train")
    try:
        twin = copy.deepcopy(student)
    except Exception as error:
        raise MentorNetError(
            f"{name} cannot be copied by copy.deepcopy, which it must: {_said(error)}"
        ) from error
    with seeded(0):
        logits = _logits(twin.train(), torch.zeros(batch_size, *shape, dtype=dtype), name)
        _check_logits(logits, (batch_size, classes), name)
        if not (logits.requires_grad or is_frozen(twin)):
            raise MentorNetError(
                f"the logits of {name} do not depend on its parameters; does its forward use "
                "no_grad or detach?"
            )
        with torch.no_grad():
            found = _logits(twin.eval(), torch.zeros(2, *shape, dtype=dtype), name)
        _check_logits(found, (2, classes), f"{name}, in evaluation,")


def _logits(student: nn.Module, inputs: torch.Tensor, name: str) -> torch.Tensor:
    try:
        logits: torch.Tensor = student(inputs)
    except Exception as error:
        raise MentorNetError(
            f"{name} cannot read a batch of {len(inputs)} {_words(inputs)} of shape "
            f"{tuple(inputs.shape[1:])}: {_said(error)}"
        ) from error
    return logits


def _words(inputs: torch.Tensor) -> str:
    if not inputs.is_floating_point():
        return "rows of tokens"
    return "images" if inputs.ndim == 4 else "vectors"


def _check_logits(logits: object, expected: tuple[int, int], name: str) -> None:
    found = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
    if found != expected:
        raise MentorNetError(f"{name} must make logits of shape (B, K) = {expected}, got {found}")
    assert isinstance(logits, torch.Tensor)
    if not logits.is_floating_point():
        raise MentorNetError(f"{name} must make logits that are floats, got {logits.dtype}")


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {first_line(error)}"
