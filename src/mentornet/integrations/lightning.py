"""Lightning: a callback beside a `LightningModule` that uses `MentorLoss`.

The two lines in the module are

    self.criterion = MentorLoss(total_steps=...)              # in __init__
    loss = self.criterion(self(images), labels, index=index)  # in training_step

As a part of the module the criterion is on its device, in its checkpoints, and in its mode: in
validation it is the plain loss. A callback alone could not weigh samples; it sees reduced losses.
"""

from __future__ import annotations

import warnings
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer

from mentornet.errors import MentorNetError
from mentornet.weighting import MentorLoss, WeightDecay, scale_weight_decay

__all__ = ["MentorCallback"]


class MentorCallback(Callback):  # type: ignore[misc]
    """Logs what the mentor does, and scales the weight decay.

    In a distributed run all processes come to the same state, so the callback sees to it that it is
    not sent about at every step, as buffers are by default.

    Args:
        prefix: of the names in the log.
        scale_decay: whether the optimisers' weight decay follows the weights (App. E).
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
        """Keep the state from being sent about; a criterion made in `setup` comes later."""
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
        """Say what is amiss before work starts."""
        self._find(pl_module)
        self._batches = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Compare the steps, and take hold of the optimisers."""
        criterion = self._find(pl_module)
        batches, epochs = trainer.num_training_batches, trainer.max_epochs
        said = criterion.total_steps
        if trainer.max_steps < 0 and epochs is not None and epochs > 0 and isinstance(batches, int):
            steps = batches * epochs
            if abs(said - steps) > 0.02 * steps:
                warnings.warn(
                    f"MentorLoss was told of {said} steps, but the trainer will take {steps}: "
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
        """Let the optimisers be as they were."""
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
        """Log the figures as often as the trainer logs."""
        self._batches += 1
        every = trainer.log_every_n_steps
        if every and self._batches % every == 0:
            criterion = self._find(pl_module)
            figures = {f"{self.prefix}{name}": it for name, it in criterion.metrics().items()}
            pl_module.log_dict(figures, batch_size=1)

    @staticmethod
    def _find(module: LightningModule) -> MentorLoss:
        for part in module.modules():
            if isinstance(part, MentorLoss):
                return part
        raise MentorNetError(
            f"there is no MentorLoss in {type(module).__name__}; in its __init__: "
            "self.criterion = MentorLoss(total_steps=...)"
        )
