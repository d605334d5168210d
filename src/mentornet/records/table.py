"""The records of a run on disk: a file of losses after every epoch, one table at the end.

Shapes: N samples, E epochs.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.files import read_bytes, reading, write_bytes
from mentornet.parquet import column_names, read_table
from mentornet.records.columns import columns_of
from mentornet.records.records import Records, checksum, losses_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_losses", "read_records", "write_records"]


def read_losses(
    trajectories: Path, count: int, notes: list[str] | None = None
) -> NDArray[np.float32]:
    """Read the losses that `Records.save_losses` has written so far, `(N, E)`.

    Args:
        trajectories: the folder of the files, one for each epoch.
        count: N.
        notes: the list to which a line is added for each damaged file, whose losses are then NaN;
            by default a damaged file is an error.
    """
    files = (losses_file(trajectories, epoch) for epoch in itertools.count())
    found = list(itertools.takewhile(Path.is_file, files))
    losses = np.empty((count, len(found)), np.float32)
    for epoch, file in enumerate(found):
        content = read_bytes(file, most=4 * count + 16)
        numbers, check = content[: 4 * count], content[4 * count :]
        if len(numbers) == 4 * count and check in (b"", checksum(numbers)):  # none in old files
            losses[:, epoch] = np.frombuffer(numbers, np.float32)
            continue
        damage = f"{file} is damaged: it must hold the losses of {count} samples and a checksum"
        if notes is None:
            raise MentorNetError(damage)
        notes.append(f"{damage}; the losses of this epoch are left out")
        losses[:, epoch] = np.nan
    return losses


def write_records(
    path: Path,
    records: Records,
    *,
    trajectories: Path,
    epochs: int,
    given_label: Tensor,
    true_label: Tensor | None,
    sample_paths: tuple[str, ...] | None,
    index: Tensor | None = None,
) -> list[str]:
    """Write a table of all samples to `path` as Parquet, in one move.

    Its columns are `index`, `path` if the samples have one, `given_label`, `true_label` if it is
    known, `loss` (a list of E losses), and those of `columns_of`.

    Args:
        path: the file.
        records: what was counted in training.
        trajectories: the folder with the losses of every epoch.
        epochs: E.
        given_label: the labels that were trained on, `(N,)`.
        true_label: the true labels, `(N,)`, if they are known.
        sample_paths: the N names of the samples, if they have names.
        index: the number of each sample, `(N,)`; by default 0, 1, ….

    Returns:
        A line on each file of losses that is damaged; the losses of its epoch are NaN.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = len(records.loss)
    notes: list[str] = []
    losses = read_losses(trajectories, count, notes)[:, :epochs]
    if losses.shape[1] < epochs:
        missing = losses_file(trajectories, losses.shape[1])
        raise MentorNetError(f"{missing} is missing, so the records cannot be written")
    columns: dict[str, Any] = {"index": np.arange(count) if index is None else index.numpy()}
    if sample_paths is not None:
        columns["path"] = list(sample_paths)
    columns["given_label"] = given_label.cpu().numpy()
    if true_label is not None:
        columns["true_label"] = true_label.cpu().numpy()
    columns["loss"] = pa.FixedSizeListArray.from_arrays(pa.array(losses.ravel()), epochs)
    for name, column in columns_of(records.state_dict()).items():
        columns.setdefault(name, column)
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), buffer, compression="zstd")
    write_bytes(path, buffer.getvalue().to_pybytes())
    return notes


def read_records(path: Path) -> pd.DataFrame:
    """Read the table that `write_records` has written."""
    if not path.exists():
        raise MentorNetError(f"{path} is missing; has the run ended?")
    column_names(path)  # none of them twice
    table = read_table(path).replace_schema_metadata(None)
    with reading(path, "as a parquet file"):
        frame: pd.DataFrame = table.to_pandas()
    words = [name for name in frame if frame[name].dtype == "category"]
    return frame.astype(dict.fromkeys(words, object))
