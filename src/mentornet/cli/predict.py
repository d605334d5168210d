"""`mentornet predict`: the classes that a trained student predicts for new samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro
from torch import Tensor, nn

from mentornet.cells import csv_text
from mentornet.cli.watch import RunWatch, console
from mentornet.data import read_images
from mentornet.data.encoding import Encoder, Raw, Vectors
from mentornet.data.files.image_folder import images_below
from mentornet.data.files.reading import Source
from mentornet.data.files.saved_dataset import is_saved
from mentornet.data.files.saved_table import read_saved
from mentornet.data.files.vector_file import read_vectors
from mentornet.data.stream.fetching import Fetcher, default_workers
from mentornet.data.stream.streamed import LooseFiles, Place, Streamed, in_files
from mentornet.data.tables.reading import read_raw
from mentornet.errors import MentorNetError, cut
from mentornet.files import write_text
from mentornet.training import RunFolder, load_student, predict
from mentornet.training.stored import DataFacts

__all__ = ["Predict"]

_MANY = 1_000  # samples that a choice among epochs can be made by


@dataclass(frozen=True)
class Predict:
    """Predict the classes of new samples with the student of a training run.

    A run that was trained on images reads images. One that was trained on texts, rows or vectors
    reads a file with the same columns; labels need not be there. The table has the path, or the
    number of the row from 0, the predicted class, its probability, and the probability of every
    class. For example:

      mentornet predict runs/photos new/ --out predictions.csv
      mentornet predict runs/photos cat.jpg dog.jpg
      mentornet predict runs/texts new.csv --out predictions.csv

    Attributes:
        run_folder: Folder of a training run.
        inputs: Image files, or folders, which are searched for images at any depth; or a CSV,
            Parquet, .npy or .npz file with texts, rows or vectors. A dataset that Hugging Face has
            saved on disk may hold either.
        out: CSV file to write; by default the table is printed.
        best: Use the student of the best epoch, as the run has chosen it, in place of the last one.
        skip_bad: Continue without images that cannot be decoded, and list them.
        trust_code: Run the code of a student that the run's config names as module:factory.
    """

    run_folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    inputs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="INPUTS")]
    out: Path | None = None
    best: bool = False
    skip_bad: bool = False

    trust_code: bool = False

    def run(self) -> None:
        """Predict the classes, and write the table."""
        folder = RunFolder(self.run_folder)
        student = load_student(folder, best=self.best, trust_code=self.trust_code)
        about = folder.about()
        if self.best and about.best_chosen_on is not None:
            _say_how_chosen(about.best_chosen_on)
        if about.kind != "images":
            names, chances = _of_file(self.inputs, student, folder.read_encoder(), about)
        else:
            saved = _saved(self.inputs)
            images: Sequence[Source] = _found(self.inputs) if saved is None else saved
            of = self._of_views if about.streamed else self._of_images
            kept, chances = of(images, student, about)
            if not kept:
                raise MentorNetError("none of the images could be read")
            if saved is None:
                names = {"path": [Path(f"{images[place]}").as_posix() for place in kept]}
            else:
                names = {"row": [f"{place}" for place in kept]}
        table = _table(names, chances.tolist(), about.classes)
        if self.out is None:
            print(table, end="")
        else:
            write_text(self.out, table)
            what = "images" if about.kind == "images" else "rows"
            console().print(f"wrote {self.out}: {len(chances)} {what}")

    def _of_images(
        self, images: Sequence[Source], student: nn.Module, about: DataFacts
    ) -> tuple[list[int], Tensor]:
        """The places of the images that could be read, and the probabilities of their classes."""
        with RunWatch() as watch:
            read = read_images(
                images, size=about.height, channels=about.channels,
                skip_bad=self.skip_bad, on_progress=watch.files,
            )  # fmt: skip
        for error in read.skipped:
            console(stderr=True).print(f"skipped {error}")
        kept: list[int] = read.kept.tolist()
        return kept, predict(student, read.pixels) if kept else torch.empty(0)

    def _of_views(
        self, images: Sequence[Source], student: nn.Module, about: DataFacts
    ) -> tuple[list[int], Tensor]:
        """The same for a student that was trained on views of streamed images."""
        fetcher, views = Fetcher(default_workers(), skip_bad=self.skip_bad), _views(images, about)
        chances = predict(student, views, fetcher=fetcher)
        for name, reason in fetcher.bad.items():
            console(stderr=True).print(f"skipped {name} cannot be read as an image: {reason}")
        kept = [
            number for number in range(len(views)) if views.place(number).name not in fetcher.bad
        ]
        return kept, chances[kept]


def _views(images: Sequence[Source], about: DataFacts) -> Streamed:
    places = [image for image in images if isinstance(image, Place)]
    if places:
        return in_files(Path("/"), places, about.height)
    return LooseFiles(
        Path("/"), [f"{Path(f'{image}').absolute()}" for image in images], about.height
    )


def _saved(named: tuple[Path, ...]) -> list[Place] | None:
    """The images of a dataset that Hugging Face has saved; None if that is not what is named."""
    if not any(path.is_dir() and is_saved(path) for path in named):
        return None
    if len(named) != 1:
        raise MentorNetError(f"name one saved dataset and nothing else, got {len(named)} names")
    table = read_saved(named[0], whole=False)
    if len(table.images) != 1:
        found = ", ".join(table.images) or "none"
        raise MentorNetError(f"{named[0]} must have one column of images, found {cut(found, 200)}")
    return table.pictures(table.images[0])


def _say_how_chosen(count: int) -> None:
    """Print how little the best epoch says, if it is the best on a handful of samples.

    The standard error of an accuracy p on n samples, √(p (1 − p) / n), is at most ½ / √n.
    """
    if 0 < count < _MANY:
        console(stderr=True).print(
            f"the best epoch was chosen by its accuracy on {count} samples: "
            f"{50 / count**0.5:.0f} points may be chance, and wrong labels among them count too. "
            "Without --best the last student predicts."
        )


def _of_file(
    named: tuple[Path, ...], student: nn.Module, encoder: Encoder | None, about: DataFacts
) -> tuple[dict[str, Sequence[str]], Tensor]:
    """What names each row, and the probabilities of its classes."""
    if len(named) != 1:
        raise MentorNetError(f"name one file of {about.kind}, got {len(named)}")
    if encoder is None and about.kind == "tokens":
        raise MentorNetError("the run has no encoder.json, which its texts were encoded by")
    if encoder is None:
        inputs = read_vectors(named[0])
        raw: Raw = Vectors(None, inputs)
    else:
        raw = read_raw(named[0], encoder)
        inputs, notes = encoder.encode(raw)
        encoder.check_made(inputs, about.channels)
        for note in notes:
            console(stderr=True).print(note)
    names = {"row": [f"{row}" for row in range(len(raw))]}
    return {**names, **(raw.cells() if len(raw.cells()) == 1 else {})}, predict(student, inputs)


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


def _table(names: dict[str, Sequence[str]], chances: list[list[float]], classes: list[str]) -> str:
    rows = [[*names, "predicted_label", "probability", *(f"p_{name}" for name in classes)]]
    for *name, chance in zip(*names.values(), chances, strict=True):
        top = max(range(len(chance)), key=chance.__getitem__)
        numbers = (f"{value:.6f}" for value in chance)
        rows.append([*name, classes[top], f"{chance[top]:.6f}", *numbers])
    return csv_text(rows)
