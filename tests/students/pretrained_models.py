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
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=12,
    )  # fmt: skip
    with seeded(0):
        BertModel(config).save_pretrained(folder)
    pieces = Tokenizer(
        WordPiece({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    pieces.pre_tokenizer = Whitespace()
    pieces.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(tokenizer_object=pieces, unk_token="[UNK]").save_pretrained(folder)
    return folder


def pixels(count: int, side: int = 16, channels: int = 3) -> torch.Tensor:
    """Random images."""
    draws = torch.Generator().manual_seed(count)
    return torch.randint(256, (count, channels, side, side), dtype=torch.uint8, generator=draws)
