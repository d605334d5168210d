"""`mentornet shards`: a dataset packed into WebDataset shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mentornet.cli.watch import RunWatch, console
from mentornet.data import load_data
from mentornet.data.loading import DATASETS, LARGE
from mentornet.data.stream.packing import PER_SHARD, pack

__all__ = ["Shards"]


@dataclass(frozen=True)
class Shards:
    """Pack a dataset into shards: tar files of a few hundred megabytes, in WebDataset's form.

    They are read faster than millions of small files, above all from shared storage, and training
    on them gives the same result as on the files. Every image is decoded once and every shard read
    back. After an interruption the same command goes on. For example:

      mentornet shards imagenet /fast/imagenet --folder /data/ILSVRC2012
      mentornet train /fast/imagenet --noise uniform:0.4 --out runs/imagenet
      mentornet shards webvision /fast/web --folder /data/webvision --imagenet /data/ILSVRC2012
      mentornet shards photos/ photo-shards --skip-bad
    """

    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="SRC")]
    """What `mentornet train` trains on: a dataset by name, a folder of images, a table of them."""

    out: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DST")]
    """Folder for the shards."""

    folder: Path | None = None
    """Folder of the dataset's files."""

    imagenet: Path | None = None
    """Folder of ImageNet, to pack its validation images with WebVision's."""

    per_shard: int = PER_SHARD
    """Samples a shard."""

    skip_bad: bool = False
    """Leave out images that cannot be decoded, and list them."""

    def run(self) -> None:
        """Pack, and say what came of it."""
        own = self.source not in DATASETS and self.source not in LARGE
        with RunWatch() as watch:
            splits = load_data(
                self.source, folder=self.folder, imagenet=self.imagenet, stream=own,
                skip_bad=self.skip_bad and own, on_progress=watch.files,
            )  # fmt: skip
            done = pack(
                splits, self.out, source=self.source, per_shard=self.per_shard,
                skip_bad=self.skip_bad, on_progress=watch.files,
            )  # fmt: skip
        for note in splits.notes:
            console(stderr=True).print(note)
        for name in done.skipped:
            console(stderr=True).print(f"left out {name}")
        console().print(
            f"wrote {self.out}: {done.samples:,} samples in {done.shards:,} shards, "
            f"{done.size / 1e6:,.1f} MB"
        )
