"""Options of `mentornet train` whose help is made from the registries.

They are the groups of `mentornet.config` with other help texts, which only `cli` can write, because
it may import the registries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from mentornet.cli.listing import listed, sizes_of, summary_of
from mentornet.config import LabelsConfig, MethodConfig, StudentConfig
from mentornet.data import DATASETS
from mentornet.methods import METHODS
from mentornet.students import STUDENTS
from mentornet.verdicts.verdicts import OF_EACH_KIND

__all__ = ["Data", "LabelsOptions", "MethodOptions", "StudentOptions"]


def _students_with(size: str) -> str:
    return ", ".join(name for name, factory in STUDENTS.items() if size in sizes_of(factory))


_LEARNING = [name for name, method in METHODS.items() if method().needs.verdicts != "no"]

_DATA = listed(
    "The name of a dataset:",
    {
        name: dataset.about.partition(". ")[0].removesuffix(".")
        for name, dataset in DATASETS.items()
    },
    "or a path: a folder of images (<class>/… or train/<class>/…) or of shards; a CSV or Parquet "
    "file with the column label, and path (of images), a text, or features; a .npz or .npy file "
    "with vectors; or a dataset that Hugging Face datasets has saved on disk.",
)

_METHOD = listed(
    "What supervises the student:",
    {name: method.summary for name, method in METHODS.items()},
    "or a method of your own, as module:factory. By default mentornet-early, which learns from "
    f"verdicts if there are at least {OF_EACH_KIND} on correct and {OF_EACH_KIND} on wrong labels, "
    "or with --clean-count. For texts, and where predictions of all samples would take over 1 GB, "
    "it is mentornet-dd with so many verdicts, else mentornet-auto. A pretrained student that is "
    "frozen has mentornet-features.",
)

_STUDENT = listed(
    "The network that is trained:",
    {name: summary_of(factory) for name, factory in STUDENTS.items()},
    "or a pretrained network: hf:FOLDER or hf:NAME for a classifier of Hugging Face transformers "
    "(images or texts), timm:NAME for one of timm; or a student of your own, as module:factory. By "
    "default the one that suits the data.",
)

_VERDICTS = (
    "CSV files of what people said of labels, such as the page of an audit downloads. The last "
    "file that names a sample counts. A row has index or path, and decision (keep, relabel or "
    "drop) with label, or is_correct, true_label or both. These methods learn from verdicts: "
    f"{', '.join(_LEARNING)}. For all other methods, relabel changes the label, drop leaves the "
    "sample out, and keep changes nothing. --clean FILE and --decisions FILE … mean the same."
)

Data = Annotated[Positional[str], arg(metavar="DATA", help=_DATA)]


@dataclass(frozen=True)
class LabelsOptions(LabelsConfig):
    """The noise of the labels, and verdicts on them."""

    verdicts: Annotated[tuple[str, ...], arg(help=_VERDICTS)] = LabelsConfig.verdicts


@dataclass(frozen=True)
class MethodOptions(MethodConfig):
    """How the student is supervised."""

    method: Annotated[str | None, arg(help=_METHOD)] = MethodConfig.method


@dataclass(frozen=True)
class StudentOptions(StudentConfig):
    """The classifier that is trained."""

    student: Annotated[str | None, arg(help=_STUDENT)] = StudentConfig.student

    width: Annotated[
        int | None,
        arg(help=f"How wide the student is, for {_students_with('width')}. By default its own."),
    ] = StudentConfig.width

    depth: Annotated[
        int | None,
        arg(
            help=f"Number of layers, for the student {_students_with('depth')}. By default its own."
        ),
    ] = StudentConfig.depth
