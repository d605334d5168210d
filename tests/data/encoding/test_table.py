from __future__ import annotations

import json
import re
import statistics

import pytest
import torch

from mentornet import MentorNetError
from mentornet.data.encoding import Rows, Vectors, fit_encoder, read_encoder


def test_numbers_and_categories_by_hand() -> None:
    rows = Rows({"age": ("10", "", "30", "NaN"), "city": ("Rome", "Oslo", "?", "Rome")})
    encoder, notes = fit_encoder(rows)
    filled = [10, 20, 30, 20]  # the median of 10 and 30 is 20
    spread = statistics.pstdev(filled)
    expected = [
        [(10 - 20) / spread, 0, 0, 0, 1],  # age, is missing; no city, Oslo, Rome
        [0, 1, 0, 1, 0],
        [(30 - 20) / spread, 0, 1, 0, 0],
        [0, 1, 0, 0, 1],
    ]
    torch.testing.assert_close(encoder.encode(rows).inputs, torch.tensor(expected))
    assert notes[0] == "columns: 1 of numbers, 1 of categories"
    assert notes[1].endswith("a further column says where: age")


def test_new_rows_are_encoded_as_in_training() -> None:
    encoder, _ = fit_encoder(Rows({"n": ("0", "2"), "c": ("a", "b")}))
    encoded = encoder.encode(Rows({"n": ("", "4"), "c": ("b", "z")}))
    assert encoded.inputs.tolist() == [[0, 0, 1], [3, 0, 0]]  # mean and median 1, deviation 1
    assert encoded.notes == ("categories that training has not seen count as none: 1 in 'c'",)


def test_what_cannot_be_learned_from_is_left_out() -> None:
    rows = Rows({"id": ("x1", "x2", "x3"), "none": ("", "", ""), "n": ("1", "2", "2")})
    encoder, notes = fit_encoder(rows)
    assert encoder.columns == ("n",)
    assert "column left out: id has another value in every row" in notes
    assert "column left out: none has no values" in notes


def test_the_hundred_most_frequent_categories_count() -> None:
    cells = tuple(f"c{number}" for number in range(150)) + tuple(f"c{n}" for n in range(100))
    encoder, notes = fit_encoder(Rows({"c": cells}))
    encoded = encoder.encode(Rows({"c": ("c99", "c100")}))
    assert encoded.inputs.sum(1).tolist() == [1, 0]
    assert not encoded.notes  # c100 is rare, and yet was seen
    assert "100 most frequent categories" in notes[1]


def test_a_constant_and_an_extreme_value_do_no_harm() -> None:
    encoder, _ = fit_encoder(Rows({"same": ("5", "5"), "n": ("0", "2")}))
    inputs = encoder.encode(Rows({"same": ("5", "1e300"), "n": ("1e300", "-1e300")})).inputs
    assert inputs.tolist() == [[0, 100], [100, -100]]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("inf", "column 'n' has 'inf' in row 1 (from 0); values must be finite"),
        ("four", "column 'n' has numbers in training, but 'four' in row 1 (from 0)"),
    ],
)
def test_a_cell_that_is_no_number(cell: str, message: str) -> None:
    encoder, _ = fit_encoder(Rows({"n": ("1", "2", "2")}))
    with pytest.raises(MentorNetError, match=re.escape(message)):
        encoder.encode(Rows({"n": ("1", cell)}))


def test_vectors_are_scaled() -> None:
    vectors = Vectors(None, torch.tensor([[0.0, 7.0], [4.0, 7.0]]))
    encoder, _ = fit_encoder(vectors)
    assert encoder.encode(vectors).inputs.tolist() == [[-1, 0], [1, 0]]
    with pytest.raises(MentorNetError, match="vectors must have 2 values"):
        encoder.encode(Vectors(None, torch.zeros(1, 3)))


@pytest.mark.parametrize(
    "raw",
    [
        Rows({"n": ("1.5", "", "3"), "c": ("a", "b", "a")}),
        Vectors("embedding", torch.tensor([[0.1, 7.0], [4.0, 1e-3]])),
    ],
)
def test_an_encoder_comes_back_from_json_bit_for_bit(raw: Rows | Vectors) -> None:
    encoder, _ = fit_encoder(raw)
    again = read_encoder(json.loads(json.dumps(encoder.as_json())), "encoder.json")
    assert again == encoder
    assert torch.equal(again.encode(raw).inputs, encoder.encode(raw).inputs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "encoder.json names no encoder"),
        ({"encoder": "tabel"}, "unknown encoder in encoder.json: 'tabel'; did you mean 'table'?"),
        ({"encoder": "table"}, "encoder.json has no numbers"),
        ({"encoder": "table", "numbers": [{"column": "a"}], "categories": []}, "has no median"),
        (
            {"encoder": "scaling", "mean": ["a"], "deviation": [1.0]},
            "mean must be a list of a number",
        ),
        ({"encoder": "scaling", "mean": [0.0], "deviation": [0.0]}, "deviation must be above 0"),
        ({"encoder": "scaling", "mean": [0.0], "deviation": []}, "as many deviations as means"),
    ],
)
def test_an_odd_file(content: dict[str, object], message: str) -> None:
    with pytest.raises(MentorNetError, match=re.escape(message)):
        read_encoder(content, "encoder.json")
