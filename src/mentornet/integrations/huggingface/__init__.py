"""Hugging Face: a `Trainer` for texts, tokens and language models whose labels may be wrong."""

from mentornet.integrations.huggingface.rows import INDEX
from mentornet.integrations.huggingface.trainer import MentorTrainer

__all__ = ["INDEX", "MentorTrainer"]
