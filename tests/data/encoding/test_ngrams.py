from __future__ import annotations

import re
from zlib import crc32

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data.encoding import Texts
from mentornet.data.encoding.ngrams import NGrams


def ids(*grams: str, buckets: int = 1 << 16) -> list[int]:
    return [crc32(gram.encode()) % buckets + 1 for gram in grams]


def encode(*texts: str, longest: int = 64) -> torch.Tensor:
    return NGrams("t", longest=longest).encode(Texts("t", texts)).inputs


def test_n_grams_by_hand() -> None:
    expected = ids(
        "1 a", "2  a", "1 cat", "0 <ca", "0 cat", "0 at>", "0 <cat", "0 cat>", "2 a cat", "1 !",
        "2 cat !",
    )  # fmt: skip
    row = encode("A cat!")[0]
    assert row.dtype == torch.int32
    assert row.tolist() == expected + [0] * (64 - len(expected))


def test_an_n_gram_counts_once_and_case_not_at_all() -> None:
    one, two = encode("no No NO"), encode("no no")
    assert torch.equal(one, two)


def test_length_follows_the_texts() -> None:
    short = tuple(f"word {number}" for number in range(200))
    encoder, _ = NGrams.fit(Texts("t", short))
    assert encoder.longest < 64
    with_one_long, _ = NGrams.fit(Texts("t", (*short, "many different words " * 5000)))
    assert with_one_long.longest <= 64
    long = " ".join(str(number) for number in range(100_000))
    assert NGrams.fit(Texts("t", (long, long)))[0].longest == 4096


def test_a_text_of_100000_characters_is_cut_and_that_is_said() -> None:
    text = " ".join(f"{number}" for number in range(20_000))
    assert len(text) > 100_000
    encoded = NGrams("t", longest=100).encode(Texts("t", (text, "short")))
    assert (encoded.inputs > 0).sum(1).tolist()[0] == 100
    (note,) = encoded.notes
    assert note.startswith("1 of 2 texts are too long: only their beginning is read")


def test_it_comes_back_from_json() -> None:
    encoder = NGrams("a column", buckets=1000, longest=70)
    assert NGrams.from_json(encoder.as_json(), "encoder.json") == encoder


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("buckets", 0, "buckets must be in 1–16777216, got 0"),
        ("longest", 10**9, "longest must be in 1–4096, got 1000000000"),
        ("column", 3, "encoder.json: column must be text, got 3"),
    ],
)
def test_an_odd_field(field: str, value: object, message: str) -> None:
    content = NGrams("t").as_json() | {field: value}
    with pytest.raises(MentorNetError, match=re.escape(message)):
        NGrams.from_json(content, "encoder.json")
