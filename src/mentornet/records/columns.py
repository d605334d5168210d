"""The columns of the records: what each is called, and how it follows from what was counted.

The file of a finished run, the audit of an unfinished one and `rank(records)` all read from here.
Shapes: N samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from torch import Tensor

from mentornet.records.margins import mean_margin
from mentornet.records.records import late_share

__all__ = ["columns_of"]


def columns_of(state: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Turn the state of `Records`, live or from a checkpoint, into named columns, `(N,)` each.

    Args:
        state: what `Records.state_dict` returns.

    Returns:
        `given_label` if the records keep it; `mean_weight`, v averaged over the times that the
        sample was seen; `last_weight`; `learned_epoch`, the first epoch (from 1) that predicted the
        given label, 0 if none did; `forgotten`, how often it was predicted and then was not;
        `margin`, the average margin of the given label, NaN if the sample was never seen;
        `predicted_label`, the last one; `suggested_label`, the class that was predicted most often
        of late, −1 if there is none; and `support`, the share of late predictions that agree.
    """
    seen = state["seen"]
    columns = {"given_label": state["given_label"]} if "given_label" in state else {}
    columns |= {
        "mean_weight": state["weight_sum"] / seen.clamp(min=1),
        "last_weight": state["weight"],
        "learned_epoch": state["learned_epoch"].int(),
        "forgotten": state["forgotten"].int(),
        "margin": mean_margin(state["margin_sum"], state["margin_weight"]),
        "predicted_label": state["predicted_label"].int(),
        "suggested_label": state["votes"][:, 0],
        "support": late_share(state["support"][:, 0], seen),
    }
    return {name: column.cpu().numpy() for name, column in columns.items()}
