"""Predict with a trained student; no mentor is needed any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from mentornet.config import TrainConfig, read_trusted
from mentornet.data.stream.fetching import Fetcher
from mentornet.data.stream.streamed import Streamed
from mentornet.errors import MentorNetError, cut
from mentornet.plugins import is_factory, load_factory
from mentornet.students import Preprocessing, find_student, make_from, pretrained_student
from mentornet.students.hugging_face import hugging_face
from mentornet.training.batches import eval_batches
from mentornet.training.run_folder import RunFolder
from mentornet.training.stored import check_finite

__all__ = ["load_student", "predict"]


def load_student(run: RunFolder, *, best: bool = False, trust_code: bool = False) -> nn.Module:
    """Load the student of a run: the last one, or the one of its best epoch.

    Args:
        run: the folder of the run.
        best: whether to load the one of the best epoch.
        trust_code: whether a student that the run's config names as `module:factory` may be
            imported, which runs its code.
    """
    if not run.config.is_file():
        raise MentorNetError(f"{run.path} is not a run: it has no {run.config.name}")
    chosen = read_trusted(run.config, trust_code=trust_code)
    path = run.best if best else run.last
    weights = run.read_weights(path)
    check_finite(weights, f"{path}")
    student = _empty_student(run, chosen)
    try:
        student.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(f"{error}".split())
        raise MentorNetError(
            f"{run.path} has the weights of another student: {cut(reason, 300)}"
        ) from None
    return student.eval().requires_grad_(False)


def _empty_student(run: RunFolder, config: TrainConfig) -> nn.Module:
    """Return the student of a run before its weights are loaded."""
    about, chosen = run.about(), config.student
    name, classes = chosen.student or "", len(about.classes)
    factory: Callable[..., object]
    if run.student.is_dir():  # what describes a network of Hugging Face transformers
        factory = hugging_face(run.student, weights=False)
    elif is_factory(name):
        factory = load_factory(name, "student", about.code)
    else:
        factory = find_student(name)
    preprocessing = getattr(factory, "preprocessing", None)
    if preprocessing is None:
        kind = f"student {name!r}"
        return make_from(factory, kind, channels=about.channels, classes=classes, **chosen.sizes)
    if config.files.image_size is not None and isinstance(preprocessing, Preprocessing):
        preprocessing = replace(preprocessing, size=config.files.image_size)
    return pretrained_student(
        factory, preprocessing, classes=classes, frozen=bool(chosen.freeze), name=name,
        sizes=chosen.sizes,
    )  # fmt: skip


@torch.no_grad()
def predict(
    student: nn.Module, pixels: Tensor | Streamed, *, fetcher: Fetcher | None = None
) -> Tensor:
    """Return the probabilities of the classes, `(N, K)`.

    Args:
        student: the trained network.
        pixels: the images, uint8 `(N, C, H, W)`, or where they are streamed from.
        fetcher: what decodes streamed images.
    """
    device = next(student.parameters()).device
    prepare = getattr(student, "preprocessing", None)
    inputs = eval_batches(pixels, device, fetcher, prepare=prepare)
    return torch.cat([student(images).float() for images in inputs]).softmax(1).cpu()
