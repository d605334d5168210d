"""Texts as the word pieces of a pretrained network, cut by its own tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch

from mentornet.data.encoding.encoder import Encoded, Encoder
from mentornet.data.encoding.raw import Texts
from mentornet.errors import MentorNetError, cut, first_line

__all__ = ["WordPieces"]

_CHARACTERS = 20_000  # of a text are read at most
_AT_ONCE = 1000  # texts that are cut together
_MOST = 8192  # the largest `longest`


@dataclass(frozen=True)
class WordPieces(Encoder):
    """A text as the ids of its word pieces plus 1; 0 fills the row.

    Attributes:
        column: the column of the texts.
        folder: the folder with the files of the tokenizer, of Hugging Face transformers.
        longest: L, the most pieces of a text; only its beginning counts if it has more.
    """

    name: ClassVar[str] = "word-pieces"
    reads: ClassVar[type[Texts]] = Texts
    column: str
    folder: str
    longest: int

    def __post_init__(self) -> None:
        if not 2 <= self.longest <= _MOST:
            raise MentorNetError(f"longest must be in 2–{_MOST}, got {self.longest}")

    @classmethod
    def fit(cls, raw: Texts) -> tuple[WordPieces, tuple[str, ...]]:
        del raw
        raise MentorNetError("word pieces need the folder of a tokenizer; see of_folder")

    @classmethod
    def of_folder(cls, raw: Texts, *, folder: str, most: int) -> tuple[WordPieces, tuple[str, ...]]:
        """Return the encoder of a network that reads at most `most` pieces.

        L is the length of the longest of these texts, if the network reads as many.
        """
        if not isinstance(raw, Texts):
            raise MentorNetError(
                "the student reads texts, but no column reads like text; name one in the setting "
                "text"
            )
        most = min(most, _MOST)
        pieces = cls(raw.column, folder, most)._pieces(raw.texts)
        longest = max(2, min(most, max(map(len, pieces))))
        return cls(raw.column, folder, longest), ()

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def vocabulary(self) -> int:
        return len(self._tokenizer()) + 1

    def encode(self, raw: Texts) -> Encoded:
        inputs = torch.zeros(len(raw), self.longest, dtype=torch.int32)
        for place, ids in enumerate(self._pieces(raw.texts, self.longest)):
            inputs[place, : len(ids)] = torch.tensor(ids, dtype=torch.int32) + 1
        full = int((inputs[:, -1] > 0).sum())
        longer = sum(len(ids) > self.longest for ids in self._pieces(raw.texts)) if full else 0
        notes = (
            f"{longer:,} of {len(raw):,} texts are too long: only their first {self.longest:,} "
            "word pieces are read"
        )
        return Encoded(inputs, (notes,) if longer else ())

    def _pieces(self, texts: Any, longest: int | None = None) -> list[list[int]]:
        """Return the ids of each text, cut to `longest` as the tokenizer does."""
        tokenizer, found = self._tokenizer(), []
        for start in range(0, len(texts), _AT_ONCE):
            part = [text[:_CHARACTERS] for text in texts[start : start + _AT_ONCE]]
            found += tokenizer(
                part, truncation=longest is not None, max_length=longest, verbose=False
            )["input_ids"]
        return found

    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        if not Path(self.folder).is_dir():
            raise MentorNetError(
                f"the folder of the tokenizer, {cut(self.folder, 200)}, is missing"
            )
        try:
            return AutoTokenizer.from_pretrained(self.folder, trust_remote_code=False)
        except Exception as error:  # whatever is wrong with its files
            raise MentorNetError(
                f"{cut(self.folder, 200)} has no tokenizer that can be read: {first_line(error)}"
            ) from error
