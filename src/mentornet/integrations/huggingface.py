"""Hugging Face: a `Trainer` for classifiers whose labels may be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer

from mentornet.curricula import Curriculum
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor
from mentornet.weighting import MentorLoss, WeightDecay, scale_weight_decay

__all__ = ["INDEX", "MentorTrainer"]

_STATE = "mentor_loss.pt"
INDEX = "sample_index"
"""The column with the number of the training sample."""


class MentorTrainer(Trainer):  # type: ignore[misc]
    """`transformers.Trainer` with `MentorLoss` in place of the model's own loss.

    Every training sample gets its index as a column, which `remove_unused_columns` does not remove.
    The criterion is made when training starts and the number of steps is known. It is saved with
    every checkpoint and restored on resume. In evaluation the loss is plain cross-entropy.

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

    train_dataset: Any
    optimizer: Any
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
        self._decay: WeightDecay | None = None
        self.model_accepts_loss_kwargs = False  # so the trainer averages over micro-batches
        if self.train_dataset is not None:
            if not hasattr(self.train_dataset, "__len__"):
                raise MentorNetError("MentorTrainer needs a training set of known length")
            self.train_dataset = _Indexed(self.train_dataset)
            self._make_criterion(1)  # raises at once if the options are wrong

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """Train as `Trainer.train` does; every call starts with a new criterion."""
        self.criterion, self._resumed_from = None, None
        if self._decay is not None:
            self._decay.remove()
            self._decay = None
        return super().train(*args, **kwargs)

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,  # noqa: ARG002
    ) -> Any:
        """Return the weighted loss in training, and plain cross-entropy in evaluation."""
        inputs = dict(inputs)
        index, labels = inputs.pop(INDEX, None), inputs.pop("labels", None)
        if labels is None:
            raise MentorNetError(f"there are no labels among {sorted(inputs)}")
        outputs = model(**inputs)
        logits = outputs["logits"] if isinstance(outputs, Mapping) else outputs[0]
        if model.training:
            loss = self._criterion(logits.device)(logits, labels, index=index)
        else:
            options = self.mentor_options
            loss = nn.functional.cross_entropy(
                logits, labels, options.get("class_weight"),
                label_smoothing=options.get("label_smoothing", 0.0),
            )  # fmt: skip
        return (loss, outputs) if return_outputs else loss

    def _criterion(self, device: torch.device) -> MentorLoss:
        """Return the criterion; it is made at the first step."""
        if self.criterion is None:
            self.criterion = self._make_criterion(self._calls()).to(device)
            if self._resumed_from is not None:
                file = self._resumed_from / _STATE
                state = torch.load(file, map_location=device, weights_only=True)
                self.criterion.load_state_dict(state)
            optimizer = getattr(self.optimizer, "optimizer", self.optimizer)
            if any("weight_decay" in group for group in optimizer.param_groups):
                self._decay = scale_weight_decay(optimizer, self.criterion)
        return self.criterion

    def _make_criterion(self, steps: int) -> MentorLoss:
        criterion = MentorLoss(
            self.mentor, steps, samples=len(self.train_dataset), **self.mentor_options
        )
        if self.verified is not None:
            criterion.learn_from(*self.verified)
        return criterion

    def _calls(self) -> int:
        """Return how often the loss will be called; an epoch's last step may have fewer batches."""
        batches, together = len(self.callback_handler.train_dataloader), self._together
        whole, rest = divmod(self.state.max_steps, -(-batches // together))
        return whole * batches + min(rest * together, batches)

    @property
    def _together(self) -> int:
        return int(self.args.gradient_accumulation_steps)

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Log the mentor's metrics beside the loss."""
        if "loss" in logs and self.criterion is not None:
            metrics = self.criterion.metrics()
            logs = logs | {f"mentor_{name}": value for name, value in metrics.items()}
        super().log(logs, *args, **kwargs)

    # Checkpoints: written once, as all processes know the same.

    _resumed_from: Path | None = None

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        if self.criterion is not None and self.is_world_process_zero():
            folder = (
                Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
            )
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f".{_STATE}"
            torch.save(self.criterion.state_dict(), part)
            part.replace(folder / _STATE)
        super()._save_checkpoint(model, trial)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None:
            if not (Path(checkpoint) / _STATE).is_file():
                raise MentorNetError(
                    f"{checkpoint} has no {_STATE}; was it written by a MentorTrainer?"
                )
            self._resumed_from = Path(checkpoint)

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()
        if INDEX not in self._signature_columns:
            self._signature_columns = [*self._signature_columns, INDEX]


class _Indexed(Dataset[dict[str, Any]]):
    """The rows of a dataset with their index."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {**self.rows[index], INDEX: index}
