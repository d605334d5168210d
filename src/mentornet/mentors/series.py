"""A series of mentors, each of which serves from its own point of training on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError, cut, short
from mentornet.features import PERCENT, MentorFeatures
from mentornet.files import read_json, write_json
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.store import INDEX, load_mentor, mentor_folder, save_mentor
from mentornet.names import check_keys
from mentornet.schema import typed

__all__ = ["MentorSeries", "Point", "load_rule", "read_points", "write_points"]

FORMAT = 1
"""The version of the index; it rises when older versions cannot read new ones."""

_UPDATES = 10_000  # of a run
_NO_NAMES = ("", ".", "..")
_LONGEST = 255  # bytes of a name in a file system


@dataclass(frozen=True)
class Point:
    """One line of the index of a series.

    Attributes:
        number: the number of the update at which the mentor was learned, from 1.
        progress: the progress of training from which on it serves, in percent.
        folder: the name of its folder beside the index.
    """

    number: int
    progress: int
    folder: str


@dataclass(frozen=True)
class _Index:
    mentors: list[dict[str, Any]]


class MentorSeries(nn.Module):
    """The mentors that were learned at the updates of a run, to be transferred to another one.

    Each serves from its own progress on, until the next one. Before the first one the shipped
    mentor `pd` serves, as it did in the run that learned them; a burn-in goes before it, if the
    method has one. (In the paper's setting, burn-in ends at 20 % and the first mentor serves from
    21 % on.)

    Args:
        points: pairs of the progress in percent, 1–99, which rises, and the mentor.

    >>> pd = load_mentor("pd")
    >>> MentorSeries([(21, pd), (75, pd)]).progress
    (21, 75)
    """

    def __init__(self, points: Sequence[tuple[int, Mentor]]) -> None:
        super().__init__()
        self.progress = tuple(progress for progress, _ in points)
        mentors = [mentor for _, mentor in points]
        _check(self.progress, mentors)
        self.mentors = nn.ModuleList(mentors)
        self.before = load_mentor("pd")

    @property
    def name(self) -> str:
        """The architecture of the mentors."""
        return f"{len(self.mentors)} × {self.mentors[-1].name}"

    @property
    def config(self) -> Any:
        """The config of the mentors."""
        return self.mentors[-1].config

    @property
    def min_history(self) -> int:
        """T, how many losses of a sample the mentors read."""
        return max(mentor.config.history for mentor in (self.before, *self.mentors))

    def weight(self, features: MentorFeatures) -> Tensor:
        """Return the weights v, `(B,)`, by the mentor that serves at the progress of the features.

        Every mentor is asked, and `torch.where` chooses: they are tiny, and the progress is never
        waited for.
        """
        weight = self.before.weight(features)
        for progress, mentor in zip(self.progress, self.mentors, strict=True):
            assert isinstance(mentor, Mentor)
            weight = torch.where(features.progress >= progress, mentor.weight(features), weight)
        return weight

    def save_pretrained(self, folder: str | Path) -> None:
        """Write every mentor into a folder of its own, and then the index of them."""
        points = [
            Point(number, progress, f"{number}-at-{progress:02d}")
            for number, progress in enumerate(self.progress, 1)
        ]
        for point, mentor in zip(points, self.mentors, strict=True):
            assert isinstance(mentor, Mentor)
            save_mentor(mentor, Path(folder) / point.folder)
        write_points(Path(folder), points)

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path) -> MentorSeries:
        """Load the shipped series of that name, the one in that folder, or that of a run."""
        folder = mentor_folder(name_or_path)
        if not (folder / INDEX).exists():
            raise MentorNetError(
                f"{folder} holds no series of mentors: it has no {INDEX}; was no mentor learned "
                "in that run, or is it a single mentor (Mentor.from_pretrained)?"
            )
        points = read_points(folder)
        numbers = [point.number for point in points]
        if numbers != list(range(1, len(points) + 1)):
            missing = min(set(range(1, max(numbers) + 1)) - set(numbers), default=max(numbers))
            raise MentorNetError(
                f"{folder / INDEX} has a gap: there is no mentor of update {missing}, because the "
                "predefined one did better; train that run with fallback=off"
            )
        try:
            return cls([(point.progress, load_mentor(folder / point.folder)) for point in points])
        except MentorNetError as error:
            raise MentorNetError(f"{folder / INDEX}: {error}") from None


def load_rule(name_or_path: str | Path) -> Mentor | MentorSeries:
    """Load the mentor or the series of that name, in that folder, or of the run in that folder."""
    if (mentor_folder(name_or_path) / INDEX).exists():
        return MentorSeries.from_pretrained(name_or_path)
    return load_mentor(name_or_path)


def write_points(folder: Path, points: Sequence[Point]) -> None:
    """Write the index of a series."""
    write_json(folder / INDEX, {"format": FORMAT, "mentors": [asdict(point) for point in points]})


def read_points(folder: Path) -> list[Point]:
    """Read the index of a series."""
    path, known = folder / INDEX, {field.name for field in fields(Point)}
    content = read_json(path)
    if content.get("format") != FORMAT:
        found = cut(repr(content.get("format")))
        raise MentorNetError(f"{path} has format {found}, this mentornet reads {FORMAT}")
    points = []
    for line in typed(_Index, content, f"{path}").mentors:
        check_keys(line, known, f"{path} has an unknown key")
        point = typed(Point, line, f"{path}")
        if not 1 <= point.number <= _UPDATES:
            raise MentorNetError(
                f"{path}: number must be in 1–{_UPDATES}, got {short(point.number)}"
            )
        odd = not point.folder.isprintable() or len(point.folder.encode()) > _LONGEST
        if odd or point.folder in _NO_NAMES or "/" in point.folder:
            found = cut(repr(point.folder))
            raise MentorNetError(f"{path}: folder must be a name beside it, got {found}")
        points.append(point)
    return points


def _check(progress: tuple[int, ...], mentors: list[Mentor]) -> None:
    """Raise if these mentors cannot serve one after another."""
    if not progress:
        raise MentorNetError("a series needs at least one mentor")
    if list(progress) != sorted(set(progress)):
        raise MentorNetError(f"the points of a series must rise, got {progress}")
    if not all(0 < point < PERCENT for point in progress):
        raise MentorNetError(f"the points of a series must be in 1–{PERCENT - 1}, got {progress}")
    kinds = {(mentor.config.use_label, mentor.config.num_classes) for mentor in mentors}
    if len(kinds) > 1:
        found = " and ".join(f"{count if reads else 'no'} labels" for reads, count in sorted(kinds))
        raise MentorNetError(
            f"the mentors of a series must be of one number of classes, got some for {found}"
        )
