"""The columns of the records are the same wherever they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from mentornet import MentorNetError
from mentornet.audit.evidence import evidence_of
from mentornet.randomness import generator
from mentornet.records import Records, columns_of, read_losses, read_records, write_records

COUNT, CLASSES, EPOCHS = 12, 3, 4


def trained(folder: Path) -> tuple[Records, torch.Tensor]:
    draw, records = generator(0), Records(COUNT, labels=True, classes=CLASSES)
    given = torch.randint(CLASSES, (COUNT,), generator=draw)
    for epoch in range(EPOCHS):
        for batch in torch.randperm(COUNT, generator=draw).split(5):
            losses, weights, margins = torch.rand(3, len(batch), generator=draw)
            predicted = torch.randint(CLASSES, (len(batch),), generator=draw)
            records.add(batch, losses, weights, predicted, given[batch], epoch, 3 * margins - 1)
        records.save_losses(folder, epoch)
    return records, given


def test_the_file_has_these_columns_and_types(tmp_path: Path) -> None:
    records, given = trained(tmp_path)
    write_records(
        tmp_path / "records.parquet", records, trajectories=tmp_path, epochs=EPOCHS,
        given_label=given, true_label=given, sample_paths=tuple(f"{n}.png" for n in range(COUNT)),
    )  # fmt: skip
    schema = pq.read_schema(tmp_path / "records.parquet")
    assert {name: f"{schema.field(name).type}" for name in schema.names} == {
        "index": "int64",
        "path": "string",
        "given_label": "int64",
        "true_label": "int64",
        "loss": "fixed_size_list<element: float>[4]",
        "mean_weight": "float",
        "last_weight": "float",
        "learned_epoch": "int32",
        "forgotten": "int32",
        "margin": "float",
        "predicted_label": "int32",
        "suggested_label": "int16",
        "support": "float",
    }
    table = read_records(tmp_path / "records.parquet")
    assert np.stack(table["loss"].to_list()) == pytest.approx(read_losses(tmp_path, COUNT))


def test_file_checkpoint_and_memory_give_the_same_evidence(tmp_path: Path) -> None:
    records, given = trained(tmp_path)
    write_records(
        tmp_path / "records.parquet", records, trajectories=tmp_path, epochs=EPOCHS,
        given_label=given, true_label=None, sample_paths=None,
    )  # fmt: skip
    torch.save(records.state_dict(), tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    for other in (tmp_path / "records.parquet", columns_of(state)):
        for name, column in vars(evidence_of(records)).items():
            found = getattr(evidence_of(other), name)
            if name != "trajectory" and column is not None:
                assert (found == column).all(), name


@pytest.mark.parametrize("place", [0, 4 * COUNT - 1, 4 * COUNT, 4 * COUNT + 15])
def test_a_flipped_bit_in_the_losses_of_an_epoch(place: int, tmp_path: Path) -> None:
    records, given = trained(tmp_path)
    file = tmp_path / "epoch-0001.f32"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(MentorNetError, match=r"epoch-0001\.f32 is damaged"):
        read_losses(tmp_path, COUNT)
    (note,) = write_records(
        tmp_path / "records.parquet", records, trajectories=tmp_path, epochs=EPOCHS,
        given_label=given, true_label=None, sample_paths=None,
    )  # fmt: skip
    assert "epoch-0001.f32 is damaged" in note
    losses = np.stack(read_records(tmp_path / "records.parquet")["loss"].to_list())
    assert np.isnan(losses[:, 1]).all()
    assert np.isfinite(np.delete(losses, 1, 1)).all()


def test_losses_of_an_epoch_that_is_missing(tmp_path: Path) -> None:
    records, given = trained(tmp_path)
    (tmp_path / "epoch-0002.f32").unlink()
    assert read_losses(tmp_path, COUNT).shape == (COUNT, 2)
    with pytest.raises(MentorNetError, match=r"epoch-0002\.f32 is missing"):
        write_records(
            tmp_path / "records.parquet", records, trajectories=tmp_path, epochs=EPOCHS,
            given_label=given, true_label=None, sample_paths=None,
        )  # fmt: skip


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    path, column = tmp_path / "records.parquet", pa.array([0, 1])
    pq.write_table(pa.Table.from_arrays([column, column], ["index", "index"]), path)
    with pytest.raises(MentorNetError, match=r"records\.parquet has the columns index, index, one"):
        read_records(path)
