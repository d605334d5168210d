"""Rules: the mentors and curricula that give weights, and how a user names them."""

from __future__ import annotations

import copy
from pathlib import Path

from mentornet.curricula import Curriculum, MentorNetPD, Uniform
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor, MentorSeries, load_rule
from mentornet.mentors.store import shipped
from mentornet.names import did_you_mean

__all__ = ["AUTO", "Rule", "find_rule"]

Rule = Mentor | MentorSeries | Curriculum
"""What gives the weights of a batch, as `weight(features)`: a mentor, a series of mentors or a
curriculum."""

AUTO = "auto"
"""The predefined curriculum (its formula) around a percentile that is found in training."""


def find_rule(mentor: str | Path | Rule) -> Rule:
    """Return the rule for "auto", "uniform", a shipped name, a folder of a mentor or run, a rule.

    >>> find_rule("auto").name
    'pd'
    """
    if isinstance(mentor, Mentor | MentorSeries):
        return copy.deepcopy(mentor)  # a copy, as it will be moved with the criterion
    if isinstance(mentor, Curriculum):
        return mentor
    if not isinstance(mentor, str | Path):
        raise MentorNetError(
            "mentor must be a name, a folder, a Mentor or a Curriculum, got "
            f"{getattr(mentor, '__name__', None) or repr(mentor)}"
        )
    if mentor == AUTO:
        return MentorNetPD()
    if mentor == Uniform.name:
        return Uniform()
    if isinstance(mentor, str) and not Path(mentor).is_dir() and mentor not in shipped():
        raise MentorNetError(
            f"there is no mentor {mentor!r}: it is neither a folder nor a known name; "
            f"{did_you_mean(mentor, [AUTO, *shipped()])}"
        )
    return load_rule(mentor)
