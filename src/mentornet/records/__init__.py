"""What is remembered of every sample, in memory and on disk."""

from mentornet.records.columns import columns_of
from mentornet.records.margins import MAX_MARGIN, firmness, log_odds, margins_of, mean_margin
from mentornet.records.records import Records, Steady
from mentornet.records.table import read_losses, read_records, write_records

__all__ = [
    "MAX_MARGIN",
    "Records",
    "Steady",
    "columns_of",
    "firmness",
    "log_odds",
    "margins_of",
    "mean_margin",
    "read_losses",
    "read_records",
    "write_records",
]
