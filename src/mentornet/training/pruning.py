"""Cross-validated predictions, and which samples confident learning keeps by them."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mentornet.config import MethodConfig
from mentornet.data.stream.streamed import Streamed
from mentornet.errors import MentorNetError
from mentornet.files import write_bytes
from mentornet.methods import make_method
from mentornet.randomness import generator
from mentornet.training.observer import Observer
from mentornet.training.preparation import Prepared
from mentornet.training.trainer import Trainer

__all__ = ["cross_validated", "prune", "unpruned"]

_FOLDS = 13  # stream of randomness


def unpruned(prepared: Prepared) -> Prepared:
    """The same run with every sample kept, to see whether it can be made at all."""
    _find_label_issues()
    return replace(prepared, kept=torch.ones(len(prepared.train), dtype=torch.bool))


def prune(prepared: Prepared, folder: Path | None, observer: Observer) -> Prepared:
    """The same run, told which samples cleanlab would keep.

    Args:
        prepared: of a method that prunes.
        folder: where the predictions of each fold are kept, so that a killed run goes on; None to
            keep them nowhere.
        observer: told of each fold.
    """
    find_label_issues = _find_label_issues()
    folds = prepared.method.prunes_by
    probabilities, seconds = cross_validated(prepared, folds, folder, observer)
    given = prepared.train.given_label.numpy()
    issues = find_label_issues(given, probabilities.double().numpy(), n_jobs=1)
    observer.note(f"cleanlab leaves out {int(issues.sum())} of {len(issues)} samples")
    return replace(prepared, kept=torch.from_numpy(~issues), seconds_before=seconds)


def _find_label_issues() -> Any:
    try:
        from cleanlab.filter import find_label_issues
    except ImportError:
        raise MentorNetError(
            "cleanlab-prune needs cleanlab: pip install 'mentornet[comparators]'"
        ) from None
    return find_label_issues


def cross_validated(
    prepared: Prepared, folds: int, folder: Path | None, observer: Observer
) -> tuple[Tensor, float]:
    """P(class | image) by students that have not seen the image, `(N, K)`, and the seconds it took.

    Args:
        prepared: whose data and settings they are trained with, plainly.
        folds: each sample is in one, and judged by the student trained on the others.
        folder: where the predictions are kept.
        observer: told of each fold.
    """
    train, seed = prepared.train, prepared.config.seed
    order = torch.randperm(len(train), generator=generator(seed, _FOLDS))
    found, seconds = torch.zeros(len(train), len(train.classes)), 0.0
    for place, held in enumerate(order.tensor_split(folds)):
        path = None if folder is None else folder / f"fold-{place + 1}-of-{folds}.npz"
        if path is not None and path.exists():
            with np.load(path, allow_pickle=False) as kept:
                found[held] = torch.from_numpy(kept["probabilities"])
                seconds += float(kept["seconds"])
            continue
        started = time.perf_counter()
        observer.note(f"cross-validation: fold {place + 1} of {folds}")
        stay = torch.ones(len(train), dtype=torch.bool)
        stay[held] = False
        trainer = Trainer(_plain(prepared, stay))
        for epoch in range(trainer.epochs):
            trainer.run_epoch(epoch)
        found[held] = predicted(trainer, train.inputs[held])
        took = time.perf_counter() - started
        seconds += took
        if path is not None:
            _save(path, found[held], took)
    return found, seconds


@torch.no_grad()
def predicted(trainer: Trainer, pixels: Tensor | Streamed) -> Tensor:
    """P(class | image) of the student as it is, `(N, K)`, on the CPU."""
    trainer.student.eval()
    parts = [
        trainer.student(images).float().softmax(1).cpu()
        for images in trainer.batches.judged(pixels)
    ]
    return torch.cat(parts)


def _plain(prepared: Prepared, stay: Tensor) -> Prepared:
    """Plain training on a part of the samples, as long as the method says."""
    optimiser, share = prepared.config.optimiser, prepared.method.prunes_in
    epochs, steps = (
        None if number is None else max(1, round(share * number))
        for number in (optimiser.epochs, optimiser.steps)
    )
    optimiser = replace(optimiser, epochs=epochs, steps=steps)
    config = replace(prepared.config, method=MethodConfig("full-model"), optimiser=optimiser)
    return replace(
        prepared, config=config, method=make_method("full-model"), verified=None,
        train=prepared.train.rows(stay.nonzero().flatten()),
    )  # fmt: skip


def _save(path: Path, probabilities: Tensor, seconds: float) -> None:
    content = io.BytesIO()
    np.savez(content, probabilities=probabilities.numpy(), seconds=np.array(seconds))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content.getvalue())
