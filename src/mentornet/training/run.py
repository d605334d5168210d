"""One training run from a config to its folder: the door of this room."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from mentornet.config import MachineConfig, TrainConfig, read_config
from mentornet.data import Splits
from mentornet.data.progress import Progress
from mentornet.distributed import Processes, job
from mentornet.errors import MentorNetError
from mentornet.training.batches import steps_per_epoch
from mentornet.training.observer import Observer
from mentornet.training.preparation import Prepared, prepare
from mentornet.training.run_folder import RunFolder
from mentornet.training.speed import choose_machine
from mentornet.training.trainer import Trainer

__all__ = ["train"]


def train(
    config: TrainConfig,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    observer: Observer | None = None,
    on_progress: Progress | None = None,
    splits: Splits | None = None,
) -> dict[str, Any]:
    """Train a student on labels that cannot be trusted, and return the summary of the run.

    Args:
        config: what to train on what, and how; what it leaves open is chosen to suit the data.
        out: the run's folder; None to write nothing.
        resume: go on with the run in `out`, from its last checkpoint.
        observer: told of steps, epochs and notes.
        on_progress: told of files that are read or fetched.
        splits: the data, where it is loaded already.
    """
    processes = Processes.join()
    observer = observer if observer is not None and processes.first else Observer()
    with processes.watched():
        prepare_it = partial(prepare, config, on_progress=on_progress, splits=splits)
        return _train(config, out, resume, processes, observer, prepare_it)


def _train(
    config: TrainConfig,
    out: str | Path | None,
    resume: bool,
    processes: Processes,
    observer: Observer,
    prepare_it: Callable[[], Prepared],
) -> dict[str, Any]:
    """The same, once the processes have met."""
    run = None if out is None else RunFolder(Path(out))
    begun = run is not None and run.config.exists()
    ours = begun and run is not None and job() is not None and run.about().get("job") == job()
    resume = processes.agree(resume or ours)  # torchrun has started us anew: a process had failed
    if resume and not begun:
        raise MentorNetError(f"there is no run to resume in {out}")
    if run is not None and not resume and processes.first:
        run.check_free()
    prepared = prepare_it()
    _check_parts(prepared, processes)
    _tell(prepared, observer)
    if run is None:
        return _train_without_folder(prepared, processes, observer)
    if resume:
        run.check_same(prepared.config)
        run.check_data(prepared.digest)
        if run.summary.exists():
            if processes.first:
                run.drop_trajectories()
            observer.note(f"{run.path} has ended before; nothing was left to do")
            return run.read_summary()
        machine = _machine_before(run, config.machine)
    else:
        machine = _machine(prepared, processes, observer)
    prepared = _on_machine(prepared, machine)
    trainer = Trainer(prepared, run, observer)  # all that can be wrong is found before we write
    with run.alone() if processes.first else nullcontext():
        if processes.first:
            run.sweep()
            if not resume:
                run.check_free()  # once more, now that nobody else can write here
                run.start(prepared.config, prepared.train, prepared.digest, prepared.samples)
        processes.wait()
        if resume:
            _go_on(trainer, run, observer)
        return trainer.fit()


def _tell(prepared: Prepared, observer: Observer) -> None:
    """What is worth knowing before the first step."""
    for note in prepared.notes:
        observer.note(note)
    if prepared.noise_rate is not None:
        observer.note(f"{prepared.noise_rate:.1%} of the given labels are wrong")


def _train_without_folder(
    prepared: Prepared, processes: Processes, observer: Observer
) -> dict[str, Any]:
    prepared = _on_machine(prepared, _machine(prepared, processes, observer))
    return Trainer(prepared, None, observer).fit()


def _machine_before(run: RunFolder, asked: MachineConfig) -> MachineConfig:
    """The machine's settings of a run that goes on; those that change no number may be new."""
    return replace(
        read_config(run.config).machine,
        checkpoint_seconds=asked.checkpoint_seconds,
        tensorboard=asked.tensorboard,
    )


def _check_parts(prepared: Prepared, processes: Processes) -> None:
    """What several processes can share, and whether they share it."""
    parts = prepared.config.optimiser.accumulate or 1
    if not processes.alone and not prepared.method.shares:
        raise MentorNetError(
            f"{prepared.method.name} is for one process; start it without torchrun"
        )
    if parts > 1 and not prepared.method.accumulates:
        raise MentorNetError(
            f"{prepared.method.name} needs each batch as a whole; leave out --accumulate"
        )
    size = _smallest_batch(prepared)
    if parts * processes.world > 1 and size < 2 * parts * processes.world:
        among = [f"shared by {processes.world} processes"] * (processes.world > 1)
        among += [f"worked through in {parts} parts"] * (parts > 1)
        raise MentorNetError(
            f"batch-size is the whole batch, {' and '.join(among)}: it must be at least "
            f"{2 * parts * processes.world}, got batches of {size}"
        )
    processes.check_same(prepared.digest, "a config or data")


def _smallest_batch(prepared: Prepared) -> int:
    """How many samples a step has at least."""
    count = len(prepared.train)
    return count // steps_per_epoch(count, prepared.config.optimiser.batch_size or 1)


def _machine(prepared: Prepared, processes: Processes, observer: Observer) -> MachineConfig:
    """Alone, what is fastest here is tried; among many, nobody waits for trials."""
    return choose_machine(prepared, observer.note, tries=processes.alone)


def _on_machine(prepared: Prepared, machine: MachineConfig) -> Prepared:
    return replace(prepared, config=replace(prepared.config, machine=machine))


def _go_on(trainer: Trainer, run: RunFolder, observer: Observer) -> None:
    """From the last checkpoint that can be read."""
    before, now = run.about()["threads"], torch.get_num_threads()
    if before != now:
        observer.note(
            f"this run was started on {before} threads and goes on with {now}: the same, but for "
            "rounding"
        )
    for rank in range(trainer.processes.world):  # one at a time: damaged ones are moved away
        if rank == trainer.processes.rank:
            state, complaints = run.checkpoints.load_last()
        trainer.processes.wait()
    for complaint in complaints:
        observer.note(complaint)
    if state is None:
        observer.note("there is no checkpoint yet; starting from the first epoch")
        return
    try:
        trainer.load_state_dict(state)
    except MentorNetError as error:
        raise MentorNetError(f"{run.checkpoints.paths()[-1]}: {error}") from None
    observer.note(f"going on after epoch {trainer.epochs_done} of {trainer.epochs}")
