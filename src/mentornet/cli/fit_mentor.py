"""`mentornet fit-mentor`: teach a mentor a predefined curriculum."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from rich.console import Console

from mentornet.cli.progress import bar
from mentornet.cli.settings import parse_settings
from mentornet.curricula import Curriculum, make_curriculum
from mentornet.errors import MentorNetError
from mentornet.mentors import FitConfig, FitRecord, enumerate_features, fit_curriculum, make_mentor
from mentornet.mentors.cards import Card, write_card
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.objectives import explicit
from mentornet.mentors.store import PRETRAINED
from mentornet.version import __version__

__all__ = ["FitMentor"]


@dataclass(frozen=True)
class FitMentor:
    """Teach a mentor a predefined curriculum, on samples that enumerate the feature space.

    For example::

      mentornet fit-mentor --curriculum linear --arch bilstm --out mentors/linear
      mentornet fit-mentor --curriculum pd --set lambda1=0.5 lambda2=2 --out mentors/pd
      mentornet fit-mentor --curriculum prediction-variance --history 10 --out mentors/wavering

    Then, in Python: Mentor.from_pretrained("mentors/linear")
    """

    curriculum: str
    """Which curriculum; a misspelt name lists all of them."""

    out: Path
    """Folder for config.json, model.safetensors and the card; must not exist yet."""

    arch: str = "bilstm"
    """Which network: bilstm (the paper's), batch-lstm, cnn, mlp or logistic."""

    set: tuple[str, ...] = ()
    """The curriculum's hyper-parameters, as key=value."""

    objective: Literal["implicit", "explicit"] = "implicit"
    """Regress on the weights, or minimise the objective of Eq. 4 (needs a known G)."""

    history: int = 1
    """T, how many steps of a sample's loss the mentor reads."""

    num_classes: int = 10
    """How many labels the mentor can tell apart."""

    use_label: bool = True
    """Whether the mentor reads the label; if not, its label input is 0."""

    samples: int = 300_000
    """How many enumerated samples to learn from and be judged on."""

    steps: int = FitConfig.steps
    """Steps of Adam."""

    learning_rate: float = FitConfig.learning_rate
    """The highest learning rate."""

    seed: int = 0
    """Of the starting values and of the order of the samples."""

    overwrite: bool = False
    """Replace what is in --out."""

    def run(self) -> None:
        """Fit, and write the folder when all is done."""
        if self.samples < 1:
            raise MentorNetError(f"samples must be ≥ 1, got {self.samples}")
        curriculum = make_curriculum(self.curriculum, **parse_settings(self.set))
        mentor = make_mentor(
            self.arch,
            seed=self.seed,
            history=self.history,
            num_classes=self.num_classes,
            use_label=self.use_label,
        )
        config = FitConfig(steps=self.steps, learning_rate=self.learning_rate, seed=self.seed)
        self._check_out()
        _try(mentor, curriculum, self.objective)
        features = enumerate_features(
            self.samples, history=self.history, num_classes=self.num_classes
        )
        with bar(f"{self.curriculum} → {self.arch}", config.steps, "MSE {:.1e}") as show:
            record = fit_curriculum(
                mentor,
                curriculum,
                features,
                config,
                objective=self.objective,
                on_progress=show,
            )
        card = Card(
            curriculum=self.curriculum,
            settings=curriculum.settings,
            objective=self.objective,
            mse=record.error,
            samples=self.samples,
            grid_seed=0,
            command=self.command(),
            mentornet_version=__version__,
            torch_version=torch.__version__,
        )
        self._write(mentor, card)
        self._report(mentor, record)

    def command(self) -> str:
        """The command line that these options stand for, defaults left out."""
        words = ["mentornet", "fit-mentor", "--curriculum", self.curriculum, "--arch", self.arch]
        if self.set:
            words += ["--set", *self.set]
        for name in ("objective", "history", "num_classes", "samples", "steps", "learning_rate"):
            value = getattr(self, name)
            if value != getattr(type(self), name):
                words += [f"--{name.replace('_', '-')}", f"{value}"]
        if not self.use_label:
            words += ["--no-use-label"]
        if self.seed:
            words += ["--seed", str(self.seed)]
        return shlex.join([*words, "--out", self.out.as_posix()])

    def _name(self) -> str:
        """What to load it by: its folder, or its name if it is one of those that ship."""
        return self.out.name if self.out.resolve().parent == PRETRAINED else self.out.as_posix()

    def _check_out(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise MentorNetError(f"--out must be a folder, got the file {self.out}")
        if self.out.is_dir() and any(self.out.iterdir()) and not self.overwrite:
            raise MentorNetError(
                f"{self.out} is not empty; choose another folder, or add --overwrite"
            )

    def _write(self, mentor: Mentor, card: Card) -> None:
        """The folder appears whole, or not at all."""
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.out.parent, prefix=f".{self.out.name}.") as made:
            whole = Path(made) / "mentor"
            mentor.save_pretrained(whole)
            write_card(card, mentor, whole, self._name())
            if self.out.exists():
                self.out.rename(Path(made) / "before")
            shutil.move(whole, self.out)

    def _report(self, mentor: Mentor, record: FitRecord) -> None:
        Console(highlight=False).print(
            f"{self.out}: {mentor.name}, {mentor.num_parameters} parameters, "
            f"MSE {record.error:.1e} over {self.samples:,} samples, "
            f"{record.seconds:.0f} s ({record.stopped})"
        )


def _try(mentor: Mentor, curriculum: Curriculum, objective: str) -> None:
    """Weigh one sample, so that what cannot work is said before work starts."""
    one = enumerate_features(1, history=mentor.config.history)
    curriculum(one)
    if objective == "explicit":
        explicit(curriculum)
