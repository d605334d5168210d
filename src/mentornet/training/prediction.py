"""Predict with a trained student; no mentor is needed any more."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mentornet.config import read_trusted
from mentornet.data.stream.fetching import Fetcher
from mentornet.data.stream.streamed import Streamed
from mentornet.errors import MentorNetError, cut
from mentornet.students import make_student
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
    chosen = read_trusted(run.config, trust_code=trust_code).student
    about = run.about()
    path = run.best if best else run.last
    weights = run.read_weights(path)
    check_finite(weights, f"{path}")
    student = make_student(
        chosen.student or "",
        channels=about.channels,
        classes=len(about.classes),
        **chosen.sizes,
    )  # fmt: skip  (dropout, which a method may have set, has no weights)
    try:
        student.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(f"{error}".split())
        raise MentorNetError(
            f"{run.path} has the weights of another student: {cut(reason, 300)}"
        ) from None
    return student.eval().requires_grad_(False)


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
    logits = [student(images).float() for images in eval_batches(pixels, device, fetcher)]
    return torch.cat(logits).softmax(1).cpu()
