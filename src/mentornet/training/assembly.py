"""Make the parts of a run before its first step: device, batches, student, optimiser."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from mentornet.config import MachineConfig
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.distributed import Processes, world_size
from mentornet.errors import MentorNetError
from mentornet.methods import Task
from mentornet.randomness import generator, seeded
from mentornet.students import (
    Head,
    Pair,
    Preprocessing,
    check_student,
    find_student,
    initialised,
    is_frozen,
    make_student,
    pretrained_student,
    synced,
)
from mentornet.students.synced_norm import SyncedBatchNorm2d
from mentornet.training.batches import (
    Batches,
    BatchSettings,
    InMemoryBatches,
    StreamedBatches,
    TensorBatches,
)
from mentornet.training.preparation import Prepared
from mentornet.training.run_folder import RunFolder

if TYPE_CHECKING:  # slow to import, and what only reads a run does not need it
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.ddp import DDPStrategy

__all__ = [
    "compiled",
    "fresh_student",
    "make_batches",
    "make_fabric",
    "task_of",
]

_MOST_FEATURES = 4096  # numbers of a sample that is read as a vector
_OTHER = 4  # stream of randomness
_SEEN_BEFORE = 2000  # number of images for the `prepare` of a student


def make_fabric(machine: MachineConfig, run: RunFolder | None) -> Fabric:
    """Return a Fabric with the device, the precision and the loggers of the config."""
    from lightning_fabric import Fabric

    precision: Any = "bf16-mixed" if machine.precision == "bf16" else "32-true"
    loggers: list[Any] = []
    if machine.tensorboard and run is not None:
        from lightning_fabric.loggers.tensorboard import TensorBoardLogger

        loggers.append(TensorBoardLogger(run.path, name="tensorboard", version=""))
    world = world_size()
    local = int(os.environ["LOCAL_WORLD_SIZE"]) if world > 1 else 1
    try:
        with _quiet("lightning_fabric"):
            fabric = Fabric(
                accelerator=machine.accelerator, devices=local, num_nodes=world // local,
                strategy=_shared_step() if world > 1 else "auto", precision=precision,
                loggers=loggers,
            )  # fmt: skip
        if world > 1:
            fabric.launch()
    except (ValueError, RuntimeError, ImportError) as error:
        raise MentorNetError(f"accelerator {machine.accelerator!r}: {error}") from None
    return fabric


@contextmanager
def _quiet(library: str) -> Iterator[None]:
    """Hide the messages of a library inside, except warnings and errors."""
    logger = logging.getLogger(library)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _shared_step() -> DDPStrategy:
    """Return DDP without broadcasts of buffers, which are equal in all processes already."""
    from lightning_fabric.strategies.ddp import DDPStrategy

    return DDPStrategy(broadcast_buffers=False, gradient_as_bucket_view=True)


def make_batches(prepared: Prepared, device: torch.device, processes: Processes) -> Batches:
    """Return the batches of the training samples, from memory or from files."""
    config, train = prepared.config, prepared.train
    optimiser, machine = config.optimiser, config.machine
    assert optimiser.batch_size is not None
    settings = BatchSettings(
        optimiser.batch_size, config.seed, device, machine.channels_last == "on", processes,
        second_view=prepared.method.needs.second_view, prepare=prepared.preprocessing,
    )  # fmt: skip
    if train.kind != "images":
        return TensorBatches(train, settings)
    if not train.streamed:
        padding = optimiser.padding if optimiser.augment else None
        return InMemoryBatches(train, settings, padding=padding)
    workers = default_workers() if machine.workers is None else machine.workers
    fetcher = Fetcher(workers, skip_bad=config.files.skip_bad)
    return StreamedBatches(train, settings, augmented=bool(optimiser.augment), fetcher=fetcher)


def task_of(prepared: Prepared, total_steps: int, device: torch.device) -> Task:
    """Return what the method knows of a run of so many steps."""
    train, verdicts = prepared.train, prepared.verdicts
    return Task(
        count=len(train), classes=len(train.classes), total_steps=total_steps,
        seed=prepared.config.seed, device=device,
        verdicts=None if verdicts is None else verdicts.to(device),
        is_correct=prepared.is_correct, features=_as_vectors(prepared, device),
        given_label=train.given_label.to(device),
    )  # fmt: skip


def _as_vectors(prepared: Prepared, device: torch.device) -> Tensor | None:
    """Return the samples as vectors, for a method that reads them; see `Needs.features`."""
    train = prepared.train
    if not prepared.method.needs.features:
        return None
    if train.streamed or train.kind == "tokens" or math.prod(train.shape) > _MOST_FEATURES:
        raise MentorNetError(
            f"{prepared.method.name} reads vectors of at most {_MOST_FEATURES:,} numbers; name a "
            "pretrained student and set freeze, so that it reads features"
        )
    return train.tensor.flatten(1).float().to(device)


def fresh_student(
    prepared: Prepared, shown: Callable[[int], Tensor], *, smallest_batch: int
) -> nn.Module:
    """Return a new student, after a check that it can read the smallest batch.

    Args:
        prepared: the data, the config and the method.
        shown: a function that returns the first images of the training set, for `prepare`.
        smallest_batch: the size of the smallest batch in training.
    """
    config, train = prepared.config, prepared.train
    assert config.student.student is not None
    sizes = {**config.student.sizes}
    needs = prepared.method.needs
    if needs.dropout is not None:
        sizes["dropout"] = needs.dropout
    kind, classes = config.student.student, len(train.classes)
    name = f"student {kind!r}"
    dtype = train.tensor.dtype if train.kind == "tokens" else torch.float32
    students = []
    for place in range(needs.students):
        seed = generator(config.seed, _OTHER, place).initial_seed() if place else config.seed
        students.append(_new_student(prepared, kind, seed, sizes, dtype))
    preprocessing = prepared.preprocessing
    shape = preprocessing.shape if isinstance(preprocessing, Preprocessing) else train.shape
    check_student(students[0], shape, classes, smallest_batch, dtype=dtype, name=name)
    if world_size() > 1 and is_frozen(students[0]):
        raise MentorNetError(f"all parameters of {name} are frozen; start it without torchrun")
    student: Any = students[0] if len(students) == 1 else Pair(*students)
    if hasattr(student, "prepare"):
        student.prepare(shown(getattr(student, "prepared_by", _SEEN_BEFORE)))
    if world_size() > 1:
        student = synced(student)
        _check_norms(student, smallest_batch, world_size())
    if config.machine.channels_last == "on":
        student = student.to(memory_format=torch.channels_last)
    return student


def _new_student(
    prepared: Prepared, kind: str, seed: int, sizes: dict[str, Any], dtype: torch.dtype
) -> nn.Module:
    """Return one student; for features, that is only a new last layer."""
    shape, classes, name = prepared.train.shape, len(prepared.train.classes), f"student {kind!r}"
    if prepared.body is not None:
        with seeded(seed):
            return Head(shape[0], classes)
    if prepared.preprocessing is not None:
        factory = find_student(kind)
        return pretrained_student(
            factory, prepared.preprocessing, classes=classes, frozen=False, seed=seed, name=name,
            sizes=sizes,
        )  # fmt: skip
    channels = prepared.train.channels
    made = make_student(kind, channels=channels, classes=classes, seed=seed, **sizes)
    return initialised(made, shape, dtype=dtype, seed=seed, name=name)


def _check_norms(student: nn.Module, smallest_batch: int, world: int) -> None:
    """Raise if a process may get one sample, and the student has a norm that needs two of them."""
    kinds = {type(part).__name__ for part in student.modules() if isinstance(part, _BatchNorm)} - {
        SyncedBatchNorm2d.__name__
    }
    if smallest_batch < 2 * world and kinds:
        raise MentorNetError(
            f"batch_size must give each of {world} processes two samples, so it must be at least "
            f"{2 * world}, got batches of {smallest_batch}: the student has {min(kinds)}, whose "
            "statistics processes do not share, as they do for BatchNorm2d"
        )


def compiled(student: nn.Module, machine: MachineConfig) -> nn.Module:
    """Return the student, compiled if the config says so."""
    runnable: Any = torch.compile(student) if machine.compile == "on" else student
    return runnable
