"""The encoders by name, and which one suits which samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mentornet.data.encoding.encoder import Encoder
from mentornet.data.encoding.ngrams import NGrams
from mentornet.data.encoding.raw import Raw
from mentornet.data.encoding.scaling import Scaling
from mentornet.data.encoding.table import Table
from mentornet.data.encoding.word_pieces import WordPieces
from mentornet.errors import MentorNetError
from mentornet.names import pick

__all__ = ["ENCODERS", "FitEncoder", "fit_encoder", "read_encoder"]

ENCODERS: dict[str, type[Encoder]] = {
    kind.name: kind for kind in (NGrams, Table, Scaling, WordPieces)
}
"""Every encoder that a run folder may hold; the first that reads a kind of samples suits it."""

FitEncoder = Callable[[Raw], tuple[Encoder, tuple[str, ...]]]
"""A function that fits an encoder on the training samples, as `Encoder.fit` does."""


def fit_encoder(raw: Raw) -> tuple[Encoder, tuple[str, ...]]:
    """Fit the encoder that suits such samples, and return it with lines for the user."""
    kind = next(kind for kind in ENCODERS.values() if kind.reads is type(raw))
    return kind.fit(raw)


def read_encoder(content: Mapping[str, Any], where: str) -> Encoder:
    """Return the encoder that a file holds.

    Args:
        content: what the file holds.
        where: the file, for messages.
    """
    name = content.get("encoder")
    if not isinstance(name, str):
        raise MentorNetError(f"{where} names no encoder; was it written by mentornet?")
    return pick(ENCODERS, name, f"encoder in {where}:").from_json(content, where)
