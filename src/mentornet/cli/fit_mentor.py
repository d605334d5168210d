"""`mentornet fit-mentor`: teach a mentor a predefined curriculum."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import torch
from rich.console import Console
from tyro.conf import arg

from mentornet.cli.listing import listed, summary_of
from mentornet.cli.mentor_folder import RECORD, check_out, write_folder
from mentornet.cli.progress import bar
from mentornet.curricula import CURRICULA, Curriculum, make_curriculum
from mentornet.errors import MentorNetError
from mentornet.files import as_json
from mentornet.mentors import (
    ARCHITECTURES,
    FEATURES,
    FitConfig,
    FitRecord,
    Lesson,
    enumerate_features,
    error_of,
    fit_curriculum,
    make_mentor,
)
from mentornet.mentors.cards import Card
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.objectives import explicit
from mentornet.methods.settings import parse_numbers
from mentornet.version import __version__

__all__ = ["FitMentor"]

_CURRICULUM = listed(
    "What the mentor is taught:",
    {name: summary_of(kind) for name, kind in CURRICULA.items()},
    "v* is the weight of a sample, and ℓ its loss.",
)
_ARCH = listed(
    "The network of the mentor:",
    {name: summary_of(kind) for name, kind in ARCHITECTURES.items()},
    "All of them give a sample a weight in [0, 1].",
)


@dataclass(frozen=True)
class FitMentor:
    """Teach a mentor to give the weights of a predefined curriculum.

    For example:

      mentornet fit-mentor --curriculum linear --arch bilstm --out mentors/linear
      mentornet fit-mentor --curriculum pd --set lambda1=0.5 lambda2=2 --out mentors/pd
      mentornet fit-mentor --curriculum prediction-variance --history 10 --out mentors/wavering

    Then, in Python: Mentor.from_pretrained("mentors/linear")

    Attributes:
        out: Folder for config.json, model.safetensors, the card and the error curve (record.json).
        set: Settings of the curriculum as key=value, for example lambda1=0.5.
        objective: implicit: regression on the weights; explicit: minimise g·ℓ + G(g), for a
            curriculum with a G.
        features: What to learn from: the paper's grid (App. D), or random features (dense) as in
            training.
        history: T, the number of past losses of a sample that the mentor reads.
        num_classes: Number of labels that the mentor can tell apart.
        use_label: Read the label; with --no-use-label, the label input is always 0.
        samples: Number of samples that the mentor learns from and is evaluated on.
        steps: Largest number of steps of Adam.
        learning_rate: The highest learning rate.
        goal: Stop early once the mean squared error is at or below this.
        patience: Stop early after this many of the 50 evaluations without a new best.
        seed: Seed of the starting weights and of the order of the samples.
        overwrite: Replace the mentor in --out.
    """

    curriculum: Annotated[str, arg(help=_CURRICULUM)]

    out: Path
    arch: Annotated[str, arg(help=_ARCH)] = "bilstm"

    set: tuple[str, ...] = ()
    objective: Literal["implicit", "explicit"] = "implicit"
    features: Literal["grid", "dense"] = "grid"
    history: int = 1
    num_classes: int = 10
    use_label: bool = True
    samples: int = 300_000
    steps: int = FitConfig.steps
    learning_rate: float = FitConfig.learning_rate
    goal: float = FitConfig.goal
    patience: int | None = FitConfig.patience
    seed: int = 0
    overwrite: bool = False

    def run(self) -> None:
        """Teach the mentor, and write its folder at the end."""
        if self.samples < 1:
            raise MentorNetError(f"samples must be ≥ 1, got {self.samples}")
        curriculum = make_curriculum(self.curriculum, **parse_numbers(self.set))
        sizes = {name: getattr(self, name) for name in ("history", "num_classes", "use_label")}
        mentor = make_mentor(self.arch, seed=self.seed, **sizes)
        config = FitConfig(
            self.steps, learning_rate=self.learning_rate, goal=self.goal, patience=self.patience,
            seed=self.seed,
        )  # fmt: skip
        check_out(self.out, overwrite=self.overwrite)
        _try(mentor, curriculum, self.objective)
        features = FEATURES[self.features](
            self.samples, history=self.history, num_classes=self.num_classes
        )
        with bar(f"{self.curriculum} → {self.arch}", config.steps, "MSE {:.1e}") as show:
            record = fit_curriculum(
                mentor, curriculum, features, config, objective=self.objective, on_progress=show
            )
        card = self._card(mentor, curriculum, record)
        write_folder(self.out, mentor, card, {RECORD: as_json(asdict(record))})
        Console(highlight=False, markup=False, soft_wrap=True).print(
            f"{self.out}: {mentor.name}, {mentor.num_parameters} parameters, "
            f"MSE {record.error:.1e} over {self.samples:,} samples, "
            f"{record.seconds:.0f} s ({record.stopped})"
        )

    def command(self) -> str:
        """The command line that these options stand for, defaults left out."""
        words = ["mentornet", "fit-mentor", "--curriculum", self.curriculum, "--arch", self.arch]
        if self.set:
            words += ["--set", *self.set]
        for name in (
            "objective", "features", "history", "num_classes", "samples", "steps",
            "learning_rate", "goal", "patience", "seed",
        ):  # fmt: skip
            value = getattr(self, name)
            if value != getattr(type(self), name):
                words += [f"--{name.replace('_', '-')}", f"{value}"]
        if not self.use_label:
            words += ["--no-use-label"]
        return shlex.join([*words, "--out", self.out.as_posix()])

    def _card(self, mentor: Mentor, curriculum: Curriculum, record: FitRecord) -> Card:
        grid = enumerate_features(history=self.history, num_classes=self.num_classes)
        return Card(
            curriculum=self.curriculum,
            settings=curriculum.settings,
            objective=self.objective,
            features=self.features,
            samples=self.samples,
            features_seed=0,
            mse=record.error,
            mse_grid=error_of(mentor, Lesson(grid, curriculum(grid))),
            command=self.command(),
            mentornet_version=__version__,
            torch_version=torch.__version__,
        )


def _try(mentor: Mentor, curriculum: Curriculum, objective: str) -> None:
    """Weigh one sample, so that what cannot work is said before work starts."""
    curriculum(enumerate_features(1, history=mentor.config.history))
    if objective == "explicit":
        explicit(curriculum)
