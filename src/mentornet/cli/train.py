"""`mentornet train`: a student on labels that cannot be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import tyro

from mentornet.cli.train_options import Data, LabelsOptions, MethodOptions, StudentOptions
from mentornet.cli.watch import RunWatch, console
from mentornet.config import FilesConfig, MachineConfig, OptimiserConfig, TrainConfig, read_config
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError

__all__ = ["Train", "one_spelling"]

_VERDICTS = {"--verdicts": True, "--decisions": True, "--clean": False}  # whether it takes several


@dataclass(frozen=True)
class Train:
    """Train a student on labels that cannot be trusted, and learn which labels are wrong.

    Settings that are not given are chosen to suit the data. For example:

      mentornet train digits --noise uniform:0.4 --clean-count 150 --out runs/digits
      mentornet train cifar10 --noise uniform:0.4 --method mentornet-pd --out runs/pd
      mentornet train photos/ --verdicts checked.csv --epochs 30 --out runs/photos
      mentornet train cifar10 --method reed-soft --set beta=0.9 --out runs/reed
      mentornet train photos/ --batch-size 512 --accumulate 4 --out runs/large
      mentornet train --out runs/digits --resume
      mentornet train --config runs/digits/config.toml --seed 1 --out runs/again
    """

    data: Data

    out: Path
    """Folder of the run: its config, metrics, records, checkpoints, summary and curves."""

    resume: bool = False
    """Continue the run in --out from its last checkpoint."""

    config: Path | None = None
    """TOML file with settings, such as a run's config.toml; options override what it says."""

    seed: int = 0
    """Seed of all random draws: noise, order, augmentation, the student's first weights."""

    labels: LabelsOptions = field(default_factory=LabelsOptions)
    method: MethodOptions = field(default_factory=MethodOptions)
    student: StudentOptions = field(default_factory=StudentOptions)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    files: FilesConfig = field(default_factory=FilesConfig)
    machine: MachineConfig = field(default_factory=MachineConfig)

    @classmethod
    def defaults(cls, arguments: list[str]) -> Train | None:
        """What the options on the command line override: a config file, or the run to resume."""
        resumed = _option(arguments, "--out") if "--resume" in arguments else None
        named = _option(arguments, "--config")
        if named is not None:
            path = Path(named)
        elif resumed is not None:
            path = Path(resumed) / "config.toml"
            if not path.exists():
                raise MentorNetError(f"there is no run to resume in {resumed}")
        else:
            return None
        stored = read_config(path)
        return cls(out=tyro.MISSING, **_groups(stored, cls))

    def settings(self) -> TrainConfig:
        """These options as a config."""
        return TrainConfig(**_groups(self, TrainConfig))

    def run(self) -> None:
        """Train, draw the curves, and print the summary."""
        config = self.settings()
        from mentornet.figures.curves import draw_run  # slow to import
        from mentornet.figures.style import save
        from mentornet.training import RunFolder, train

        folder, processes = RunFolder(self.out), Processes.join()
        with processes.watched():
            with RunWatch(silent=not processes.first) as watch:
                summary = train(
                    config, self.out, resume=self.resume, observer=watch, on_progress=watch.files
                )
            if processes.first:
                save(draw_run(folder.read_metrics(), summary), self.out / "curves")
                watch.table(summary)
                console().print(f"wrote {self.out}")
            processes.leave()


def _groups(settings: Train | TrainConfig, wanted: type[Train | TrainConfig]) -> dict[str, Any]:
    """The settings of a run, each group in the class that `wanted` has for it."""
    kinds = get_type_hints(wanted)
    groups = {part.name: getattr(settings, part.name) for part in fields(TrainConfig)}
    return {
        name: kinds[name](**vars(group)) if is_dataclass(group) else group
        for name, group in groups.items()
    }


def one_spelling(arguments: list[str]) -> list[str]:
    """The arguments with `--clean FILE` and `--decisions FILE …` gathered into one `--verdicts`.

    >>> one_spelling(["digits", "--clean", "a.csv", "--seed", "1", "--decisions", "b.csv", "c.csv"])
    ['digits', '--seed', '1', '--verdicts', 'a.csv', 'b.csv', 'c.csv']
    """
    rest: list[str] = []
    files: list[str] | None = None
    words = list(arguments)
    while words:
        word, same, value = words.pop(0).partition("=")
        if word not in _VERDICTS:
            rest.append(word + same + value)
            continue
        mine = [value] if same else []
        while words and not words[0].startswith("--") and (_VERDICTS[word] or not mine):
            mine.append(words.pop(0))
        if not mine and word != "--verdicts":
            raise MentorNetError(f"{word} needs a file")
        files = (files or []) + mine
    return rest if files is None else [*rest, "--verdicts", *files]


def _option(arguments: list[str], name: str) -> str | None:
    for place, word in enumerate(arguments):
        if word == name and place + 1 < len(arguments):
            return arguments[place + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None
