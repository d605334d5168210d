"""Which labels are wrong: the page to look at suspects, and the decisions made on it."""

from __future__ import annotations

from mentornet.audit.decisions import Decisions, read_decisions
from mentornet.audit.page import write_page
from mentornet.audit.page.contents import Contents, Curve, Fact, Pictures, SampleTable, Surface
from mentornet.audit.ranking import Ranking, Wrong, rank
from mentornet.audit.report import report
from mentornet.audit.tables import class_table, cleaning, transitions, write_tables

__all__ = [
    "Contents",
    "Curve",
    "Decisions",
    "Fact",
    "Pictures",
    "Ranking",
    "SampleTable",
    "Surface",
    "Wrong",
    "class_table",
    "cleaning",
    "rank",
    "read_decisions",
    "report",
    "transitions",
    "write_page",
    "write_tables",
]
