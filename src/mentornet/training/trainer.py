"""The only trainer: a ladder of short rungs, `fit`, `run_epoch`, `step`, on Lightning Fabric.

One step of Algorithm 1 is `Trainer.step`. Nothing in it waits for the device, and what it draws
depends on the seed and the epoch only, so a run that was killed goes on to the same end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from mentornet.config import OptimiserConfig
from mentornet.data import Batch, Samples
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.methods import Step, Task
from mentornet.metrics import auroc
from mentornet.randomness import generator, seeded
from mentornet.records import Records, check_records, write_records
from mentornet.students import answering
from mentornet.training.accumulation import Accumulation
from mentornet.training.assembly import (
    compiled,
    fresh_student,
    make_batches,
    make_fabric,
    make_sgd,
)
from mentornet.training.batches import eval_batches
from mentornet.training.evaluation import Judgement, judge
from mentornet.training.observer import Observer, StepFigures
from mentornet.training.preparation import Prepared
from mentornet.training.run_folder import RunFolder
from mentornet.training.schedules import learning_rate
from mentornet.weighting.weight_decay import add_weight_decay

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
        self.is_correct = (
            None if train.true_label is None else train.given_label == train.true_label
        )
        self.supervision = prepared.method.start(self._task(device))
        self.supervision.processes = self.processes
        parts = optimiser.accumulate or 1
        smallest = len(train) // self.batches.steps // parts
        self.module = fresh_student(prepared, self._first_images, smallest_batch=smallest)
        sgd = make_sgd(optimiser, self.module, self.supervision)
        self.student, self.optimiser = self.fabric.setup(compiled(self.module, machine), sgd)
        self.accumulation = Accumulation(self.fabric, self.student, parts)
        self.records = Records(len(train), device, classes=len(train.classes))
        self.steps_done = self.epochs_done = 0
        self.seconds = 0.0
        self.metrics: list[dict[str, Any]] = []
        self.best_judged, self.best_accuracy, self.best_epoch = -1.0, 0.0, 0
        self.notes: list[str] = []
        self._best: dict[str, Tensor] = {}
        self._first_bad = torch.tensor(-1, device=device)
        self._bad = 0
        self._looked = self._saved = time.monotonic()

    def _task(self, device: torch.device) -> Task:
        train, verified = self.prepared.train, self.prepared.verified
        if verified is not None:
            verified = verified.to(device)
        return Task(
            count=len(train), classes=len(train.classes), total_steps=self.total_steps,
            seed=self.config.seed, device=device, verified=verified, is_correct=self.is_correct,
        )  # fmt: skip

    def _first_images(self, count: int) -> Tensor:
        pixels = self.prepared.train.source[:count]
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
        stream = (
            (_DROPOUT, epoch) if self.processes.first else (_DROPOUT, epoch, self.processes.rank)
        )
        with seeded(generator(self.config.seed, *stream).initial_seed()):
            for batch in islice(self.batches.epoch(epoch), self.total_steps - self.steps_done):
                self.step(batch, epoch)
        self._check_finite()

    def step(self, batch: Batch, epoch: int) -> None:
        """Algorithm 1, steps 4 to 12: losses, weights with the student fixed, then the student."""
        rate = learning_rate(self.config.optimiser, self.steps_done, self.total_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        done = self._descended(batch, rate)
        for beside in self.supervision.parameters():
            if beside.grad is not None and not self.processes.alone:
                beside.grad = self.processes.total(beside.grad) / self.processes.world
        if self.supervision.weighs and done.weighed is not None:
            decay = self.config.optimiser.weight_decay or 0.0
            add_weight_decay(self.module.parameters(), decay, done.weighed)
        self.optimiser.step()
        whole = batch.whole
        self.records.add(
            whole.index,
            done.losses,
            self.supervision.trust(done.weights, whole),
            done.predicted,
            whole.given_label,
            epoch,
            done.margins,
        )
        self.steps_done += 1
        loss = done.loss.detach() if self.processes.alone else done.losses.mean()
        self._watch(loss, done.weights)

    def _descended(self, batch: Batch, rate: float) -> Step:
        """A step with the gradients of its loss."""
        self.optimiser.zero_grad()
        try:
            if self.accumulation.parts > 1:
                return self.accumulation.step(self.supervision, batch, rate)
            done = self.supervision.step(self.student, batch, rate)
        except MentorNetError:
            self._check_finite()  # a mentor cannot be learned from losses that are no numbers
            raise
        self.fabric.backward(done.loss)
        return done

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
                StepFigures(self.steps_done, self.total_steps, loss.item(), mean_weight)
            )

    def _check_finite(self) -> None:
        step = int(self._first_bad)
        if step < 0:
            return
        paths = [] if self.run is None else self.run.checkpoints.paths()
        good = f"the last good checkpoint is {paths[-1]}" if paths else "there is no checkpoint yet"
        raise DivergedError(
            f"the loss is not a number at step {step} of {self.total_steps}; {good}. "
            f"Try a learning-rate below {self.config.optimiser.learning_rate:g}"
        )

    def evaluate(self, images: Samples) -> Judgement:
        """How much of the images the student gets right."""
        judgement = judge(self.student, images, self.batches)
        if not judgement.finite:
            self._give_up()
        return judgement

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
        row = self._learned()
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

    def _learned(self) -> dict[str, Any]:
        """What the epoch itself has shown."""
        records, seen = self.records, self.records.seen > 0  # all, unless the steps are few
        row: dict[str, Any] = {
            "epoch": self.epochs_done,
            "step": self.steps_done,
            "learning_rate": self.optimiser.param_groups[0]["lr"],
            "train_loss": records.loss[seen].mean().item(),
            "train_accuracy": records.fits[seen].float().mean().item(),
            "mean_weight": records.weight[seen].mean().item(),
            "data_used": (records.weight[seen] >= 0.5).float().mean().item(),
        }
        row |= {name: float(value) for name, value in self.supervision.figures().items()}
        found = self.weight_auroc
        if found is not None:
            row["weight_auroc"] = found
        return row

    def _judged(self) -> dict[str, float]:
        """How good the student is; it is kept if it is the best so far."""
        tested, validation = self.evaluate(self.prepared.test), self.prepared.validation
        judged = tested.accuracy if validation is None else self.evaluate(validation).accuracy
        if judged > self.best_judged:
            self.best_judged, self.best_accuracy = judged, tested.accuracy
            self.best_epoch = self.epochs_done
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

    @property
    def weight_auroc(self) -> float | None:
        """How well v, when each sample was last seen, tells right labels from wrong ones.

        Where the student is taught what was verified, v of those is no guess, and does not count.
        """
        if self.is_correct is None:
            return None
        guessed = (self.records.seen > 0).cpu()
        if self.supervision.known is not None and self.prepared.verified is not None:
            guessed[self.prepared.verified.index] = False
        is_correct = self.is_correct[guessed]
        if is_correct.all() or not is_correct.any():
            return None
        return auroc(self.records.weight.cpu()[guessed], is_correct)

    def close_run(self) -> dict[str, Any]:
        """Write the records and the summary."""
        prepared = self.prepared
        summary: dict[str, Any] = {
            "data": self.config.data,
            "method": prepared.method.name,
            "student": self.config.student.student,
            "parameters": sum(weight.numel() for weight in self.module.parameters()),
            "seed": self.config.seed,
            "epochs": self.epochs,
            "steps": self.total_steps,
            "accuracy_last": self.metrics[-1]["test_accuracy"],
            "accuracy_best": self.best_accuracy,
            "best_epoch": self.best_epoch,
            **self._further(),
            "seconds": self.seconds,
            "images_per_second": self._images_per_second(),
            "noise_rate_actual": prepared.noise_rate,
            "noise_rate_estimated": self.metrics[-1].get("noise_rate"),
            "weight_auroc": self.metrics[-1].get("weight_auroc"),
            "mean_weight": self.metrics[-1]["mean_weight"],
            "notes": self.notes,
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

    def _further(self) -> dict[str, float]:
        """The last figures of what else the student was judged on, and of its top five."""
        last, known = self.metrics[-1], ("test_accuracy", "validation_accuracy", "train_accuracy")
        names = [name for name in last if "_accuracy" in name and name not in known]
        return {f"{name.removeprefix('test_')}_last": last[name] for name in names}

    def _images_per_second(self) -> float:
        seconds = sum(row["seconds"] for row in self.metrics)
        return float(
            sum(row["images_per_second"] * row["seconds"] for row in self.metrics) / seconds
        )

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
            "steps_done": self.steps_done,
            "epochs_done": self.epochs_done,
            "seconds": self.seconds,
            "metrics": self.metrics,
            "best_judged": self.best_judged,
            "best_accuracy": self.best_accuracy,
            "best_epoch": self.best_epoch,
            "notes": self.notes,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict`."""
        if state["digest"] != self.prepared.digest:
            raise MentorNetError("the checkpoint is of a run with another config or other data")
        check_records(state["records"])
        self.module.load_state_dict(state["student"])
        self.optimiser.optimizer.load_state_dict(state["optimiser"])
        self.supervision.load_state_dict(state["supervision"])
        self.records.load_state_dict(state["records"])
        for name in (
            "steps_done", "epochs_done", "seconds", "metrics", "best_judged", "best_accuracy",
            "best_epoch", "notes",
        ):  # fmt: skip
            setattr(self, name, state[name])


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
