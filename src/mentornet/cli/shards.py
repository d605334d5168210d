"""`mentornet shards`: a dataset packed into WebDataset shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mentornet.cli.watch import RunWatch, console
from mentornet.data import DATASETS, LoadOptions, load_data
from mentornet.data.stream.packing import PER_SHARD, pack

__all__ = ["Shards"]


@dataclass(frozen=True)
class Shards:
    """Pack a dataset into shards: tar files of a few hundred megabytes in the WebDataset format.

    Shards are read faster than millions of small files, above all from shared storage, and
    training on them gives the same result. Every image is decoded once to check it, and every
    shard is read back. After an interruption the same command continues. For example:

      mentornet shards imagenet /fast/imagenet --folder /data/ILSVRC2012
      mentornet train /fast/imagenet --noise uniform:0.4 --out runs/imagenet
      mentornet shards webvision /fast/web --folder /data/webvision --imagenet /data/ILSVRC2012
      mentornet shards photos/ photo-shards --skip-bad

    Attributes:
        source: A dataset by name, a folder of images or a table of images, as for `mentornet
            train`.
        out: Folder that the shards are written to.
        folder: Folder with the files of the dataset.
        imagenet: Folder of ImageNet, to pack its validation images together with WebVision.
        per_shard: Number of images in each shard.
        skip_bad: Leave out images that cannot be decoded, and list them.
    """

    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="SRC")]
    out: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DST")]
    folder: Path | None = None
    imagenet: Path | None = None
    per_shard: int = PER_SHARD
    skip_bad: bool = False

    def run(self) -> None:
        """Pack the dataset, and print what was written."""
        own = self.source not in DATASETS
        with RunWatch() as watch:
            options = LoadOptions(
                folder=self.folder, imagenet=self.imagenet, stream=own,
                skip_bad=self.skip_bad and own, on_progress=watch.files,
            )  # fmt: skip
            splits = load_data(self.source, options)
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
