"""What a person said of a label: one type, one reader and one writer of files, one look-up."""

from mentornet.verdicts.drawing import draw_verdicts
from mentornet.verdicts.lookup import VerdictLookup
from mentornet.verdicts.reading import read_verdicts
from mentornet.verdicts.verdicts import Verdicts
from mentornet.verdicts.writing import COLUMNS, verdicts_csv

__all__ = [
    "COLUMNS",
    "VerdictLookup",
    "Verdicts",
    "draw_verdicts",
    "read_verdicts",
    "verdicts_csv",
]
