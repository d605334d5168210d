"""The trainer: `fit`, `run_epoch` and `step`, each short and overridable, on Lightning Fabric.

`Trainer.step` is one step of Algorithm 1. It never synchronises with the device. Its random draws
depend only on the seed and the epoch, so a run that is resumed has the same result.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from mentornet.data import Batch, Samples
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.randomness import generator, seeded
from mentornet.records import Records, write_records
from mentornet.students import BodyAndHead, answering
from mentornet.training.assembly import (
    compiled,
    fresh_student,
    make_batches,
    make_fabric,
    task_of,
)
from mentornet.training.batches import eval_batches
from mentornet.training.diverged import DivergedError
from mentornet.training.evaluation import Evaluation, evaluate
from mentornet.training.expected_time import tell_time
from mentornet.training.frozen_features import on_features
from mentornet.training.metrics import Best, epoch_metrics, run_summary
from mentornet.training.observer import Observer, StepMetrics
from mentornet.training.optimisers import follow_weights, make_optimiser, set_learning_rate
from mentornet.training.preparation import Prepared
from mentornet.training.run_folder import RunFolder
from mentornet.training.schedules import learning_rate, run_length
from mentornet.training.step import TrainingStep
from mentornet.training.stored import FORMAT, RunState, load_optimiser
from mentornet.training.student_average import StudentAverage

__all__ = ["DivergedError", "Trainer"]

_DROPOUT = 3  # stream of randomness
_LOOK_EVERY = 0.2  # seconds between two reports of the metrics of a step


class Trainer:
    """Trains one student under one method.

    Args:
        prepared: the data, the config and the method.
        run: the folder to write to, or None to write nothing.
        observer: the object that is told of steps, epochs and notes.
    """

    def __init__(
        self,
        prepared: Prepared,
        run: RunFolder | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.prepared, self.config = prepared, prepared.config
        self.observer = observer or Observer()
        machine, optimiser = self.config.machine, self.config.optimiser
        assert optimiser.batch_size is not None
        self.fabric = make_fabric(machine, run)
        self.processes = Processes.join()
        self.run = run if self.processes.first else None  # only the first process writes
        device = self.fabric.device
        if self.config.student.freeze:
            self.prepared = prepared = on_features(prepared, device, self.processes, self.observer)
        train = prepared.train
        self.batches = make_batches(prepared, device, self.processes)
        self.epochs, self.total_steps = run_length(optimiser, self.batches.steps)
        self.supervision = prepared.method.start(task_of(prepared, self.total_steps, device))
        needs, parts = prepared.method.needs, optimiser.accumulate or 1
        smallest = len(train) // self.batches.steps // parts
        self.module = fresh_student(prepared, self._first_images, smallest_batch=smallest)
        steps = make_optimiser(optimiser, self.module, self.supervision)
        self.student, self.optimiser = self.fabric.setup(compiled(self.module, machine), steps)
        self.average: StudentAverage | None = None
        if needs.student_average is not None:
            self.average = StudentAverage(self.module, needs.student_average)
        self.stepper = TrainingStep(
            self.fabric, self.student, self.supervision, self.processes, parts=parts,
            looks_again=needs.looks_again, average=self.average,
        )  # fmt: skip
        self.records = Records(len(train), device, classes=len(train.classes))
        self.steps_done = self.epochs_done = 0
        self.seconds = 0.0
        self.metrics: list[dict[str, Any]] = []
        self.best = Best()
        self.notes: list[str] = []
        self._best: dict[str, Tensor] = {}
        self._first_bad = torch.tensor(-1, device=device)
        self._bad = 0
        self._looked = self._saved = time.monotonic()

    def _first_images(self, count: int) -> Tensor:
        inputs = eval_batches(
            self.prepared.train.inputs[:count], fetcher=self.batches.fetcher,
            prepare=self.prepared.preprocessing,
        )  # fmt: skip
        return torch.cat(list(inputs))

    # Training.

    def fit(self) -> dict[str, Any]:
        """Train to the end, and return the summary of the run."""
        if self.observer.wants_time:
            tell_time(self)
        while self.epochs_done < self.epochs:
            started = time.perf_counter()
            self.run_epoch(self.epochs_done)
            row = self.close_epoch(time.perf_counter() - started)
            self.fabric.log_dict(_numbers(row), step=self.epochs_done)
            self.observer.epoch(row)
            last = self.epochs_done == self.epochs
            age = time.monotonic() - self._saved
            if self.run is not None and (last or age >= self.config.machine.checkpoint_seconds):
                self.save(self.run)
        return self.close_run()

    def run_epoch(self, epoch: int) -> None:
        """Train on all samples once."""
        self.student.train()
        self.supervision.begin_epoch(epoch)
        rank = self.processes.rank
        stream = (_DROPOUT, epoch, rank) if rank else (_DROPOUT, epoch)
        with seeded(generator(self.config.seed, *stream).initial_seed()):
            try:
                for batch in islice(self.batches.epoch(epoch), self.total_steps - self.steps_done):
                    self.step(batch, epoch)
            except MentorNetError:
                self._check_finite()  # if the loss is not finite, that is the error to report
                raise
        self.supervision.end_epoch(epoch)
        self._check_finite()

    def step(self, batch: Batch, epoch: int) -> None:
        """Take steps 4 to 12 of Algorithm 1: losses, weights, then a step of the student."""
        rate = learning_rate(self.config.optimiser, self.steps_done, self.total_steps)
        set_learning_rate(self.optimiser, rate)
        self.optimiser.zero_grad()
        done = self.stepper.take(batch, rate)
        if done.decays is not None:
            follow_weights(self.optimiser, self.config.optimiser.weight_decay or 0.0, done.decays)
        self.optimiser.step()
        if self.average is not None:
            self.average.update(self.module)
        seen = done.evidence
        assert seen.index is not None
        self.records.add(
            seen.index, seen.losses, done.trust, seen.predicted, seen.labels, epoch, seen.margins
        )
        self.steps_done += 1
        self._watch(done.loss, done.trust)

    def _watch(self, loss: Tensor, weights: Tensor | None) -> None:
        """Store the first step whose loss is not finite, and report to the observer at times."""
        bad = (self._first_bad < 0) & ~loss.isfinite()
        self._first_bad = torch.where(bad, self.steps_done, self._first_bad)
        now = time.monotonic()
        if now - self._looked >= _LOOK_EVERY:
            self._looked = now
            self._check_finite()
            mean_weight = 1.0 if weights is None else weights.mean().item()
            self.observer.step(
                StepMetrics(self.steps_done, self.total_steps, loss.item(), mean_weight)
            )

    def _check_finite(self) -> None:
        step = int(self._first_bad)
        if step < 0:
            return
        paths = [] if self.run is None else self.run.checkpoints.paths()
        raise DivergedError.at(step, self.total_steps, paths, self.config)

    def evaluate(self, images: Samples) -> Evaluation:
        """Evaluate the student on these samples."""
        found = evaluate(self.student, images, self.batches)
        if not found.finite:
            self._give_up()
        return found

    def _check_student(self) -> None:
        """Raise if a parameter is not finite; called after epochs without an evaluation."""
        parts = (part for part in self.module.state_dict().values() if part.is_floating_point())
        if not all(part.isfinite().all() for part in parts):
            self._give_up()

    def _give_up(self) -> None:
        self._first_bad = torch.tensor(self.steps_done, device=self.fabric.device)
        self._check_finite()

    # After an epoch, and after the run.

    def close_epoch(self, seconds: float) -> dict[str, Any]:
        """Evaluate the student, if that is due, and return and write the metrics of the epoch.

        Args:
            seconds: how long the steps of the epoch took.
        """
        started = time.perf_counter()
        self.epochs_done += 1
        row: dict[str, Any] = {
            "epoch": self.epochs_done,
            "step": self.steps_done,
            "learning_rate": self.optimiser.param_groups[0]["lr"],
            **epoch_metrics(self.records, self.prepared, self.supervision),
        }
        every = self.config.optimiser.evaluate_every
        if self.epochs_done % every == 0 or self.epochs_done == self.epochs:
            row |= self._evaluated()
        else:
            self._check_student()
        if self.run is not None:
            self.run.check_there()
            self.records.save_losses(self.run.trajectories, self.epochs_done - 1)
            self.run.write_mentors(self.supervision.learned())
        for text in (*self.supervision.notes(), *self._unreadable()):
            self.notes.append(text)
            self.observer.note(text)
        begun = self.metrics[-1]["step"] if self.metrics else 0
        seen = len(self.prepared.train) * (self.steps_done - begun) / self.batches.steps
        row |= {"seconds": seconds, "images_per_second": seen / seconds}
        self.seconds += seconds + time.perf_counter() - started
        self.metrics.append(row)
        if self.run is not None:
            self.run.write_metrics(self.metrics)
        return row

    def _evaluated(self) -> dict[str, float]:
        """Return the accuracies of the student, and keep it if it is the best so far."""
        tested, validation = self.evaluate(self.prepared.test), self.prepared.validation
        accuracy = tested.accuracy if validation is None else self.evaluate(validation).accuracy
        if accuracy > self.best.chosen_by:
            self.best = Best(accuracy, tested.accuracy, self.epochs_done)
            self._best = _copy(self._weights())
        row = tested.named("test")
        if validation is not None:
            row["validation_accuracy"] = accuracy
        for name, images in self.prepared.further.items():
            row |= self.evaluate(images).named(name)
        return row

    def _unreadable(self) -> list[str]:
        """Return a line on images that could not be decoded, if there are more than before."""
        bad = {} if self.batches.fetcher is None else self.batches.fetcher.bad
        found = int(self.processes.total(torch.tensor(len(bad), device=self.fabric.device)))
        if found == self._bad:
            return []
        self._bad = found
        some = "".join(f"; {name}: {reason}" for name, reason in list(bad.items())[-1:])
        return [f"{found} images cannot be read and are replaced by grey ones{some}"]

    def close_run(self) -> dict[str, Any]:
        """Write the records and the summary, and return the summary."""
        prepared = self.prepared
        summary = run_summary(prepared, self.metrics, self.best) | {
            "parameters": sum(weight.numel() for weight in self.module.parameters()),
            "epochs": self.epochs,
            "steps": self.total_steps,
            "seconds": self.seconds,
            "notes": self.notes,
            "lessons": [asdict(outcome) for outcome in self.supervision.outcomes()],
        }
        if self.run is not None:
            damaged = write_records(
                self.run.records, self.records, trajectories=self.run.trajectories,
                epochs=self.epochs, given_label=prepared.train.given_label,
                true_label=prepared.train.true_label, sample_paths=prepared.train.paths,
                index=prepared.samples,
            )  # fmt: skip
            self.notes += damaged  # which the summary has too
            for text in damaged:
                self.observer.note(text)
            self.run.write_summary(summary)
            self.run.drop_trajectories()
        return summary

    # Checkpoints.

    def _weights(self) -> Mapping[str, Tensor]:
        """Return the weights of the student that predicts, its frozen part included."""
        student, body = answering(self.module), self.prepared.body
        whole = student if body is None else BodyAndHead(body, student, frozen=True)
        weights: Mapping[str, Tensor] = whole.state_dict()
        return weights

    def save(self, run: RunFolder) -> None:
        """Write the last and the best student, then the checkpoint that belongs to them."""
        run.write_weights(run.last, self._weights())
        if self._best:
            run.write_weights(run.best, self._best)
            self._best = {}
        run.checkpoints.save(self.epochs_done, self.state_dict())
        self._saved = time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on."""
        return {
            "format": FORMAT,
            "digest": self.prepared.digest,
            "student": self.module.state_dict(),
            "optimiser": self.optimiser.optimizer.state_dict(),
            "supervision": self.supervision.state_dict(),
            "records": self.records.state_dict(),
            "average": {} if self.average is None else self.average.module.state_dict(),
            "steps_done": self.steps_done,
            "epochs_done": self.epochs_done,
            "seconds": self.seconds,
            "metrics": self.metrics,
            "best": self.best._asdict(),
            "notes": self.notes,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a `state_dict`."""
        length = {"epochs": self.epochs, "steps": self.batches.steps, "total": self.total_steps}
        stored = RunState.of(state, self.state_dict(), **length)
        self.module.load_state_dict(stored.student)
        load_optimiser(self.optimiser.optimizer, stored.optimiser)
        self.supervision.load_state_dict(stored.supervision)
        self.records.load_state_dict(stored.records)
        if self.average is not None:
            self.average.module.load_state_dict(stored.average)
        for name in ("steps_done", "epochs_done", "seconds", "metrics", "notes"):
            setattr(self, name, state[name])
        self.best = Best(**stored.best)


def _copy(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in state.items()}


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name != "epoch"}
