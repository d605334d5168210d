"""`MentorTrainer`: the `Trainer` of transformers with weights for samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import Trainer, TrainerCallback
from transformers.trainer_utils import get_last_checkpoint

from mentornet.curricula import Curriculum
from mentornet.errors import MentorNetError
from mentornet.integrations.criterion_file import read_state, restore, save_criterion
from mentornet.integrations.huggingface.labels import (
    check_any,
    labels_tokens,
    logits_of,
    predicts_next,
    shifted,
)
from mentornet.integrations.huggingface.rows import INDEX, IndexedCollator, IndexedRows
from mentornet.mentors import Mentor
from mentornet.weighting import MentorLoss, WeightDecay, scale_weight_decay
from mentornet.weighting.weight_decay import mean_weight

__all__ = ["MentorTrainer"]

STATE = "mentor_loss.safetensors"
"""The file with the state of the criterion, in the folder of a checkpoint."""


class MentorTrainer(Trainer):  # type: ignore[misc]
    """`transformers.Trainer` with `MentorLoss` in place of the model's own loss.

    It trains models that classify sequences or tokens, and language models. Of a text with many
    labels, the mean loss over those that are not −100 decides on its weight. The labels of a causal
    language model are shifted by one, as in the model. With gradient accumulation Σ v ℓ is divided
    by the number of labels in all micro-batches, as `Trainer` does; with weights of 1 the loss is
    that of `Trainer` bit for bit. In evaluation the loss is the model's own.

    Every training sample gets its number as a column, which neither `remove_unused_columns` nor the
    data collator removes. The criterion is made when training begins and the number of steps is
    known. It is saved with every checkpoint and restored on resume.

    Args:
        *args: as for `Trainer`.
        mentor: as for `MentorLoss`.
        mentor_options: more arguments of `MentorLoss`, except total_steps and samples.
        verified: the numbers of verified samples, and whether each label is correct; a mentor is
            learned from them. See `MentorLoss.learn_from`.
        **kwargs: as for `Trainer`.

    Attributes:
        criterion: the `MentorLoss`; None before training.
    """

    args: Any
    train_dataset: Any
    data_collator: Any
    state: Any
    _signature_columns: Any

    def __init__(
        self,
        *args: Any,
        mentor: str | Path | Mentor | Curriculum = "auto",
        mentor_options: Mapping[str, Any] | None = None,
        verified: tuple[Sequence[int], Sequence[bool]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if self.compute_loss_func is not None or self.label_smoother is not None:
            raise MentorNetError(
                "MentorTrainer has its own loss: leave out compute_loss_func, and give "
                "label_smoothing in mentor_options"
            )
        self.mentor, self.mentor_options = mentor, dict(mentor_options or {})
        self.verified = verified
        for name in ("total_steps", "samples"):
            if name in self.mentor_options:
                raise MentorNetError(f"MentorTrainer sets {name} itself; leave it out")
        self.criterion: MentorLoss | None = None
        self._shifts = predicts_next(self.model)
        if labels_tokens(self.model):
            self.mentor_options.setdefault("level", "text")
        self._resumed: tuple[Path, dict[str, Any]] | None = None
        self._tally: Tensor | None = None  # of the criterion when it was last logged
        self.add_callback(_Beginning(self))
        if self.train_dataset is not None:
            self.number_rows()
            self.make_criterion(1)  # raises at once if the options are wrong

    def number_rows(self) -> None:
        """Give the rows of the training set their numbers, if they have none."""
        if not isinstance(self.train_dataset, IndexedRows):
            self.train_dataset = IndexedRows(self.train_dataset)

    def make_criterion(self, steps: int) -> MentorLoss:
        """Return a new criterion, for so many calls."""
        criterion = MentorLoss(
            self.mentor, steps, samples=len(self.train_dataset), **self.mentor_options
        )
        if self.verified is not None:
            criterion.learn_from(*self.verified)
        return criterion

    def train(
        self, resume_from_checkpoint: str | Path | bool | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Train as `Trainer.train` does; every call starts with a new criterion."""
        self.criterion = self._resumed = self._tally = None
        if resume_from_checkpoint is True:
            resume_from_checkpoint = get_last_checkpoint(self.args.output_dir)
            if resume_from_checkpoint is None:
                raise MentorNetError(f"there is no checkpoint in {self.args.output_dir}")
        if not isinstance(resume_from_checkpoint, bool | None):
            file = Path(resume_from_checkpoint) / STATE
            if not file.is_file():
                raise MentorNetError(
                    f"{resume_from_checkpoint} has no {STATE}; was it written by a MentorTrainer?"
                )
            self._resumed = file, read_state(file)
            resume_from_checkpoint = f"{resume_from_checkpoint}"
        return super().train(resume_from_checkpoint, *args, **kwargs)

    def begin(self, loader: DataLoader[Any]) -> MentorLoss:
        """Make the criterion of this training, or restore that of the checkpoint.

        Args:
            loader: of the training samples.
        """
        self.criterion = self.make_criterion(self._calls(len(loader))).to(self.args.device)
        if self._resumed is not None:
            file, state = self._resumed
            restore(self.criterion, state, file)
        self._tally = self.criterion.account.tally
        return self.criterion

    def _calls(self, batches: int) -> int:
        """Return how often the loss will be called; an epoch's last step may have fewer batches."""
        together = int(self.args.gradient_accumulation_steps)
        whole, rest = divmod(self.state.max_steps, -(-batches // together))
        return int(whole * batches + min(rest * together, batches))

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Return the batches of `Trainer` with the numbers of their samples."""
        self.number_rows()
        collator = self.data_collator
        self.data_collator = IndexedCollator(collator)
        try:
            loader: DataLoader[Any] = super().get_train_dataloader()
        finally:
            self.data_collator = collator
        return loader

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()
        if INDEX not in self._signature_columns:
            self._signature_columns = [*self._signature_columns, INDEX]

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        """Return the weighted loss in training, and the model's own in evaluation."""
        inputs = dict(inputs)
        index = inputs.pop(INDEX, None)
        if not model.training or self.criterion is None:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        labels = inputs.pop("labels", None)
        if labels is None:
            raise MentorNetError(
                f"there are no labels among {', '.join(sorted(inputs))}: give every row a column "
                "labels, or use a data collator that makes them"
            )
        outputs = model(**inputs)
        logits = logits_of(outputs, self.model)
        if self._shifts:
            labels = shifted(labels)
        items, share = self._items(num_items_in_batch)
        check_any(labels, items)
        loss = self.criterion(logits, labels, index=index, items=items) * share
        return (loss, outputs) if return_outputs else loss

    def _items(self, count: Tensor | int | None) -> tuple[Tensor | None, float]:
        """Return the number of labels that Σ v ℓ is divided by, and a factor.

        `Trainer` counts the labels of all micro-batches of a step, if the model can use the count.
        If it counts those of all processes, which then average their gradients, the factor is the
        number of processes.
        """
        if count is None or not self.model_accepts_loss_kwargs:
            return None, 1
        here = max(int(self.args.n_gpu), 1)  # of one process, which then sees all of the batch
        if self.args.average_tokens_across_devices:
            share = float(self.accelerator.num_processes) if here == 1 else 1.0
        else:
            share = 1 / here
        return torch.as_tensor(count).flatten()[0], share

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Log the mentor's metrics beside the loss, so that all callbacks of `Trainer` get them.

        `mentor_mean_weight` is the mean since the last log, and `mentor_noise_estimate` the share
        of labels that look wrong so far (see `MentorLoss.noise_estimate`).
        """
        if "loss" in logs and self.criterion is not None:
            metrics = self.criterion.metrics()
            metrics["noise_estimate"] = self.criterion.noise_estimate().rate
            before, self._tally = self._tally, self.criterion.account.tally
            if before is not None:
                metrics["mean_weight"] = mean_weight(before, self._tally).item()
            logs = logs | {f"mentor_{name}": value for name, value in metrics.items()}
        super().log(logs, *args, **kwargs)

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the model, and with a checkpoint the criterion; all processes know the same."""
        super().save_model(output_dir, _internal_call)
        in_checkpoint = _internal_call and output_dir is not None
        if in_checkpoint and self.criterion is not None and self.args.should_save:
            save_criterion(self.criterion, Path(f"{output_dir}") / STATE)


class _Beginning(TrainerCallback):  # type: ignore[misc]
    """Makes the criterion when training begins, and lets the weight decay follow its weights."""

    def __init__(self, trainer: MentorTrainer) -> None:
        self.trainer = trainer
        self._following: WeightDecay | None = None

    def on_train_begin(
        self, *_: Any, optimizer: Any, train_dataloader: DataLoader[Any], **__: Any
    ) -> None:
        self._leave()  # a training that began and failed
        criterion = self.trainer.begin(train_dataloader)
        optimizer = getattr(optimizer, "optimizer", optimizer)
        if any("weight_decay" in group for group in optimizer.param_groups):
            self._following = scale_weight_decay(optimizer, criterion)

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._following is not None:
            self._following.remove()
            self._following = None
