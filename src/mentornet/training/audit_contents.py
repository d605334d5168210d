"""What the page of a run's audit shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mentornet.audit import Contents, Curve, Fact, Pictures, Samples, Surface
from mentornet.audit.ranking import Ranking
from mentornet.config import read_config
from mentornet.criterion import apply_rule
from mentornet.data import Images
from mentornet.data.fetching import Fetcher, default_workers
from mentornet.data.streamed import Streamed
from mentornet.features import MentorFeatures
from mentornet.mentors import load_mentor
from mentornet.training.batches import eval_batches
from mentornet.training.run_folder import RunFolder

__all__ = ["contents_of"]

_CURVES = {
    "test_accuracy": "accuracy on test images",
    "train_accuracy": "training images predicted as labelled",
    "mean_weight": "mean weight v",
    "weight_auroc": "weights tell wrong labels (AUROC)",
}
_THUMBNAIL = 96  # pixels, of images that are streamed


def contents_of(
    folder: RunFolder,
    ranking: Ranking,
    rows: list[dict[str, Any]],
    images: Images | None,
    notes: list[str],
) -> Contents:
    """The page's contents.

    Args:
        folder: of the run.
        ranking: the verdict on its labels.
        rows: its metrics, one an epoch.
        images: the training images, where they are still there.
        notes: what the reader should hear.
    """
    evidence = ranking.evidence
    samples = Samples(
        index=evidence.index.astype(np.int64),
        given_label=evidence.given_label.astype(np.int64),
        suggested_label=evidence.suggested_label.astype(np.int64),
        suggested_probability=evidence.support,
        quality=ranking.quality,
        is_issue=ranking.is_issue,
        is_ambiguous=ranking.is_ambiguous,
        mean_weight=evidence.mean_weight,
        trajectory=evidence.trajectory,
        name=evidence.path,
        true_label=None if evidence.true_label is None else evidence.true_label.astype(np.int64),
    )
    curves = [
        Curve(title, np.array([row.get(name, np.nan) for row in rows], np.float64))
        for name, title in _CURVES.items()
        if name in rows[-1]
    ]
    config = read_config(folder.config)
    return Contents(
        title=f"Labels of {config.data}",
        class_names=ranking.classes or (),
        samples=samples,
        facts=_facts(ranking),
        notes=tuple(notes),
        pictures=None if images is None else _pictures(images),
        curves=tuple(curves),
        surfaces=tuple(_surfaces(folder)),
        footer=f"{config.method.method}, {len(rows)} epochs, seed {config.seed}",
    )


def _facts(ranking: Ranking) -> tuple[Fact, ...]:
    count, wrong = len(ranking.quality), ranking.wrong
    found = int(ranking.is_issue.sum())
    facts = [
        Fact("labels", f"{count:,}", "samples that were trained on"),
        Fact("suspect", f"{found:,}", "labels that are probably wrong"),
        Fact(
            "wrong in all, estimated", f"{wrong.count:,}",
            f"plausible are {wrong.low:,} to {wrong.high:,}",
        ),
        Fact(
            "ambiguous", f"{int(ranking.is_ambiguous.sum()):,}",
            "two labels are nearly tied, or the student came to agree",
        ),
    ]  # fmt: skip
    truth = ranking.evidence.true_label
    if truth is not None:
        right = truth != ranking.evidence.given_label
        hits = int((ranking.is_issue & right).sum())
        facts.append(
            Fact(
                "really wrong", f"{int(right.sum()):,}",
                f"of the suspects {hits:,}: the run knows the true labels",
            )
        )  # fmt: skip
    return tuple(facts)


def _pictures(images: Images) -> Pictures:
    source = images.source
    if not isinstance(source, Streamed):
        held = source
        return lambda index: held[torch.from_numpy(index)].numpy()
    streamed = source
    fetcher = Fetcher(default_workers(), skip_bad=True)

    def seen(index: NDArray[np.int64]) -> NDArray[np.uint8]:
        part = streamed[torch.from_numpy(index)]
        part.side = _THUMBNAIL
        views = torch.cat(list(eval_batches(part, fetcher=fetcher)))
        return ((views + 1) * 127.5).round().clamp(0, 255).byte().numpy()

    return seen


def _surfaces(folder: RunFolder) -> list[Surface]:
    """The weight that each learned mentor gives over loss and difference."""
    if not folder.mentors.is_dir():
        return []
    losses, differences = torch.linspace(0, 6, 31), torch.linspace(-3, 3, 31)
    grid = torch.cartesian_prod(differences, losses)
    found = []
    for path in sorted(folder.mentors.iterdir(), key=_number):
        if not (path / "config.json").is_file():
            continue
        mentor = load_mentor(path)
        percent = int(path.name.rpartition("-")[2]) if "-at-" in path.name else 99
        features = _features(grid[:, 1], grid[:, 0], mentor.config.history, percent)
        with torch.no_grad():
            weight = apply_rule(mentor, features).view(31, 31).numpy()
        title = f"at {percent} %"
        found.append(Surface(title, losses.numpy(), differences.numpy(), weight))
    return found


def _features(
    loss: torch.Tensor, difference: torch.Tensor, history: int, epoch: int
) -> MentorFeatures:
    """A sample whose last losses were all the same."""
    label = torch.zeros(len(loss), dtype=torch.long)
    return MentorFeatures(
        loss[:, None].expand(-1, history).contiguous(),
        difference[:, None].expand(-1, history).contiguous(),
        label,
        torch.full_like(label, epoch),
    )


def _number(path: Path) -> tuple[int, str]:
    first = path.name.partition("-")[0]
    return (int(first) if first.isdecimal() else 0, path.name)
