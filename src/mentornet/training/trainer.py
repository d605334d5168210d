"""The only trainer: a ladder of short rungs, `fit`, `run_epoch`, `step`, on Lightning Fabric.

One step of Algorithm 1 is `Trainer.step`. Nothing in it waits for the device, and its random draws
depend on the seed and the epoch only, so a run that was killed goes on to the same end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from mentornet.config import OptimiserConfig
from mentornet.data import Batch, Samples
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.methods import Task
from mentornet.randomness import generator, seeded
from mentornet.records import Records, write_records
from mentornet.students import answering
from mentornet.training.assembly import (
    compiled,
    fresh_student,
    make_batches,
    make_fabric,
    make_sgd,
)
from mentornet.training.batches import eval_batches
from mentornet.training.evaluation import Evaluation, evaluate
from mentornet.training.metrics import Best, epoch_metrics, run_summary
from mentornet.training.observer import Observer, StepMetrics
from mentornet.training.preparation import Prepared
from mentornet.training.run_folder import RunFolder
from mentornet.training.schedules import learning_rate
from mentornet.training.step import TrainingStep
from mentornet.training.student_average import StudentAverage
from mentornet.weighting import add_weight_decay

__all__ = ["DivergedError", "Trainer"]

_DROPOUT = 3  # stream of randomness
_LOOK_EVERY = 0.2  # seconds between two looks at the figures of a step


class DivergedError(MentorNetError):
    """The loss is not a number any more."""


class Trainer:
    """Trains one student under one method.

    Args:
        prepared: data, config and method.
        run: where to write, or None to write nothing.
        observer: who is told what happens.
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
        self.run = run if self.processes.first else None  # one writes for all
        device = self.fabric.device
        train = prepared.train
        self.batches = make_batches(prepared, device, self.processes)
        self.epochs, self.total_steps = _length(optimiser, self.batches.steps)
        self.supervision = prepared.method.start(self._task(device))
        needs, parts = prepared.method.needs, optimiser.accumulate or 1
        smallest = len(train) // self.batches.steps // parts
        self.module = fresh_student(prepared, self._first_images, smallest_batch=smallest)
        sgd = make_sgd(optimiser, self.module, self.supervision)
        self.student, self.optimiser = self.fabric.setup(compiled(self.module, machine), sgd)
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

    def _task(self, device: torch.device) -> Task:
        train, verdicts = self.prepared.train, self.prepared.verdicts
        if verdicts is not None:
            verdicts = verdicts.to(device)
        return Task(
            count=len(train), classes=len(train.classes), total_steps=self.total_steps,
            seed=self.config.seed, device=device, verdicts=verdicts,
            is_correct=self.prepared.is_correct,
        )  # fmt: skip

    def _first_images(self, count: int) -> Tensor:
        pixels = self.prepared.train.inputs[:count]
        return torch.cat(list(eval_batches(pixels, fetcher=self.batches.fetcher)))

    # The ladder.

    def fit(self) -> dict[str, Any]:
        """Train to the end, and return the summary."""
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
        """One pass over all samples."""
        self.student.train()
        self.supervision.begin_epoch(epoch)
        rank = self.processes.rank
        stream = (_DROPOUT, epoch, rank) if rank else (_DROPOUT, epoch)
        with seeded(generator(self.config.seed, *stream).initial_seed()):
            try:
                for batch in islice(self.batches.epoch(epoch), self.total_steps - self.steps_done):
                    self.step(batch, epoch)
            except MentorNetError:
                self._check_finite()  # a mentor cannot be learned from losses that are not numbers
                raise
        self.supervision.end_epoch(epoch)
        self._check_finite()

    def step(self, batch: Batch, epoch: int) -> None:
        """Algorithm 1, steps 4 to 12: losses, weights with the student fixed, then the student."""
        rate = learning_rate(self.config.optimiser, self.steps_done, self.total_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        done = self.stepper.take(batch, rate)
        if done.decays is not None:
            decay = self.config.optimiser.weight_decay or 0.0
            add_weight_decay(self.module.parameters(), decay, done.decays)
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
        """Remember the first step whose loss is no number; tell the observer now and then."""
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
        good = f"the last good checkpoint is {paths[-1]}" if paths else "there is no checkpoint yet"
        raise DivergedError(
            f"the loss is not a number at step {step} of {self.total_steps}; {good}. "
            f"Try a learning_rate below {self.config.optimiser.learning_rate:g}"
        )

    def evaluate(self, images: Samples) -> Evaluation:
        """How much of the images the student gets right."""
        found = evaluate(self.student, images, self.batches)
        if not found.finite:
            self._give_up()
        return found

    def _check_student(self) -> None:
        """Stop if the last step has spoilt a student that nobody judges now."""
        parts = (part for part in self.module.state_dict().values() if part.is_floating_point())
        if not all(part.isfinite().all() for part in parts):
            self._give_up()

    def _give_up(self) -> None:
        self._first_bad = torch.tensor(self.steps_done, device=self.fabric.device)
        self._check_finite()

    # Between the epochs.

    def close_epoch(self, seconds: float) -> dict[str, Any]:
        """Judge the student, if that is due, and write down the epoch.

        Args:
            seconds: that its steps took.
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
            row |= self._judged()
        else:
            self._check_student()
        if self.run is not None:
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

    def _judged(self) -> dict[str, float]:
        """How good the student is; it is kept if it is the best so far."""
        tested, validation = self.evaluate(self.prepared.test), self.prepared.validation
        judged = tested.accuracy if validation is None else self.evaluate(validation).accuracy
        if judged > self.best.chosen_by:
            self.best = Best(judged, tested.accuracy, self.epochs_done)
            self._best = _copy(answering(self.module).state_dict())
        row = tested.named("test")
        if validation is not None:
            row["validation_accuracy"] = judged
        for name, images in self.prepared.further.items():
            row |= self.evaluate(images).named(name)
        return row

    def _unreadable(self) -> list[str]:
        """A line on images that could not be decoded, where there are more than before."""
        bad = {} if self.batches.fetcher is None else self.batches.fetcher.bad
        found = int(self.processes.total(torch.tensor(len(bad), device=self.fabric.device)))
        if found == self._bad:
            return []
        self._bad = found
        some = "".join(f"; {name}: {reason}" for name, reason in list(bad.items())[-1:])
        return [f"{found} images cannot be read, a grey one stands in for each{some}"]

    def close_run(self) -> dict[str, Any]:
        """Write the records and the summary."""
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
            write_records(
                self.run.records, self.records, trajectories=self.run.trajectories,
                epochs=self.epochs, given_label=prepared.train.given_label,
                true_label=prepared.train.true_label, sample_paths=prepared.train.paths,
                index=prepared.samples,
            )  # fmt: skip
            self.run.write_summary(summary)
            self.run.drop_trajectories()
        return summary

    # Stop and go.

    def save(self, run: RunFolder) -> None:
        """Write the students, then the checkpoint that vouches for them."""
        run.write_weights(run.last, answering(self.module).state_dict())
        if self._best:
            run.write_weights(run.best, self._best)
            self._best = {}
        run.checkpoints.save(self.epochs_done, self.state_dict())
        self._saved = time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the run depends on."""
        return {
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
        """Go on from a `state_dict`."""
        if state["digest"] != self.prepared.digest:
            raise MentorNetError("the checkpoint is of a run with another config or other data")
        self.module.load_state_dict(state["student"])
        self.optimiser.optimizer.load_state_dict(state["optimiser"])
        self.supervision.load_state_dict(state["supervision"])
        self.records.load_state_dict(state["records"])
        if self.average is not None:
            self.average.module.load_state_dict(state["average"])
        for name in ("steps_done", "epochs_done", "seconds", "metrics", "notes"):
            setattr(self, name, state[name])
        self.best = Best(**state["best"])


def _length(optimiser: OptimiserConfig, steps: int) -> tuple[int, int]:
    """Epochs, the last of them perhaps cut short, and steps in all, of `steps` an epoch."""
    if optimiser.steps is not None:
        return -(-optimiser.steps // steps), optimiser.steps
    assert optimiser.epochs is not None
    return optimiser.epochs, optimiser.epochs * steps


def _copy(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in state.items()}


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name != "epoch"}
