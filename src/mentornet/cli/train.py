"""`mentornet train`: a student on labels that cannot be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

import tyro

from mentornet.cli.watch import RunWatch, console
from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
    read_config,
)
from mentornet.data import DATASETS
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError

__all__ = ["Train", "one_spelling"]

_VERDICTS = {"--verdicts": True, "--decisions": True, "--clean": False}  # whether it takes several

_DATA = (
    f"{', '.join(DATASETS)}, a folder of images (train/<class>/…) or of shards, or a CSV or "
    "Parquet file (path, label, …)."
)


@dataclass(frozen=True)
class Train:
    """Train a student on labels that cannot be trusted.

    For example:

      mentornet train digits --noise uniform:0.4 --clean-count 150 --out runs/digits
      mentornet train cifar10 --noise uniform:0.4 --method mentornet-pd --out runs/pd
      mentornet train photos/ --verdicts checked.csv --epochs 30 --out runs/photos
      mentornet train cifar10 --method reed-soft --set beta=0.9 --out runs/reed
      mentornet train photos/ --batch-size 512 --accumulate 4 --out runs/large
      mentornet train --out runs/digits --resume
      mentornet train --config runs/digits/config.toml --seed 1 --out runs/again
    """

    data: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="DATA", help=_DATA)]

    out: Path
    """The run's folder: config, metrics, records, checkpoints, summary and curves."""

    resume: bool = False
    """Go on with the run in --out, from its last checkpoint."""

    config: Path | None = None
    """Settings from a TOML file, such as the config.toml of a run; options go before it."""

    seed: int = 0
    """Fixes everything that is drawn."""

    labels: LabelsConfig = field(default_factory=LabelsConfig)
    method: MethodConfig = field(default_factory=MethodConfig)
    student: StudentConfig = field(default_factory=StudentConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    files: FilesConfig = field(default_factory=FilesConfig)
    machine: MachineConfig = field(default_factory=MachineConfig)

    @classmethod
    def defaults(cls, arguments: list[str]) -> Train | None:
        """What the options on the command line go before: a config file, or the run to resume."""
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
        groups = {part.name: getattr(stored, part.name) for part in fields(stored)}
        return cls(out=tyro.MISSING, **groups)

    def settings(self) -> TrainConfig:
        """These options as a config."""
        return TrainConfig(**{part.name: getattr(self, part.name) for part in fields(TrainConfig)})

    def run(self) -> None:
        """Train, draw the curves, and say what came of it."""
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
