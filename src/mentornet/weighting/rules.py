"""Rules: the mentors and curricula that give weights, and how a user names them."""

from __future__ import annotations

import copy
from pathlib import Path

from mentornet.curricula import Curriculum, MentorNetPD, Uniform
from mentornet.errors import MentorNetError
from mentornet.mentors import Mentor, load_mentor
from mentornet.mentors.store import shipped
from mentornet.names import did_you_mean

__all__ = ["AUTO", "Rule", "find_rule"]

Rule = Mentor | Curriculum
"""What gives weights: `weight(features)` of both reads the newest losses that it needs."""

AUTO = "auto"
"""The predefined curriculum, by its own formula, around a percentile that is found on the way."""


def find_rule(mentor: str | Path | Rule) -> Rule:
    """The rule that `mentor` stands for: "auto", "uniform", a shipped name, a folder, or itself.

    >>> find_rule("auto").name
    'pd'
    """
    if isinstance(mentor, Mentor):
        return copy.deepcopy(mentor)  # which is then moved about with the criterion
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
            f"no mentor {mentor!r}: neither a folder nor a known name; "
            f"{did_you_mean(mentor, [AUTO, *shipped()])}"
        )
    return load_mentor(mentor)
