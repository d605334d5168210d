"""Train from a config to a finished run folder; this is the entry point of `training`."""

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
from mentornet.files import reading
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
    """Train a student on labels that may be wrong, and return the summary of the run.

    Args:
        config: the data, the method and the settings; what is not set is chosen to suit the data.
        out: the folder of the run; None to write nothing.
        resume: continue the run in `out` from its last checkpoint.
        observer: receives steps, epochs and notes.
        on_progress: called while files are read or downloaded.
        splits: the data, if it is loaded already.
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
    """Train, after the processes have joined each other."""
    run = None if out is None else RunFolder(Path(out))
    begun = run is not None and run.config.exists()
    ours = begun and run is not None and job() is not None and run.about().job == job()
    resume = processes.agree(resume or ours)  # torchrun restarts us after a failure
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
                run.sweep()  # it may have been killed while its curves were drawn
                run.drop_trajectories()
            observer.note(f"{run.path} has ended before; there is nothing left to do")
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
                run.check_free()  # again, now that nobody else can write here
                judged = prepared.test if prepared.validation is None else prepared.validation
                run.start(
                    prepared.config, prepared.train, prepared.digest, prepared.samples,
                    prepared.encoder, chosen_on=len(judged),
                )  # fmt: skip
        processes.wait()
        if resume:
            _go_on(trainer, run, observer)
        return trainer.fit()


def _tell(prepared: Prepared, observer: Observer) -> None:
    """Tell the observer what the user should know before the first step."""
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
    """Return the machine settings of a resumed run; those that change no result may be new."""
    return replace(
        read_config(run.config).machine,
        checkpoint_seconds=asked.checkpoint_seconds,
        tensorboard=asked.tensorboard,
    )


def _check_parts(prepared: Prepared, processes: Processes) -> None:
    """Raise if the batches cannot be divided among the processes and parts.

    Batch norm needs two samples. Several processes share its statistics, so there one sample per
    process is enough; parts of one process do not.
    """
    parts = prepared.config.optimiser.accumulate or 1
    if not processes.alone and prepared.method.needs.one_process:
        raise MentorNetError(
            f"{prepared.method.name} runs in one process only; start it without torchrun"
        )
    if parts > 1 and prepared.method.needs.whole_batch:
        raise MentorNetError(
            f"{prepared.method.name} needs each batch as a whole; leave out accumulate"
        )
    size = _smallest_batch(prepared)
    least = parts * max(2, processes.world)
    if parts * processes.world > 1 and size < least:
        among = [f"shared by {processes.world} processes"] * (processes.world > 1)
        among += [f"accumulated from {parts} parts"] * (parts > 1)
        fewer = f"; or start at most {size} processes" if processes.world > 1 == parts else ""
        raise MentorNetError(
            f"batch_size counts the whole batch, {' and '.join(among)}: it must be at least "
            f"{least}, got batches of {size}{fewer}"
        )
    processes.check_same(prepared.digest, "a config or data")


def _smallest_batch(prepared: Prepared) -> int:
    """Return the number of samples in the smallest batch."""
    count = len(prepared.train)
    return count // steps_per_epoch(count, prepared.config.optimiser.batch_size or 1)


def _machine(prepared: Prepared, processes: Processes, observer: Observer) -> MachineConfig:
    """Choose the machine settings; speed is only measured if there is one process."""
    return choose_machine(prepared, observer.note, tries=processes.alone)


def _on_machine(prepared: Prepared, machine: MachineConfig) -> Prepared:
    return replace(prepared, config=replace(prepared.config, machine=machine))


def _go_on(trainer: Trainer, run: RunFolder, observer: Observer) -> None:
    """Continue from the last checkpoint that can be read."""
    before, now = run.about().threads, torch.get_num_threads()
    if before != now:
        observer.note(
            f"this run was started on {before} threads and continues on {now}: results may differ "
            "by rounding"
        )
    for rank in range(trainer.processes.world):  # in turn: damaged ones are moved
        if rank == trainer.processes.rank:
            state, complaints = run.checkpoints.load_last()
        trainer.processes.wait()
    for complaint in complaints:
        observer.note(complaint)
    if state is None:
        observer.note("there is no checkpoint yet; starting from the first epoch")
        return
    path = run.checkpoints.paths()[-1]
    with reading(path, "as a checkpoint of this run"):
        try:
            trainer.load_state_dict(state)
        except MentorNetError as error:
            raise MentorNetError(f"{path}: {error}; delete it to use the one before") from None
    observer.note(f"continuing after epoch {trainer.epochs_done} of {trainer.epochs}")
