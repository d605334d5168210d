"""Fine-tune a language model on questions half of whose answers are garbage.

    python examples/huggingface_llm.py

The answers of half of the examples were shuffled: each stands behind the question of another. A
`MentorTrainer` with `AutoModelForCausalLM.from_pretrained`, your tokenizer and your examples works
in the same way. Here the model is tiny and random, and the tokenizer knows words that are made up
here, so that nothing is downloaded.

A mentor looks at the mean loss of each answer. Questions about the same thing teach each other's
correct answers, but a shuffled answer contradicts them, so its loss stays large and its weight
becomes small. Afterwards the audit ranks the examples by how probably their answer is wrong.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    DataCollatorForSeq2Seq,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    TrainingArguments,
)

from mentornet.integrations.huggingface import MentorTrainer

COLOURS = ["red", "green", "blue", "white", "black", "grey", "brown", "pink"]
PLACES = ["hill", "sea", "wood", "town", "field", "river", "desert", "cave"]
QUESTIONS = ["tell me of the", "what do you know of the", "please describe the", "and the"]
ANIMALS = [first + second for first in ("lu", "mo", "ka", "ti") for second in ("ba", "ro", "ni")]
ANSWER, MASK = "answer:", -100


@dataclass(frozen=True)
class Example:
    """A question, the answer that is given, and whether the answer belongs to another question."""

    question: str
    answer: str
    is_garbage: bool


def examples(count: int, seed: int = 0) -> list[Example]:
    """Return questions about animals; the answers of every second one are shuffled."""
    draw, rows = random.Random(seed), []
    for _ in range(count):
        animal = draw.randrange(len(ANIMALS))
        colour, place = COLOURS[animal % 8], PLACES[(3 * animal + animal // 8) % 8]
        question = f"{draw.choice(QUESTIONS)} {ANIMALS[animal]} ?"
        rows.append((question, f"it is {colour} and lives near the {place} ."))
    others = list(range(1, count, 2))
    draw.shuffle(others)
    wrong = dict(zip(range(1, count, 2), others, strict=True))
    return [
        Example(question, rows[wrong.get(row, row)][1], rows[wrong.get(row, row)][1] != answer)
        for row, (question, answer) in enumerate(rows)
    ]


def tokenizer_of(rows: list[Example]) -> PreTrainedTokenizerFast:
    """Return a tokenizer that knows every word of these examples."""
    text = " ".join(f"{row.question} {ANSWER} {row.answer}" for row in rows)
    words = ["<pad>", "<end>", *sorted(set(text.split()))]
    model = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, "<end>"))
    model.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token="<pad>", eos_token="<end>", unk_token="<end>"
    )


def tokens(row: Example, tokenizer: PreTrainedTokenizerFast) -> dict[str, list[int]]:
    """Return the tokens of an example; the labels of its question are −100."""
    question = tokenizer(f"{row.question} {ANSWER}")["input_ids"]
    answer = tokenizer(f"{row.answer} <end>")["input_ids"]
    both = question + answer
    return {
        "input_ids": both,
        "attention_mask": [1] * len(both),
        "labels": [MASK] * len(question) + answer,
    }


def tiny_model(tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    """Return a GPT-2 of one small layer, 9,000 random weights in all."""
    sizes = GPT2Config(
        vocab_size=len(tokenizer), n_positions=32, n_embd=24, n_layer=1, n_head=2,
        bos_token_id=1, eos_token_id=1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        initializer_range=0.2,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return GPT2LMHeadModel(sizes)


def main(out: str = "runs/llm", count: int = 700, **options: Any) -> dict[str, float]:
    """Fine-tune, and print the mean weights and how well garbage is found."""
    rows = examples(count)
    tokenizer = tokenizer_of(rows)
    settings: dict[str, Any] = {
        "num_train_epochs": 8, "per_device_train_batch_size": 16, "learning_rate": 1e-2,
        "logging_steps": 50, "save_strategy": "no",
        "report_to": [], "use_cpu": True, "disable_tqdm": True,
    }  # fmt: skip
    trainer = MentorTrainer(
        model=tiny_model(tokenizer),
        args=TrainingArguments(out, **settings | options),
        train_dataset=[tokens(row, tokenizer) for row in rows],
        data_collator=DataCollatorForSeq2Seq(tokenizer),
    )
    trainer.train()
    criterion = trainer.criterion
    assert criterion is not None
    assert criterion.records is not None

    ranking = criterion.audit()
    garbage = np.array([rows[index].is_garbage for index in ranking.evidence.index])
    weight = criterion.records.weight.numpy()  # the last of each example
    found = {
        "garbage": float(garbage.mean()),
        "estimate": criterion.noise_estimate().rate,
        "weight of garbage": float(weight[garbage].mean()),
        "weight of the others": float(weight[~garbage].mean()),
        "average precision": float(average_precision_score(garbage, -ranking.quality)),
    }
    for name, value in found.items():
        print(f"{name:22}{value:.2f}")
    return found


if __name__ == "__main__":
    main()
