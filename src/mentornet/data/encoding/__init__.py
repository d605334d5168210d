"""Texts, rows of a table and vectors, and the encoders that turn them into tensors."""

from mentornet.data.encoding.encoder import Encoded, Encoder
from mentornet.data.encoding.raw import Raw, Rows, Texts, Vectors
from mentornet.data.encoding.registry import ENCODERS, fit_encoder, read_encoder
from mentornet.data.encoding.word_pieces import WordPieces

__all__ = [
    "ENCODERS",
    "Encoded",
    "Encoder",
    "Raw",
    "Rows",
    "Texts",
    "Vectors",
    "WordPieces",
    "fit_encoder",
    "read_encoder",
]
