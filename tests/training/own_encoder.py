"""A student that brings its own encoder, as a user would write it."""

from __future__ import annotations

from torch import nn

from mentornet.data.encoding import Encoder, Raw, Texts
from mentornet.data.encoding.ngrams import NGrams
from mentornet.students import NGramStudent

__all__ = ["factory"]


def factory(channels: int, classes: int) -> nn.Module:
    return NGramStudent(channels, classes)


def fit_encoder(raw: Raw) -> tuple[Encoder, tuple[str, ...]]:
    assert isinstance(raw, Texts)
    return NGrams(raw.column, buckets=11, longest=8), ()


factory.fit_encoder = fit_encoder  # type: ignore[attr-defined]
