"""`mentornet train`: a student on labels that cannot be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import tyro

from mentornet.cli.settings_table import show_settings
from mentornet.cli.train_options import Data, LabelsOptions, MethodOptions, StudentOptions
from mentornet.cli.watch import RunWatch, console
from mentornet.config import (
    FilesConfig,
    MachineConfig,
    OptimiserConfig,
    TrainConfig,
    check_code,
    read_config,
)
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.methods.settings import overridden
from mentornet.training import preview
from mentornet.training.presets import PRESETS

__all__ = ["Train", "one_spelling"]

_PRESET = "Take every setting that is not given from a preset: " + "; ".join(
    f"{name} has those of {preset.source} for {', '.join(preset.data)}"
    for name, preset in PRESETS.items()
)
_VERDICTS = {"--verdicts": True, "--decisions": True, "--clean": False}  # whether it takes several


@dataclass(frozen=True)
class Train:
    """Train a student on labels that cannot be trusted, and learn which labels are wrong.

    Settings that are not given are chosen to suit the data. For example:

      mentornet train digits --noise uniform:0.4 --clean-count 150 --out runs/digits
      mentornet train cifar10 --noise uniform:0.4 --method mentornet-pd --out runs/pd
      mentornet train photos/ --verdicts checked.csv --epochs 30 --out runs/photos
      mentornet train photos/ --student hf:models/vit --out runs/vit
      mentornet train reviews.csv --text review --label stars --out runs/reviews
      mentornet train cifar10 --method reed-soft --set beta=0.9 --out runs/reed
      mentornet train photos/ --batch-size 512 --accumulate 4 --out runs/large
      mentornet train cifar10 --noise uniform:0.4 --method mentornet-pd --preset paper --dry-run
      mentornet train --out runs/digits --resume
      mentornet train --config runs/digits/config.toml --seed 1 --out runs/again

    Attributes:
        out: Folder of the run: its config, metrics, records, checkpoints, summary and curves.
        dry_run: Only print the complete configuration, with the section of the paper behind each
            value if there is a preset.
        resume: Continue the run in --out from its last checkpoint.
        config: TOML file with settings, such as a run's config.toml; options override what it says.
        trust_code: Run the code of a student or a method that is named as module:factory by the
            file of --config or by the run to resume, and not by --student or --method.
        seed: Seed of all random draws: noise, order, augmentation, the student's first weights.
    """

    data: Data

    out: Path | None = None
    preset: Annotated[str | None, tyro.conf.arg(help=_PRESET)] = None

    dry_run: bool = False
    resume: bool = False
    config: Path | None = None
    trust_code: bool = False
    seed: int = 0
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
        given = [name for name in ("student", "method") if _option(arguments, f"--{name}")]
        trust = not {"--trust-code", "--trust_code"}.isdisjoint(arguments)
        check_code(stored, path, trust_code=trust, given=given)
        return cls(**_groups(stored, cls))

    def settings(self) -> TrainConfig:
        """These options as a config; settings of a method override those of a config file."""
        config = TrainConfig(**_groups(self, TrainConfig))
        file = self._file()
        if file is None:
            return config
        stored, method = read_config(file).method, config.method
        if method.method != stored.method:  # the file's settings are those of another method
            words = () if method.set == stored.set else method.set
        else:
            words = overridden(stored.set, method.set)
        return replace(config, method=replace(method, set=words))

    def _file(self) -> Path | None:
        """The config file that the options override."""
        if self.config is not None:
            return self.config
        return self.out / "config.toml" if self.resume and self.out is not None else None

    def run(self) -> None:
        """Train, draw the curves, and print the summary."""
        config = self.settings()
        if self.dry_run:
            show_settings(preview(config), console())
            return
        if self.out is None:
            raise MentorNetError("--out is missing: name the folder of the run, as in runs/first")
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

    A bare `--freeze` means `--freeze True`.

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
            if word == "--freeze" and not same and words[:1] not in (["True"], ["False"]):
                rest.append("True")
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
