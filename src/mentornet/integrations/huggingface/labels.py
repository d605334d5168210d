"""Which label each logit of a model of transformers is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from transformers.models.auto import modeling_auto

from mentornet.errors import MentorNetError
from mentornet.weighting.evidence import IGNORE

__all__ = ["check_any", "labels_tokens", "logits_of", "predicts_next", "shifted"]

_CAUSAL = set(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
_PREDICT_NEXT = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_LABEL_TOKENS = (*_PREDICT_NEXT, "ForTokenClassification", "ForMaskedLM", "ForPreTraining")


def predicts_next(model: nn.Module) -> bool:
    """Return whether the logits at a token predict the next one, as in causal language models.

    Args:
        model: a model of transformers, or one that PEFT has wrapped.
    """
    inner = _unwrapped(model)
    if getattr(getattr(inner, "config", None), "is_encoder_decoder", False):
        return False
    return _is_named(inner, _PREDICT_NEXT)


def labels_tokens(model: nn.Module) -> bool:
    """Return whether every token has a label, as in language models and taggers."""
    return _is_named(_unwrapped(model), _LABEL_TOKENS)


def _unwrapped(model: nn.Module) -> nn.Module:
    inner: nn.Module = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    return inner


def _is_named(model: nn.Module, endings: tuple[str, ...]) -> bool:
    """Return whether the class or one of its bases has such a name, as in transformers."""
    names = [each.__name__ for each in type(model).__mro__]
    return any(name in _CAUSAL or name.endswith(endings) for name in names)


def shifted(labels: Tensor) -> Tensor:
    """Return the label of each logit of a causal language model: that of the next token.

    The last logit of a text has none. No logits are cut off, so that sums over tokens have the
    order that they have in transformers.

    Args:
        labels: `(B, T)`, −100 for none.

    >>> import torch
    >>> shifted(torch.tensor([[-100, 5, 7]]))
    tensor([[   5,    7, -100]])
    """
    return nn.functional.pad(labels[..., 1:], (0, 1), value=IGNORE)


def check_any(labels: Tensor, items: Tensor | None) -> None:
    """Raise if no label of a step can be learned; this looks at values on the CPU only.

    Args:
        labels: of a micro-batch, −100 for none.
        items: the number of labels in all micro-batches of the step; None if it is not counted.
    """
    if labels.device.type != "cpu" or bool((labels != IGNORE).any()):
        return
    if items is None or int(items) == 0:
        raise MentorNetError(
            f"all labels of the batch are {IGNORE}, so there is nothing to learn; are answers cut "
            "off by the maximal length, or is more than the question masked?"
        )


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
