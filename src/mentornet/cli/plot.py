"""`mentornet plot`: a curriculum or a mentor as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from torch import Tensor

from mentornet.curricula import CURRICULA, make_curriculum
from mentornet.errors import MentorNetError
from mentornet.features import PERCENT, MentorFeatures
from mentornet.mentors import load_mentor
from mentornet.methods.settings import parse_numbers

__all__ = ["Plot"]

_NAME = (
    f"Name of the curriculum ({', '.join(CURRICULA)}), or name or folder of the mentor; "
    "`mentornet mentors` lists those that ship."
)


@dataclass(frozen=True)
class Plot:
    """Draw the weights of a curriculum or a mentor, and the robust loss that they imply.

    For example:

      mentornet plot curriculum temporal-mixture --progress 0 49 50
      mentornet plot curriculum linear --set lambda1=0.5 lambda2=2
      mentornet plot mentor pd --out pictures

    Attributes:
        subject: What to draw: the formula of a curriculum, or a mentor.
        out: Folder for the pictures: NAME.png and NAME.svg, or mentor-NAME.png and mentor-NAME.svg.
        progress: Progress of training to draw the weight at, in percent; for example 0 50 99.
        loss_level: Loss level ℓ_pt that the implied loss is drawn at.
        set: Settings of the curriculum as key=value, for example lambda1=0.5.
    """

    subject: tyro.conf.Positional[Literal["curriculum", "mentor"]]
    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(help=_NAME)]

    out: Path = Path("pictures")
    progress: tuple[int, ...] = (0, 50, 99)
    loss_level: float = 2.0
    set: tuple[str, ...] = ()

    def run(self) -> None:
        """Draw, and print where the pictures are."""
        if not self.progress or not all(0 <= percent < PERCENT for percent in self.progress):
            raise MentorNetError(
                f"progress must be in 0–{PERCENT - 1} percent, got {self.progress}"
            )
        if not 0 <= self.loss_level < float("inf"):
            raise MentorNetError(f"loss_level must be a loss ≥ 0, got {self.loss_level:g}")
        from mentornet.figures.curriculum import draw_curriculum
        from mentornet.figures.style import save

        weigh, history, title = self._subject()
        drawn = draw_curriculum(
            weigh, title, moments=self.progress, history=history, loss_level=self.loss_level
        )
        stem = Path(self.name).resolve().name
        stem = f"mentor-{stem}" if self.subject == "mentor" else stem
        for path in save(drawn, self.out / stem):
            Console(highlight=False, markup=False).print(f"wrote {path}")

    def _subject(self) -> tuple[Callable[[MentorFeatures], Tensor], int, str]:
        if self.subject == "mentor":
            if self.set:
                raise MentorNetError("--set is for a curriculum; a mentor's settings are learned")
            mentor = load_mentor(self.name)
            return mentor, mentor.config.history, f"mentor {Path(self.name).name} ({mentor.name})"
        curriculum = make_curriculum(self.name, **parse_numbers(self.set))
        history = 10 if curriculum.min_history > 1 else 1
        settings = ", ".join(f"{key} = {value}" for key, value in curriculum.settings.items())
        return curriculum.weight, history, f"{self.name} ({settings})" if settings else self.name
