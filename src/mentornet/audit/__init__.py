"""Which labels are wrong: the page to look at suspects, and the decisions made on it."""

from __future__ import annotations

from mentornet.audit.decisions import Decisions, read_decisions
from mentornet.audit.page import write_page
from mentornet.audit.report_contents import Contents, Curve, Fact, Pictures, Samples, Surface

__all__ = [
    "Contents",
    "Curve",
    "Decisions",
    "Fact",
    "Pictures",
    "Samples",
    "Surface",
    "read_decisions",
    "write_page",
]
