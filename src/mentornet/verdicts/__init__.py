"""What a person said of a label: one type, one look-up, one reader and writer of files."""

from mentornet.verdicts.lookup import VerdictLookup
from mentornet.verdicts.verdicts import Verdicts

__all__ = ["VerdictLookup", "Verdicts"]
