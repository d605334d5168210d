"""`MentorTrainer`: index, loss, checkpoints, processes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_text import main, reviews, tiny_model
from transformers import TrainingArguments

from mentornet import MentorLoss, MentorNetError
from mentornet.integrations.huggingface import INDEX, MentorTrainer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _random_state() -> Any:
    """transformers seeds the global generator: that is its way, and kept from the other tests."""
    with torch.random.fork_rng():
        before = random.getstate(), np.random.get_state()  # noqa: NPY002
        yield
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def test_the_example_learns_despite_wrong_labels(tmp_path: Path) -> None:
    trainer = main(f"{tmp_path}")
    assert trainer.evaluate()["eval_accuracy"] > 0.95
    assert trainer.criterion is not None
    assert trainer.criterion.noise_estimate().rate == pytest.approx(0.3, abs=0.05)
    logged = [row for row in trainer.state.log_history if "loss" in row]
    assert logged[-1]["mentor_progress"] == 99.0


def test_every_sample_reaches_the_loss_by_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[int, int] = {}
    plain = MentorLoss.forward

    def watching(self: MentorLoss, *inputs: Any, **options: Any) -> torch.Tensor:
        seen.update(zip(options["index"].tolist(), inputs[1].tolist(), strict=True))
        return plain(self, *inputs, **options)

    monkeypatch.setattr(MentorLoss, "forward", watching)
    main(f"{tmp_path}", num_train_epochs=1)
    rows = reviews(1600, seed=0, noise=0.3)
    assert seen == {index: row["labels"] for index, row in enumerate(rows)}


def test_resumed_from_a_checkpoint_it_ends_the_same_bit_for_bit(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "num_train_epochs": 2, "save_strategy": "steps", "save_steps": 50,
        "gradient_accumulation_steps": 2, "per_device_train_batch_size": 16,
    }  # fmt: skip
    whole = main(f"{tmp_path / 'a'}", **options)
    assert whole.criterion is not None
    assert whole.criterion.engine.total_steps == 200  # calls, not steps of the optimiser
    assert whole.criterion.engine.step == 200
    again = MentorTrainer(
        model=tiny_model(), args=whole.args, train_dataset=reviews(1600, seed=0, noise=0.3)
    )
    again.train(resume_from_checkpoint=f"{tmp_path / 'a' / 'checkpoint-50'}")
    assert again.criterion is not None
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[name]), name
    for name, value in whole.criterion.state_dict().items():
        assert torch.equal(value, again.criterion.state_dict()[name]), name
    (tmp_path / "a" / "checkpoint-50" / "mentor_loss.safetensors").unlink()
    with pytest.raises(MentorNetError, match=r"has no mentor_loss\.safetensors"):
        again.train(resume_from_checkpoint=f"{tmp_path / 'a' / 'checkpoint-50'}")


@pytest.mark.parametrize(("options", "calls"), [({}, 20), ({"max_steps": 5}, 14)])
def test_steps_are_counted_where_accumulation_does_not_divide_an_epoch(
    options: dict[str, Any], calls: int, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "num_train_epochs": 4, "gradient_accumulation_steps": 4, "per_device_train_batch_size": 16,
        "use_cpu": True, "report_to": [], "save_strategy": "no", "disable_tqdm": True,
    }  # fmt: skip
    args = TrainingArguments(f"{tmp_path}", **settings | options)
    trainer = MentorTrainer(model=tiny_model(), args=args, train_dataset=reviews(80, 0, 0.2))
    for _ in range(2):  # the second training begins anew
        trainer.train()
        assert trainer.criterion is not None
        assert trainer.criterion.engine.total_steps == calls
        assert trainer.criterion.engine.step == calls


@pytest.mark.usefixtures("learns_twice")
def test_verified_samples_teach_a_mentor(tmp_path: Path) -> None:
    rows = reviews(1600, seed=0, noise=0.3)
    true = reviews(1600, seed=0, noise=0.0)
    right = [a["labels"] == b["labels"] for a, b in zip(rows, true, strict=True)]
    args = main(f"{tmp_path}", num_train_epochs=1).args
    trainer = MentorTrainer(
        model=tiny_model(),
        args=args,
        train_dataset=rows,
        verified=(range(1300, 1600), right[1300:]),
    )
    trainer.train()
    assert trainer.criterion is not None
    assert len(trainer.criterion.notes) >= 1


def test_two_processes(tmp_path: Path) -> None:
    """The weights are those of the whole batch; so is what each process knows of the samples."""
    program = (
        "import os, sys, torch\n"
        "torch.set_num_threads(1)\n"
        "from huggingface_text import main\n"
        "t = main(sys.argv[1], num_train_epochs=5, ddp_backend='gloo')\n"
        "r = t.criterion.records\n"
        "torch.save({'seen': ~r.loss.isnan(), 'steps': int(t.criterion.engine.step),"
        " 'total': t.criterion.engine.total_steps, 'weight': t.model.classifier.weight.detach(),"
        " 'accuracy': t.evaluate()['eval_accuracy']}, f'{sys.argv[1]}/{t.args.process_index}.pt')\n"
        "torch.distributed.barrier()\n"
        "os._exit(0)  # gloo's threads now and then abort a process that ends by itself\n"
    )
    (tmp_path / "run.py").write_text(program)
    path = os.pathsep.join([f"{ROOT / 'examples'}", os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2",
            "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0",
            f"{tmp_path / 'run.py'}", f"{tmp_path}",
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    one, two = (torch.load(tmp_path / f"{rank}.pt", weights_only=False) for rank in (0, 1))
    assert torch.equal(one["weight"], two["weight"])
    assert one["accuracy"] > 0.95
    assert one["steps"] == one["total"] == two["steps"] == 125
    assert one["seen"].all()
    assert two["seen"].all()


def test_what_cannot_be(tmp_path: Path) -> None:
    args = main(f"{tmp_path}", num_train_epochs=1).args
    with pytest.raises(MentorNetError, match="did you mean 'auto'"):
        MentorTrainer(
            model=tiny_model(), args=args, mentor="atuo", train_dataset=reviews(32, 0, 0.0)
        )
    with pytest.raises(MentorNetError, match="has its own loss"):
        MentorTrainer(model=tiny_model(), args=args, compute_loss_func=lambda *_: None)
    rows = [{k: v for k, v in row.items() if k != "labels"} for row in reviews(32, 0, 0.0)]
    with pytest.raises(MentorNetError, match="there are no labels among"):
        MentorTrainer(model=tiny_model(), args=args, train_dataset=rows).train()
    with pytest.raises(MentorNetError, match="MentorTrainer sets samples itself"):
        MentorTrainer(model=tiny_model(), args=args, mentor_options={"samples": 5})
    assert INDEX == "sample_index"
