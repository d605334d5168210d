"""Folders of tiny models of Hugging Face transformers, with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from mentornet.randomness import seeded

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film", "a", "very"]

PROCESSOR = {
    "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
    "image_mean": [0.5, 0.4, 0.3], "image_std": [0.5, 0.25, 0.2],
    "size": {"height": 16, "width": 16},
}  # fmt: skip


def image_model(folder: Path, classes: int = 7, **processor: Any) -> Path:
    """A residual network for images of 16 × 16 pixels."""
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic",
        num_labels=classes,
    )  # fmt: skip
    with seeded(0):
        ResNetForImageClassification(config).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR | processor))
    return folder


def text_model(folder: Path) -> Path:
    """An encoder of ten words."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=12,
    )  # fmt: skip
    with seeded(0):
        BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(vocab_file=f"{folder / 'vocab.txt'}").save_pretrained(folder)
    return folder


def pixels(count: int, side: int = 16, channels: int = 3) -> torch.Tensor:
    """Random images."""
    draws = torch.Generator().manual_seed(count)
    return torch.randint(256, (count, channels, side, side), dtype=torch.uint8, generator=draws)
