"""Which label each logit of a model of transformers is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from mentornet.errors import MentorNetError
from mentornet.weighting.checks import IGNORE

__all__ = ["logits_of", "predicts_next", "shifted"]

_PREDICT_NEXT = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


def predicts_next(model: nn.Module) -> bool:
    """Return whether the logits at a token predict the next one, as in causal language models.

    Args:
        model: a model of transformers, or one that PEFT has wrapped.
    """
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    if getattr(getattr(inner, "config", None), "is_encoder_decoder", False):
        return False
    name = type(inner).__name__
    known = name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()
    return known or name.endswith(_PREDICT_NEXT)


def shifted(labels: Tensor) -> Tensor:
    """Return the label of each logit of a causal language model: that of the next token.

    The last logit of a text has none. No logits are cut off, so that sums over tokens have the
    order that they have in transformers.

    Args:
        labels: `(B, T)`, −100 for none.

    >>> shifted(torch.tensor([[-100, 5, 7]]))
    tensor([[   5,    7, -100]])
    """
    return nn.functional.pad(labels[..., 1:], (0, 1), value=IGNORE)


def logits_of(outputs: Any, model: nn.Module) -> Tensor:
    """Return the logits among the outputs of a model, or raise if there are none."""
    if isinstance(outputs, Mapping):
        found, there = outputs.get("logits"), f"only {', '.join(outputs)}"
    else:
        first = outputs[0] if isinstance(outputs, tuple | list) and outputs else outputs
        found, there = first, f"but {type(first).__name__}"
    if not isinstance(found, Tensor):
        raise MentorNetError(
            f"{type(model).__name__} returns no logits, {there}; use a model with a head, such as "
            "AutoModelForSequenceClassification or AutoModelForCausalLM"
        )
    return found
