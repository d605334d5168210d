"""The Lightning callback: state, logs, weight decay, warnings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightning as L  # noqa: N812
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from mentornet import MentorLoss, MentorNetError, scale_weight_decay
from mentornet.integrations.lightning import MentorCallback
from mentornet.randomness import generator

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning:lightning", "ignore::FutureWarning", "ignore::DeprecationWarning",
    "ignore:.*num_workers.*", "ignore:.*litlogger.*", "ignore:.*treespec.*",
    "ignore:.*validation_step.*",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _random_state() -> Iterator[None]:
    """A DataLoader draws from the global generator: that is its way, and kept from other tests."""
    with torch.random.fork_rng():
        yield


class Net(L.LightningModule):  # type: ignore[misc]
    def __init__(self, total_steps: int, criterion: nn.Module | None = None) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.student = nn.Linear(6, 3)
        self.criterion = criterion or MentorLoss("pd", total_steps, samples=96)
        self.validated: list[tuple[torch.Tensor, torch.Tensor]] = []

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        inputs, label, index = batch
        loss: torch.Tensor = self.criterion(self.student(inputs), label, index=index)
        return loss

    def validation_step(self, batch: Any, _: int) -> None:
        logits = self.student(batch[0])
        plain = nn.functional.cross_entropy(logits, batch[1])
        self.validated.append((self.criterion(logits, batch[1]), plain))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.student.parameters(), lr=0.1, weight_decay=0.1)


def loader() -> DataLoader[Any]:
    draw = generator(0)
    inputs = torch.randn(96, 6, generator=draw)
    label = torch.randint(3, (96,), generator=draw)
    return DataLoader(TensorDataset(inputs, label, torch.arange(96)), batch_size=16)


def trainer(folder: Path, epochs: int, **options: Any) -> L.Trainer:
    return L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, enable_checkpointing=False, default_root_dir=folder,
        callbacks=[MentorCallback()], log_every_n_steps=3, **options,
    )  # fmt: skip


def test_resumed_from_a_checkpoint_it_ends_the_same_bit_for_bit(tmp_path: Path) -> None:
    whole, first, second = Net(24), Net(24), Net(24)
    trainer(tmp_path, 4).fit(whole, loader())
    half = trainer(tmp_path, 2)
    with pytest.warns(UserWarning, match="expects total_steps=24, but the trainer will take 12"):
        half.fit(first, loader())
    half.save_checkpoint(tmp_path / "half.ckpt")
    trainer(tmp_path, 4).fit(second, loader(), ckpt_path=tmp_path / "half.ckpt")
    for name, value in whole.state_dict().items():
        assert torch.equal(value, second.state_dict()[name]), name


def test_figures_are_logged_and_validation_sees_the_plain_loss(tmp_path: Path) -> None:
    made, module = trainer(tmp_path, 2), Net(12)
    made.fit(module, loader(), loader())
    assert made.callback_metrics["mentor/progress"] == 99.0
    assert 0 < made.callback_metrics["mentor/mean_weight"] < 1
    assert module.validated
    assert all(torch.equal(ours, plain) for ours, plain in module.validated)
    assert isinstance(module.criterion, MentorLoss)
    assert module.criterion.engine.step == 12


def test_it_is_the_plain_loop_with_the_same_criterion(tmp_path: Path) -> None:
    module, plain = Net(12), Net(12)
    trainer(tmp_path, 2).fit(module, loader())
    sgd = plain.configure_optimizers()
    assert isinstance(plain.criterion, MentorLoss)
    scale_weight_decay(sgd, plain.criterion)
    for _ in range(2):
        for batch in loader():
            loss = plain.training_step(batch, 0)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
    assert torch.equal(module.student.weight, plain.student.weight)


def test_the_state_is_not_sent_about(tmp_path: Path) -> None:
    module = Net(12)
    trainer(tmp_path, 1, limit_train_batches=1).fit(module, loader())
    ignored = module._ddp_params_and_buffers_to_ignore
    assert "criterion.account.records.loss" in ignored
    assert not any(name.startswith("student") for name in ignored)


class Late(Net):
    """Makes its criterion where the number of steps is known."""

    def __init__(self) -> None:
        super().__init__(1, nn.CrossEntropyLoss())

    def setup(self, stage: str) -> None:
        self.criterion = MentorLoss("pd", int(self.trainer.estimated_stepping_batches), samples=96)


def test_a_criterion_made_in_setup_and_logs_across_epochs(tmp_path: Path) -> None:
    module = Late()
    made = L.Trainer(
        max_epochs=4, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, enable_checkpointing=False, default_root_dir=tmp_path,
        callbacks=[MentorCallback()], log_every_n_steps=20,
    )  # fmt: skip
    made.fit(module, loader())
    assert isinstance(module.criterion, MentorLoss)
    assert module.criterion.engine.total_steps == 24
    assert made.callback_metrics["mentor/progress"] == 83.0  # after 20 of 24 batches


def test_without_a_criterion_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(MentorNetError, match="there is no MentorLoss in Net"):
        trainer(tmp_path, 1).fit(Net(1, nn.CrossEntropyLoss()), loader())
