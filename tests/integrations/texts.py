"""Small trainings of a language model, which processes of tests can start too."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from huggingface_llm import examples, tiny_model, tokenizer_of, tokens
from safetensors.torch import save_file
from transformers import DataCollatorForSeq2Seq, PreTrainedTokenizerFast, TrainingArguments

from mentornet.integrations.huggingface import MentorTrainer


def rows(count: int) -> tuple[list[dict[str, Any]], PreTrainedTokenizerFast]:
    """Tokenised examples of two lengths."""
    made = examples(count)
    tokenizer = tokenizer_of(made)
    return [tokens(row, tokenizer) for row in made], tokenizer


def arguments(folder: Path, **options: Any) -> TrainingArguments:
    settings: dict[str, Any] = {
        "num_train_epochs": 2, "per_device_train_batch_size": 4, "learning_rate": 1e-2,
        "logging_steps": 1, "save_strategy": "no", "report_to": [], "use_cpu": True,
        "disable_tqdm": True,
    }  # fmt: skip
    return TrainingArguments(f"{folder}", **settings | options)


def trainer(
    folder: Path,
    count: int = 40,
    *,
    mentor: str = "auto",
    mentor_options: dict[str, Any] | None = None,
    verified: Any = None,
    **options: Any,
) -> MentorTrainer:
    made, tokenizer = rows(count)
    if "save_steps" in options:
        options["save_strategy"] = "steps"
    return MentorTrainer(
        model=tiny_model(tokenizer), args=arguments(folder, **options), train_dataset=made,
        data_collator=DataCollatorForSeq2Seq(tokenizer), mentor=mentor,
        mentor_options=mentor_options, verified=verified,
    )  # fmt: skip


def train_and_save(folder: Path, batch: int) -> None:
    """Train at two levels with a mentor that is used at once, and save models and records."""
    folder.mkdir(parents=True, exist_ok=True)
    several = "RANK" in os.environ
    for level in ("text", "token"):
        here = trainer(
            folder, mentor="pd", optim="sgd",
            mentor_options={"level": level, "burn_in": 0.0},
            per_device_train_batch_size=batch, gradient_accumulation_steps=2, learning_rate=0.3,
            ddp_backend="gloo" if several else None,
        )  # fmt: skip
        here.train()
        assert here.criterion is not None
        assert here.criterion.records is not None
        records = here.criterion.records
        kept = {"loss": records.loss, "weight_sum": records.weight_sum}
        kept |= {name: value.clone() for name, value in here.model.state_dict().items()}
        save_file(kept, folder / f"{level}-{here.args.process_index}.safetensors")
    if several:
        torch.distributed.barrier()
        os._exit(0)  # gloo's threads now and then abort a process that ends by itself
