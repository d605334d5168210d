"""The records of a run as a table on disk.

Shapes: N samples, E epochs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from mentornet.errors import MentorNetError
from mentornet.files import write_bytes
from mentornet.records.records import Records, losses_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_records", "write_records"]


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
) -> None:
    """Put a table of all samples at `path`, as Parquet, in one move.

    Columns: `index` (0, 1, … if it is not given), `path` where samples have one, `given_label`,
    `true_label` where it is known, `loss` (the E losses), `mean_weight`, `last_weight`,
    `learned_epoch` (from 1; 0: never), `forgotten`, `margin` (of the given label, counting by how
    firm the student was), `predicted_label` (the last), `suggested_label` and `support` (of late).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = len(records.loss)
    files = [losses_file(trajectories, epoch) for epoch in range(epochs)]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise MentorNetError(f"{trajectories / missing[0]} is missing; the run cannot be recorded")
    losses = np.empty((count, epochs), np.float32)
    for epoch, file in enumerate(files):
        losses[:, epoch] = np.frombuffer(file.read_bytes(), np.float32, count)
    columns: dict[str, Any] = {"index": np.arange(count) if index is None else index.numpy()}
    if sample_paths is not None:
        columns["path"] = list(sample_paths)
    columns["given_label"] = given_label.cpu().numpy()
    if true_label is not None:
        columns["true_label"] = true_label.cpu().numpy()
    columns["loss"] = pa.FixedSizeListArray.from_arrays(pa.array(losses.ravel()), epochs)
    columns["mean_weight"] = records.mean_weight.cpu().numpy()
    columns["last_weight"] = records.weight.cpu().numpy()
    columns["learned_epoch"] = records.learned_epoch.int().cpu().numpy()
    columns["forgotten"] = records.forgotten.int().cpu().numpy()
    columns["margin"] = records.margin.cpu().numpy()
    columns["predicted_label"] = records.predicted_label.int().cpu().numpy()
    columns["suggested_label"] = records.suggested_label.cpu().numpy()
    columns["support"] = records.suggested_share.cpu().numpy()
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), buffer, compression="zstd")
    write_bytes(path, buffer.getvalue().to_pybytes())


def read_records(path: Path) -> pd.DataFrame:
    """The table that `write_records` has written."""
    import pandas as pd
    import pyarrow as pa

    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing; has the run ended?") from None
    except (pa.ArrowException, OSError) as error:
        raise MentorNetError(
            f"{path} is no table of records, or damaged: {f'{error}'.splitlines()[0]}"
        ) from None
