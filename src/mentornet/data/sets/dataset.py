"""What is known of a named dataset, and the options that it is loaded with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from mentornet.data.progress import Progress
from mentornet.data.samples import Splits
from mentornet.errors import MentorNetError

__all__ = ["Dataset", "LoadOptions"]


@dataclass(frozen=True)
class LoadOptions:
    """How data is loaded. Each kind of data allows some of these options.

    Attributes:
        folder: the folder with the files of a named dataset.
        mirror: where to download the dataset from: an address, a folder or the archive itself.
        image_size: height and width of the images; for streamed images, of the views.
        skip_bad: leave out images that cannot be read. Of streamed images it is not known
            beforehand which those are, so a grey image takes the place of each.
        stream: leave the images of a folder or a table in their files.
        imagenet: the folder of ImageNet, for WebVision; `imagenet` is searched for like a dataset.
        on_progress: called while files are downloaded and images are read.
    """

    folder: Path | None = None
    mirror: str | None = None
    image_size: int | None = None
    skip_bad: bool = False
    stream: bool = False
    imagenet: Path | None = None
    on_progress: Progress | None = None

    def check(self, source: str, allowed: tuple[str, ...]) -> None:
        """Raise if an option is given that has no meaning for the source."""
        for option in fields(self):
            if option.name in (*allowed, "on_progress"):
                continue
            value = getattr(self, option.name)
            if value is not None and value is not False:
                raise MentorNetError(
                    f"the setting {option.name} has no meaning for {source}; leave it out"
                )


@dataclass(frozen=True)
class Dataset:
    """A dataset that users call by name.

    Attributes:
        name: what users call it.
        about: one line that says what it is and where its files are searched for.
        load: reads the dataset.
        shape: of one sample, (C, H, W).
        classes: number of classes, K.
        count: number of training samples, N.
        has_clean_labels: whether its labels count as true, as they are shipped.
        streamed: whether the samples stay in their files until a step needs them.
        options: names of the `LoadOptions` that have a meaning for it.
    """

    name: str
    about: str
    load: Callable[[LoadOptions], Splits]
    shape: tuple[int, int, int]
    classes: int
    count: int
    has_clean_labels: bool
    streamed: bool = False
    options: tuple[str, ...] = ()
