"""`mentornet learn-mentor`: a mentor to take elsewhere, from a finished run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from mentornet.cli.mentor_folder import RUN, check_out, write_folder
from mentornet.cli.progress import bar
from mentornet.config import read_config, to_toml
from mentornet.mentors import FitConfig
from mentornet.mentors.cards import LearnedCard
from mentornet.training.run_folder import RunFolder
from mentornet.training.transfer import learn_mentor
from mentornet.version import __version__

__all__ = ["LearnMentor"]


@dataclass(frozen=True)
class LearnMentor:
    r"""Learn a mentor from the verified samples of a finished run, for use on other data.

    For example:

      mentornet train cifar10 --noise uniform:0.4 --clean-count 5000 \
        --method mentornet-dd --set teaches_verified=false --out runs/c10
      mentornet learn-mentor --run-folder runs/c10 --out mentors/dd
      mentornet train photos/ --method mentornet-dd --set mentor=mentors/dd --out runs/photos

    The mentor reads no label, so it serves any number of classes. teaches_verified=false lets the
    run treat verified samples like all others; otherwise their losses would not be typical.

    Attributes:
        run_folder: Folder of a finished run of mentornet-dd.
        out: Folder for config.json, model.safetensors and the card.
        steps: Number of steps of Adam.
        learning_rate: The highest learning rate.
        seed: Seed of the starting weights, of what is held out, and of the order.
        overwrite: Replace the mentor in --out.
        trust_code: Run the code of a student or a method that the run's config names as
            module:factory.
    """

    run_folder: Path
    out: Path
    steps: int = 5000
    learning_rate: float = 0.03
    seed: int = 0
    overwrite: bool = False

    trust_code: bool = False

    def run(self) -> None:
        """Learn the mentor, and write its folder at the end."""
        check_out(self.out, overwrite=self.overwrite)
        config = FitConfig(self.steps, learning_rate=self.learning_rate, seed=self.seed)
        with bar(f"{self.run_folder} → mentor", config.steps, "cross-entropy {:.3f}") as show:
            found = learn_mentor(
                self.run_folder, config, on_progress=show, trust_code=self.trust_code
            )
        run = read_config(RunFolder(self.run_folder).config)
        card = LearnedCard(
            data=run.data, noise=run.labels.noise or "as it came",
            noise_rate=found.summary["noise_rate_actual"],
            student=f"{run.student.student}, {found.summary['parameters']:,} parameters",
            epochs=found.epochs, verified=found.verified, verified_wrong=found.wrong,
            mse=found.error, mse_pd=found.error_predefined, auroc=found.auroc,
            accuracy_last=found.summary["accuracy_last"],
            command=self.command(), mentornet_version=__version__, torch_version=torch.__version__,
        )  # fmt: skip
        write_folder(self.out, found.mentor, card, {RUN: to_toml(run)})
        Console(highlight=False, markup=False, soft_wrap=True).print(
            f"{self.out}: learned from {found.verified:,} verified samples in {found.epochs} "
            f"epochs; on those held out (v − v*)² is {found.error:.3f}, that of pd "
            f"{found.error_predefined:.3f}, AUROC {found.auroc:.3f}"
        )

    def command(self) -> str:
        """The command line that these options stand for, defaults left out."""
        words = ["mentornet", "learn-mentor", "--run-folder", self.run_folder.as_posix()]
        for name in ("steps", "learning_rate", "seed"):
            value = getattr(self, name)
            if value != getattr(type(self), name):
                words += [f"--{name.replace('_', '-')}", f"{value}"]
        return shlex.join([*words, "--out", self.out.as_posix()])
