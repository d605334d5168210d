"""Which labels are wrong: a ranking, tables, and a page on which a person looks at suspects."""

from __future__ import annotations

from mentornet.audit.embeddings import rank_embeddings
from mentornet.audit.page import write_page
from mentornet.audit.page.contents import Contents, Curve, Fact, Pictures, SampleTable, Surface
from mentornet.audit.predictions import rank_predictions
from mentornet.audit.ranking import Ranking, Wrong, rank
from mentornet.audit.report import report
from mentornet.audit.tables import class_table, cleaning, transitions, write_tables

__all__ = [
    "Contents",
    "Curve",
    "Fact",
    "Pictures",
    "Ranking",
    "SampleTable",
    "Surface",
    "Wrong",
    "class_table",
    "cleaning",
    "rank",
    "rank_embeddings",
    "rank_predictions",
    "report",
    "transitions",
    "write_page",
    "write_tables",
]
