"""Texts as hashed n-grams: words, pairs of words, and parts of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

import torch

from mentornet.data.encoding.encoder import Encoded, Encoder
from mentornet.data.encoding.raw import Texts
from mentornet.errors import MentorNetError

__all__ = ["NGrams"]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_LETTERS = (3, 4, 5)  # lengths of the parts of words
_MOST, _LEAST = 4096, 64  # the bounds of `longest`
_LOOKED_AT = 10_000  # texts
_CHARACTERS = 20_000  # of a text are read at most, and of a word _WORD
_WORD = 40


@dataclass(frozen=True)
class NGrams(Encoder):
    """A text as the set of its n-grams, each hashed to an id in 1 … buckets; 0 fills the row.

    The n-grams are the words and single signs, in lower case; each two that follow each other; and
    every 3, 4 and 5 letters of a word with its ends marked. They are in the order of the text. The
    hash is CRC-32, which is the same everywhere.

    Attributes:
        column: the column of the texts.
        buckets: the number of ids.
        longest: L, the most n-grams of a text; only its beginning counts if it has more.
    """

    name: ClassVar[str] = "ngrams"
    reads: ClassVar[type[Texts]] = Texts
    column: str
    buckets: int = 1 << 16
    longest: int = _MOST

    def __post_init__(self) -> None:
        for name, value, most in (
            ("buckets", self.buckets, 1 << 24),
            ("longest", self.longest, _MOST),
        ):
            if not 1 <= value <= most:
                raise MentorNetError(f"{name} must be in 1–{most}, got {value}")

    @classmethod
    def fit(cls, raw: Texts) -> tuple[NGrams, tuple[str, ...]]:
        """Set L to twice the length that 99 % of the texts do not exceed, and at most 4,096.

        Of many texts, some ten thousand are looked at.
        """
        some = raw.at(torch.arange(0, len(raw), max(1, len(raw) // _LOOKED_AT)))
        lengths = sorted(len(grams) for grams in cls(raw.column)._all(some))
        usual = lengths[int(0.99 * (len(lengths) - 1))]
        longest = min(_MOST, max(_LEAST, 2 * usual), max(1, lengths[-1]))
        note = (
            "texts become hashed n-grams for a linear model, which knows no language; a pretrained "
            "student would know more"
        )
        return cls(raw.column, longest=longest), (note,)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def vocabulary(self) -> int:
        return self.buckets + 1

    def encode(self, raw: Texts) -> Encoded:
        inputs = torch.zeros(len(raw), self.longest, dtype=torch.int32)
        cut = 0
        for place, grams in enumerate(self._all(raw)):
            cut += len(grams) > self.longest or len(raw.texts[place]) > _CHARACTERS
            kept = grams[: self.longest]
            inputs[place, : len(kept)] = torch.tensor(kept, dtype=torch.int32)
        notes = (
            f"{cut:,} of {len(raw):,} texts are too long: only their beginning is read, up to "
            f"{self.longest:,} n-grams or {_CHARACTERS:,} characters"
        )
        return Encoded(inputs, (notes,) if cut else ())

    def _all(self, raw: Texts) -> Iterator[list[int]]:
        """Yield the ids of each text, each id once."""
        known: dict[str, list[int]] = {}
        for text in raw.texts:
            tokens = _TOKEN.findall(text[:_CHARACTERS].lower())
            ids: dict[int, None] = {}
            before = ""
            for token in tokens:
                if token not in known:
                    known[token] = self._of_word(token)
                ids |= dict.fromkeys(known[token])
                ids[self._id(f"2 {before} {token}")] = None
                before = token
            yield list(ids)

    def _of_word(self, token: str) -> list[int]:
        """Return the ids of a word and of its parts."""
        word = f"<{token[:_WORD]}>"
        parts = [
            word[start : start + size]
            for size in _LETTERS
            for start in range(len(word) - size + 1)
            if size < len(word)
        ]
        return [self._id(f"1 {token}"), *(self._id(f"0 {part}") for part in parts)]

    def _id(self, gram: str) -> int:
        return crc32(gram.encode("utf-8", "surrogatepass")) % self.buckets + 1
