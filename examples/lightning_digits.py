"""MentorNet in Lightning: two lines in the module, and a callback.

python examples/lightning_digits.py
"""

from __future__ import annotations

from typing import Any

import lightning as L  # noqa: N812
import torch
from plain_loop import network, noisy_digits
from torch.utils.data import DataLoader, TensorDataset

from mentornet import MentorLoss
from mentornet.integrations.lightning import MentorCallback


class Digits(L.LightningModule):  # type: ignore[misc]
    """An ordinary LightningModule; the two lines that MentorNet needs are marked."""

    def __init__(self, total_steps: int, samples: int) -> None:
        super().__init__()
        self.student = network()
        self.criterion = MentorLoss(total_steps=total_steps, samples=samples)  # ← one

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        """Return the weighted loss."""
        images, given, index = batch
        return self.criterion(self.student(images), given, index=index)  # ← two

    def validation_step(self, batch: Any, _: int) -> None:
        """Log the plain loss and the accuracy."""
        images, label = batch
        logits = self.student(images)
        self.log("val_loss", self.criterion(logits, label))
        self.log("val_accuracy", (logits.argmax(1) == label).float().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return SGD over the weights of the student."""
        return torch.optim.SGD(self.student.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)


def main(epochs: int = 40, **options: Any) -> L.Trainer:
    """Train on digits, four in ten labels wrong, and print the accuracy and the noise rate."""
    images, given, test_images, test_labels = noisy_digits(seed=0)
    data = TensorDataset(images, given, torch.arange(len(given)))
    loader = DataLoader(data, batch_size=64, shuffle=True)
    test = DataLoader(TensorDataset(test_images, test_labels), batch_size=400)
    module = Digits(total_steps=epochs * len(loader), samples=len(data))
    trainer = L.Trainer(
        max_epochs=epochs, callbacks=[MentorCallback()], accelerator="cpu",
        log_every_n_steps=len(loader), enable_model_summary=False, **options,
    )  # fmt: skip
    trainer.fit(module, loader, test)
    print(f"accuracy {trainer.callback_metrics['val_accuracy']:.1%}")
    print(module.criterion.noise_estimate())
    return trainer


if __name__ == "__main__":
    main()
