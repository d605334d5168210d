"""Lightning: a callback beside a `LightningModule` that uses `MentorLoss`.

The two lines in the module are

    self.criterion = MentorLoss(total_steps=...)              # in __init__
    loss = self.criterion(self(images), labels, index=index)  # in training_step

As a part of the module, the criterion follows its device, its checkpoints and its mode: in
validation it is the plain loss. A callback alone cannot weight samples, because it sees only the
mean loss.
"""

from __future__ import annotations

import warnings
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer

from mentornet.errors import MentorNetError
from mentornet.weighting import MentorLoss, WeightDecay, scale_weight_decay

__all__ = ["MentorCallback"]


class MentorCallback(Callback):  # type: ignore[misc]
    """Logs the mentor's metrics, and scales the weight decay.

    In a distributed run all processes have the same state. So the callback keeps Lightning from
    sending it to all processes at every step, as it does with buffers by default.

    Args:
        prefix: the prefix of the names in the log.
        scale_decay: whether to multiply the weight decay by the mean weight (App. E).
    """

    def __init__(self, prefix: str = "mentor/", *, scale_decay: bool = True) -> None:
        self.prefix, self.scale_decay = prefix, scale_decay
        self._following: list[WeightDecay] = []
        self._batches = 0

    def setup(
        self,
        trainer: Trainer,  # noqa: ARG002
        pl_module: LightningModule,
        stage: str,
    ) -> None:
        """Exclude the state from what is sent; a criterion made in `setup` is not found here."""
        ours = {
            f"{name}.{part}"
            for name, criterion in pl_module.named_modules()
            if isinstance(criterion, MentorLoss) and stage == "fit"
            for part, _ in criterion.named_buffers()
        }
        module: Any = pl_module
        module._ddp_params_and_buffers_to_ignore = sorted(
            {*getattr(module, "_ddp_params_and_buffers_to_ignore", ()), *ours}
        )

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Raise if the module has no criterion."""
        self._find(pl_module)
        self._batches = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Compare the number of steps, and scale the weight decay of the optimisers."""
        criterion = self._find(pl_module)
        batches, epochs = trainer.num_training_batches, trainer.max_epochs
        said = criterion.total_steps
        if trainer.max_steps < 0 and epochs is not None and epochs > 0 and isinstance(batches, int):
            steps = batches * epochs
            if abs(said - steps) > 0.02 * steps:
                warnings.warn(
                    f"MentorLoss expects total_steps={said}, but the trainer will take {steps}: "
                    f"{epochs} epochs of {batches} batches",
                    stacklevel=2,
                )
        if self.scale_decay:
            self._following = [
                scale_weight_decay(optimizer, criterion)
                for optimizer in trainer.optimizers
                if any("weight_decay" in group for group in optimizer.param_groups)
            ]

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Restore the optimisers."""
        for following in self._following:
            following.remove()
        self._following = []

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,  # noqa: ARG002
        batch: Any,  # noqa: ARG002
        batch_idx: int,  # noqa: ARG002
    ) -> None:
        """Log the metrics as often as the trainer logs."""
        self._batches += 1
        every = trainer.log_every_n_steps
        if every and self._batches % every == 0:
            criterion = self._find(pl_module)
            metrics = {f"{self.prefix}{name}": it for name, it in criterion.metrics().items()}
            pl_module.log_dict(metrics, batch_size=1)

    @staticmethod
    def _find(module: LightningModule) -> MentorLoss:
        for part in module.modules():
            if isinstance(part, MentorLoss):
                return part
        raise MentorNetError(
            f"there is no MentorLoss in {type(module).__name__}; in its __init__: "
            "self.criterion = MentorLoss(total_steps=...)"
        )
