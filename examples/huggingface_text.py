"""MentorNet in Hugging Face: `MentorTrainer` in place of `Trainer`.

    python examples/huggingface_text.py

The sentences and the small transformer are made here, so that nothing is downloaded. In your
project, `AutoModelForSequenceClassification.from_pretrained` and your dataset take their place.
"""

from __future__ import annotations

import random
from typing import Any

import torch
from transformers import BertConfig, BertForSequenceClassification, TrainingArguments

from mentornet.integrations.huggingface import MentorTrainer

GOOD = ["lovely", "fresh", "kind", "bright", "warm", "clever"]
BAD = ["stale", "rude", "dull", "cold", "bitter", "clumsy"]
OTHER = [
    "the",
    "a",
    "room",
    "staff",
    "was",
    "were",
    "food",
    "and",
    "very",
    "quite",
    "place",
    "there",
    "evening",
]
WORDS = {word: 3 + k for k, word in enumerate([*GOOD, *BAD, *OTHER])}
LENGTH = 12


def reviews(count: int, seed: int, noise: float) -> list[dict[str, Any]]:
    """Return tokenised reviews, good (1) or bad (0); a share of the labels is wrong."""
    draw, rows = random.Random(seed), []
    for _ in range(count):
        label = draw.randrange(2)
        words = draw.choices(OTHER, k=8) + draw.choices(GOOD if label else BAD, k=2)
        draw.shuffle(words)
        tokens = [1, *(WORDS[word] for word in words), 2]
        given = 1 - label if draw.random() < noise else label
        rows.append({"input_ids": tokens, "attention_mask": [1] * LENGTH, "labels": given})
    return rows


def tiny_model() -> BertForSequenceClassification:
    """Return a transformer with two small layers and random weights."""
    sizes = BertConfig(
        vocab_size=3 + len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=LENGTH, num_labels=2,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return BertForSequenceClassification(sizes)


def accuracy(prediction: Any) -> dict[str, float]:
    """Return the accuracy in the form that the trainer expects."""
    right = prediction.predictions.argmax(1) == prediction.label_ids
    return {"accuracy": float(right.mean())}


def main(out: str = "runs/huggingface", **options: Any) -> MentorTrainer:
    """Train on reviews, three in ten labels wrong, and print the accuracy and the noise rate."""
    settings: dict[str, Any] = {
        "num_train_epochs": 5, "per_device_train_batch_size": 32, "learning_rate": 2e-3,
        "logging_steps": 50, "save_strategy": "no", "report_to": [], "use_cpu": True,
        "disable_tqdm": True,
    }  # fmt: skip
    trainer = MentorTrainer(
        model=tiny_model(),
        args=TrainingArguments(out, **settings | options),
        train_dataset=reviews(1600, seed=0, noise=0.3),
        eval_dataset=reviews(400, seed=1, noise=0.0),
        compute_metrics=accuracy,
    )
    trainer.train()
    found = trainer.evaluate()  # in all processes
    if trainer.is_world_process_zero() and trainer.criterion is not None:
        print(f"accuracy {found['eval_accuracy']:.1%}")
        print(trainer.criterion.noise_estimate())
    return trainer


if __name__ == "__main__":
    main()
