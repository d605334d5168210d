"""`MentorTrainer` with language models and taggers: weights, exactness, processes, bad input."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_llm
import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    DataCollatorForSeq2Seq,
    Trainer,
)

from mentornet import MentorLoss, MentorNetError
from mentornet.integrations.huggingface import MentorTrainer
from tests.integrations import texts
from tests.processes import run_ranks

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def _random_state() -> Iterator[None]:
    """transformers seeds the global generators."""
    with torch.random.fork_rng():
        before = random.getstate(), np.random.get_state()  # noqa: NPY002
        yield
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def bert(kind: Any) -> nn.Module:
    sizes = BertConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=8, num_labels=3,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: nn.Module = kind(sizes)
    return model


def tagged(*, whole: bool) -> list[dict[str, Any]]:
    """Rows of six tokens, with one label each, or one for each token but the first."""
    draw = random.Random(0)
    return [
        {
            "input_ids": draw.choices(range(40), k=6),
            "labels": draw.randrange(3) if whole else [-100, *draw.choices(range(3), k=5)],
        }
        for _ in range(20)
    ]


def both(folder: Path, level: str, make: Any, rows: Any, **options: Any) -> list[Trainer]:
    """Train plainly and with weights of 1."""
    trainers: list[Trainer] = []
    collate = options.pop("data_collator", None)
    ours: dict[str, Any] = {
        "mentor": "uniform", "mentor_options": {"burn_in": 0.0, "level": level}
    }  # fmt: skip
    for kind, more in ((Trainer, {}), (MentorTrainer, ours)):
        args = texts.arguments(folder, **options)
        trainers.append(
            kind(model=make(), args=args, train_dataset=rows, data_collator=collate, **more)
        )
        trainers[-1].train()  # before the next one seeds the generators
    return trainers


def assert_same(plain: Trainer, ours: Trainer) -> None:
    losses = [
        [row["loss"] for row in one.state.log_history if "loss" in row] for one in (plain, ours)
    ]
    assert losses[0] == losses[1]
    assert len(losses[0]) == plain.state.max_steps
    for name, value in plain.model.state_dict().items():
        assert torch.equal(value, ours.model.state_dict()[name]), name


@pytest.mark.parametrize("level", ["text", "token"])
def test_weights_of_1_are_the_plain_trainer_of_a_language_model(level: str, tmp_path: Path) -> None:
    """Bit for bit, with micro-batches of different numbers of labels."""
    rows, tokenizer = texts.rows(25)
    plain, ours = both(
        tmp_path, level, lambda: huggingface_llm.tiny_model(tokenizer), rows,
        data_collator=DataCollatorForSeq2Seq(tokenizer), gradient_accumulation_steps=3,
    )  # fmt: skip
    assert_same(plain, ours)
    assert ours.evaluate(rows)["eval_loss"] == plain.evaluate(rows)["eval_loss"]


@pytest.mark.parametrize("level", ["text", "token"])
def test_weights_of_1_are_the_plain_trainer_of_a_tagger(level: str, tmp_path: Path) -> None:
    rows = tagged(whole=False)
    assert_same(*both(tmp_path, level, lambda: bert(BertForTokenClassification), rows))


def test_weights_of_1_are_the_plain_trainer_of_a_classifier(tmp_path: Path) -> None:
    rows = tagged(whole=True)
    assert_same(*both(tmp_path, "sample", lambda: bert(BertForSequenceClassification), rows))


def test_accumulation_divides_by_all_labels_where_a_model_does_not(tmp_path: Path) -> None:
    """BERT ignores the count, so that `Trainer` adds the means of the micro-batches."""
    rows = tagged(whole=True)
    plain, ours = both(
        tmp_path, "sample", lambda: bert(BertForSequenceClassification), rows, max_steps=1,
        gradient_accumulation_steps=2,
    )  # fmt: skip
    added, mean = (one.state.log_history[0]["loss"] for one in (plain, ours))
    assert mean == pytest.approx(added / 2, rel=1e-6)


def test_the_example_finds_the_garbage(tmp_path: Path) -> None:
    found = huggingface_llm.main(f"{tmp_path}")
    assert found["average precision"] > 0.97
    assert found["estimate"] == pytest.approx(found["garbage"], abs=0.05)
    assert found["weight of garbage"] < 0.1
    assert found["weight of the others"] > 0.9


def test_resumed_it_ends_the_same_bit_for_bit(tmp_path: Path) -> None:
    """In the middle of an epoch, with a mentor that was learned before the checkpoint."""
    verified = range(24), [row % 3 > 0 for row in range(24)]
    options = {"updates": (0.2,)}
    whole = texts.trainer(tmp_path, verified=verified, mentor_options=options, save_steps=4)
    whole.train()
    folder = tmp_path / "checkpoint-4"
    again = texts.trainer(tmp_path / "b", verified=verified, mentor_options=options)
    again.train(resume_from_checkpoint=f"{folder}")
    assert whole.criterion is not None
    assert again.criterion is not None
    assert len(again.criterion.notes) == 1
    assert again.criterion.notes == whole.criterion.notes
    for one, other in ((whole.model, again.model), (whole.criterion, again.criterion)):
        there = other.state_dict()
        for name, value in one.state_dict().items():
            same = torch.equal(value, there[name]) if isinstance(value, torch.Tensor) else True
            assert same, name
    assert whole.state.log_history[-2]["loss"] == again.state.log_history[-2]["loss"]

    state = folder / "mentor_loss.safetensors"
    assert "engine.level.value" in {name.rsplit("/", 1)[-1] for name in load_file(state)}
    other = texts.trainer(tmp_path / "c", mentor="uniform")
    with pytest.raises(MentorNetError, match="is the state of another training"):
        other.train(resume_from_checkpoint=f"{folder}")
    state.write_bytes(state.read_bytes()[:-9])
    with pytest.raises(MentorNetError, match="cannot be read as the state of a criterion"):
        other.train(resume_from_checkpoint=f"{folder}")
    with pytest.raises(MentorNetError, match="there is no checkpoint in"):
        other.train(resume_from_checkpoint=True)


def test_two_processes_equal_one(tmp_path: Path) -> None:
    """With weights of texts and of tokens; each process pads to its own longest text."""
    for code, told in run_ranks(tmp_path / "two", texts.train_and_save, tmp_path / "two", 4):
        assert code == 0, told[-3000:]
    texts.train_and_save(tmp_path / "one", 8)
    for level in ("text", "token"):
        one = load_file(tmp_path / "one" / f"{level}-0.safetensors")
        first, second = (
            load_file(tmp_path / "two" / f"{level}-{rank}.safetensors") for rank in (0, 1)
        )
        for name, value in one.items():
            torch.testing.assert_close(first[name], value, rtol=1e-3, atol=1e-5)
            assert torch.equal(first[name], second[name]), name
        assert one["weight_sum"].min() < 1.9  # of two epochs


def test_the_log_has_the_mean_weight_since_the_last_one_and_the_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []
    plain = MentorLoss.forward

    def watching(self: MentorLoss, *inputs: Any, **options: Any) -> torch.Tensor:
        loss = plain(self, *inputs, **options)
        seen.append(self.weights.mean().item())
        return loss

    monkeypatch.setattr(MentorLoss, "forward", watching)
    half = {"burn_in": 0.5, "burn_in_drop": 0.5}
    trainer = texts.trainer(tmp_path, mentor="pd", mentor_options=half, logging_steps=5)
    trainer.train()
    logged = [row for row in trainer.state.log_history if "loss" in row]
    means = [sum(seen[start : start + 5]) / 5 for start in range(0, 20, 5)]
    assert [row["mentor_mean_weight"] for row in logged] == pytest.approx(means, abs=1e-6)
    assert means[0] < 0.8 < means[-1]
    assert trainer.criterion is not None
    rate = trainer.criterion.noise_estimate().rate
    assert logged[-1]["mentor_noise_estimate"] == rate


def test_a_collator_need_not_know_of_the_numbers(tmp_path: Path) -> None:
    """Nor need a row be of a list: some datasets read several rows together."""

    class Together(list[Any]):
        def __getitems__(self, indices: list[int]) -> list[Any]:
            return [self[index] for index in indices]

    def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        assert all(set(row) == {"input_ids", "labels"} for row in rows)
        return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}

    trainer = MentorTrainer(
        model=bert(BertForTokenClassification), args=texts.arguments(tmp_path),
        train_dataset=Together(tagged(whole=False)), data_collator=collate,
    )  # fmt: skip
    trainer.train()
    assert trainer.criterion is not None
    assert trainer.criterion.records is not None
    assert trainer.criterion.records.loss.isfinite().all()
    assert trainer.data_collator is collate


def test_a_sample_without_a_label_is_left_out_with_a_warning(tmp_path: Path) -> None:
    rows = tagged(whole=False)
    rows[7] = {**rows[7], "labels": [-100] * 6}
    trainer = MentorTrainer(
        model=bert(BertForTokenClassification), args=texts.arguments(tmp_path), train_dataset=rows
    )
    with pytest.warns(UserWarning, match="sample 7 has no label: all of its labels are -100"):
        trainer.train()
    assert trainer.criterion is not None
    assert trainer.criterion.records is not None
    unseen = trainer.criterion.records.loss.isnan().nonzero().flatten()
    assert unseen.tolist() == [7]


BAD: dict[str, tuple[Any, Any, str]] = {
    "no labels": (
        BertForTokenClassification,
        [{"input_ids": [1, 2]}] * 8,
        "there are no labels among attention_mask, input_ids|there are no labels among input_ids",
    ),
    "all masked": (
        BertForTokenClassification,
        [{"input_ids": [1, 2], "labels": [-100, -100]}] * 8,
        "all labels of the batch are -100",
    ),
    "no logits": (
        BertModel,
        [{"input_ids": [1, 2], "labels": [0, 1]}] * 8,
        "BertModel returns no logits, only last_hidden_state, pooler_output; use a model with a",
    ),
    "label out of range": (
        BertForTokenClassification,
        [{"input_ids": [1, 2], "labels": [0, 3]}] * 8,
        "label 3 is not one of the 3 classes 0–2",
    ),
    "other number of labels": (
        BertForTokenClassification,
        [{"input_ids": [1, 2], "labels": [0, 1, 2]}] * 8,
        "have 4 × 2 tokens, but labels have shape",
    ),
    "rows are no dicts": (BertForTokenClassification, [(1, 2)] * 8, "row . is a tuple"),
}


def test_packed_samples_are_refused(tmp_path: Path) -> None:
    def pack(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return {name: torch.tensor([row[name] for row in rows]).view(1, -1) for name in rows[0]}

    trainer = MentorTrainer(
        model=bert(BertForTokenClassification), args=texts.arguments(tmp_path),
        train_dataset=tagged(whole=False), data_collator=pack,
    )  # fmt: skip
    with pytest.raises(MentorNetError, match="has made 1 rows of 4 samples; packed samples"):
        trainer.train()


@pytest.mark.filterwarnings("ignore:sample")
@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(name: str, tmp_path: Path) -> None:
    kind, rows, message = BAD[name]
    trainer = MentorTrainer(
        model=bert(kind),
        args=texts.arguments(tmp_path, remove_unused_columns=False),
        train_dataset=rows,
    )
    with pytest.raises(MentorNetError, match=message) as error:
        trainer.train()
    assert "\n" not in f"{error.value}"


def test_bad_settings_are_found_before_work_starts(tmp_path: Path) -> None:
    with pytest.raises(
        MentorNetError, match="verified sample 20 is not one of the 20 training samples"
    ):
        texts.trainer(tmp_path, count=20, verified=(range(10, 26), [True] * 16))
    with pytest.raises(MentorNetError, match="did you mean 'token'"):
        texts.trainer(tmp_path, mentor_options={"level": "tokens"})
    endless = (row for row in tagged(whole=False))
    with pytest.raises(MentorNetError, match="needs a training set of known length"):
        MentorTrainer(
            model=bert(BertForTokenClassification),
            train_dataset=endless,
            args=texts.arguments(tmp_path, max_steps=3),
        )
