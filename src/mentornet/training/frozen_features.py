"""Features of a frozen network, which are computed once, so that its last layer trains in seconds.

They are also kept in a cache folder, `mentornet/features` in XDG_CACHE_HOME or else in ~/.cache, so
that the next run on the same images begins at once. The name of a file there is a digest of the
network, of how images are prepared, and of the samples. Any of these files may be deleted.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from mentornet.data import Samples
from mentornet.data.sets.places import cache_folder
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.data.stream.streamed import Streamed
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.files import read_bytes, write_bytes
from mentornet.students import find_student, pretrained_student
from mentornet.training.batches import eval_batches
from mentornet.training.observer import Observer
from mentornet.training.preparation import Prepared

__all__ = ["on_features"]

_LARGEST = 1 << 31  # bytes of features that are kept for the next run


def on_features(
    prepared: Prepared, device: torch.device, processes: Processes, observer: Observer
) -> Prepared:
    """Return the same run with the features of its frozen student in place of images.

    Args:
        prepared: the data, the config and the method.
        device: the device that computes the features.
        processes: the first of them computes the features, and the others read them.
        observer: is told how far the computation is.
    """
    kind, preprocessing = prepared.config.student.student, prepared.preprocessing
    assert kind is not None
    assert preprocessing is not None
    whole = pretrained_student(
        find_student(kind), preprocessing, classes=len(prepared.train.classes), frozen=True,
        seed=prepared.config.seed, name=f"student {kind!r}", sizes=prepared.config.student.sizes,
    )  # fmt: skip
    body = whole.body.to(device)
    features = _Features(body, f"{preprocessing}", prepared, device, observer)

    def seen(samples: Samples) -> Samples:
        return replace(samples, inputs=features.of(samples))

    def every() -> Prepared:
        return replace(
            prepared, train=seen(prepared.train), test=seen(prepared.test),
            validation=None if prepared.validation is None else seen(prepared.validation),
            further={name: seen(part) for name, part in prepared.further.items()},
            body=body, preprocessing=None, origin=prepared,
        )  # fmt: skip

    found = every() if processes.first else None
    processes.wait()
    return found or every()


class _Features:
    """Computes the features of samples, unless they are in the cache."""

    def __init__(
        self, body: nn.Module, about: str, prepared: Prepared, device: torch.device,
        observer: Observer,
    ) -> None:  # fmt: skip
        self.body, self.prepare, self.device = body, prepared.preprocessing, device
        self.skip_bad, self.observer = prepared.config.files.skip_bad, observer
        workers = prepared.config.machine.workers
        self.workers = default_workers() if workers is None else workers
        content = hashlib.sha256(about.encode())
        for name, part in body.state_dict().items():
            content.update(name.encode())
            content.update(part.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
        self.digest = content

    def of(self, samples: Samples) -> Tensor:
        """Return the features, `(N, D)`."""
        content = self.digest.copy()
        inputs = samples.inputs
        if isinstance(inputs, Streamed):
            content.update(inputs.fingerprint())
        else:
            content.update(inputs.contiguous().numpy().data)
        file = cache_folder().parent / "features" / f"{content.hexdigest()}.safetensors"
        found = _read(file, len(samples))
        if found is None:
            found = self._computed(samples)
            if found.numel() * 4 <= _LARGEST:
                _write(file, found)
        return found

    @torch.no_grad()
    def _computed(self, samples: Samples) -> Tensor:
        fetcher = Fetcher(self.workers, skip_bad=self.skip_bad) if samples.streamed else None
        done, parts = 0, []
        for inputs in eval_batches(samples.inputs, self.device, fetcher, prepare=self.prepare):
            parts.append(self.body(inputs).float().cpu())
            done += len(inputs)
            self.observer.preparing("computing features", done, len(samples))
        features = torch.cat(parts)
        if not features.isfinite().all():
            raise MentorNetError("the pretrained student makes features that are not finite")
        return features


def _read(file: Path, count: int) -> Tensor | None:
    """Return the features of a file; None if it is missing or damaged."""
    if not file.is_file():
        return None
    try:
        features = load(read_bytes(file, _LARGEST + (1 << 16)))["features"]
    except (SafetensorError, KeyError, MentorNetError):
        return None
    fits = features.ndim == 2 and len(features) == count and features.dtype == torch.float32
    return features if fits and features.isfinite().all() else None


def _write(file: Path, features: Tensor) -> None:
    """Keep the features; a full disk is no reason to stop a run."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, save({"features": features.contiguous()}))
    except (OSError, MentorNetError):
        pass
