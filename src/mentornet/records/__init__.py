"""What is remembered of every sample, in memory and on disk."""

from mentornet.records.margins import MOST, firmness, log_odds, margins_of, weighed_mean
from mentornet.records.records import Records, Steady, check_records, late_support
from mentornet.records.table import read_records, write_records

__all__ = [
    "MOST",
    "Records",
    "Steady",
    "check_records",
    "firmness",
    "late_support",
    "log_odds",
    "margins_of",
    "read_records",
    "weighed_mean",
    "write_records",
]
