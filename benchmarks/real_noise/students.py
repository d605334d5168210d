"""The last layer of a frozen network as a student, so that runs start from stored features."""

from __future__ import annotations

from mentornet.students import Head

__all__ = ["HEAD", "head"]

HEAD = f"{__name__}:head"
"""The name of this student in a config."""


def head(channels: int, classes: int) -> Head:
    """Return the layer that `mentornet train` puts on a frozen network."""
    return Head(channels, classes)
