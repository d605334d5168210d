"""`mentornet predict`: the classes that a trained student predicts for images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro
from torch import Tensor, nn

from mentornet.cells import csv_text
from mentornet.cli.watch import RunWatch, console
from mentornet.data import read_images
from mentornet.data.files.image_folder import images_below
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.data.stream.streamed import LooseFiles
from mentornet.errors import MentorNetError
from mentornet.files import write_text
from mentornet.training import RunFolder, load_student, predict
from mentornet.training.stored import DataFacts

__all__ = ["Predict"]


@dataclass(frozen=True)
class Predict:
    """Predict the classes of images with the student of a training run.

    The table has the path, the predicted class, its probability, and the probability of every
    class. For example:

      mentornet predict runs/photos new/ --out predictions.csv
      mentornet predict runs/photos cat.jpg dog.jpg

    Attributes:
        run_folder: Folder of a training run.
        images: Image files, or folders, which are searched for images at any depth.
        out: CSV file to write; by default the table is printed.
        best: Use the student of the best epoch, as the run has chosen it, in place of the last one.
        skip_bad: Continue without images that cannot be decoded, and list them.
        trust_code: Run the code of a student that the run's config names as module:factory.
    """

    run_folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    images: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="IMAGES")]
    out: Path | None = None
    best: bool = False
    skip_bad: bool = False

    trust_code: bool = False

    def run(self) -> None:
        """Predict the classes, and write the table."""
        folder = RunFolder(self.run_folder)
        student = load_student(folder, best=self.best, trust_code=self.trust_code)
        about = folder.about()
        paths = _found(self.images)
        if about.streamed:
            kept, chances = self._of_views(paths, student, about.height)
        else:
            kept, chances = self._of_images(paths, student, about)
        if not kept:
            raise MentorNetError("none of the images could be read")
        table = _table(kept, chances.tolist(), about.classes)
        if self.out is None:
            print(table, end="")
        else:
            write_text(self.out, table)
            console().print(f"wrote {self.out}: {len(kept)} images")

    def _of_images(
        self, paths: list[Path], student: nn.Module, about: DataFacts
    ) -> tuple[list[Path], Tensor]:
        """The paths of the images that could be read, and the probabilities of their classes."""
        with RunWatch() as watch:
            read = read_images(
                paths, size=about.height, channels=about.channels,
                skip_bad=self.skip_bad, on_progress=watch.files,
            )  # fmt: skip
        for error in read.skipped:
            console(stderr=True).print(f"skipped {error}")
        kept = [paths[place] for place in read.kept.tolist()]
        return kept, predict(student, read.pixels) if kept else torch.empty(0)

    def _of_views(
        self, paths: list[Path], student: nn.Module, side: int
    ) -> tuple[list[Path], Tensor]:
        """The same for a student that was trained on views of streamed images."""
        names = [f"{path.absolute()}" for path in paths]
        fetcher = Fetcher(default_workers(), skip_bad=self.skip_bad)
        chances = predict(student, LooseFiles(Path("/"), names, side), fetcher=fetcher)
        for name, reason in fetcher.bad.items():
            console(stderr=True).print(f"skipped {name} cannot be read as an image: {reason}")
        kept = [place for place, name in enumerate(names) if name not in fetcher.bad]
        return [paths[place] for place in kept], chances[kept]


def _found(named: tuple[Path, ...]) -> list[Path]:
    paths = []
    for path in named:
        if path.is_dir():
            paths += images_below(path)
        elif path.exists():
            paths.append(path)
        else:
            raise MentorNetError(f"{path} is missing")
    if not paths:
        raise MentorNetError(f"there are no images in {', '.join(map(str, named)) or 'nothing'}")
    return paths


def _table(paths: list[Path], chances: list[list[float]], classes: list[str]) -> str:
    rows = [["path", "predicted_label", "probability", *(f"p_{name}" for name in classes)]]
    for path, chance in zip(paths, chances, strict=True):
        top = max(range(len(chance)), key=chance.__getitem__)
        numbers = (f"{value:.6f}" for value in chance)
        rows.append([path.as_posix(), classes[top], f"{chance[top]:.6f}", *numbers])
    return csv_text(rows)
