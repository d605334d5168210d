"""The options that data is loaded with."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from mentornet.data.encoding.registry import FitEncoder
from mentornet.data.progress import Progress
from mentornet.errors import MentorNetError

__all__ = ["LoadOptions"]


@dataclass(frozen=True)
class LoadOptions:
    """How data is loaded. Each kind of data allows some of these options.

    Attributes:
        folder: the folder with the files of a named dataset.
        mirror: where to download the dataset from: an address, a folder or the archive itself.
        image_size: height and width of the images; by default the median of the shorter sides of
            100 training images, limited to 8 … 224. For streamed images, the size of the views.
        skip_bad: leave out images that cannot be read. Of streamed images it is not known
            beforehand which those are, so a grey image takes the place of each.
        stream: leave the images of a folder or a table in their files, also if they fit into
            memory.
        imagenet: the folder of ImageNet, for WebVision; `imagenet` is searched for like a dataset.
        text: the column of texts.
        label: the column of labels.
        labels: the file with the labels of vectors.
        encoder: fits the encoder of texts, rows or vectors; by default the one that suits them.
        on_progress: called while files are downloaded and images are read.
    """

    folder: Path | None = None
    mirror: str | None = None
    image_size: int | None = None
    skip_bad: bool = False
    stream: bool = False
    imagenet: Path | None = None
    text: str | None = None
    label: str | None = None
    labels: Path | None = None
    encoder: FitEncoder | None = None
    on_progress: Progress | None = None

    def check(self, source: str, allowed: tuple[str, ...]) -> None:
        """Raise if an option is given that has no meaning for the source."""
        for option in fields(self):
            if option.name in (*allowed, "encoder", "on_progress"):
                continue
            value = getattr(self, option.name)
            if value is not None and value is not False:
                raise MentorNetError(
                    f"the setting {option.name} has no meaning for {source}; leave it out"
                )
