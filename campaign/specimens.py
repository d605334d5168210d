"""Whole files of every kind that is read; the campaign changes copies of them."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shutil
import struct
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from mentornet import MentorLoss
from mentornet.config import OptimiserConfig, TrainConfig, write_config
from mentornet.data import LoadOptions, load_cifar10, load_data
from mentornet.data.stream.packing import pack
from mentornet.experiments.catalogue import TABLES
from mentornet.experiments.results import Results
from mentornet.integrations.criterion_file import save_criterion
from mentornet.mentors.series import MentorSeries
from mentornet.mentors.store import PRETRAINED, load_mentor
from mentornet.training import train
from tests.data.files.pickles import as_npy, as_pt, old_numpy
from tests.data.image_files import random_pixels, write_parquet
from tests.data.layouts import jpeg, put, write_imagenet, write_webvision
from tests.data.sets.test_cifar_parquet import write_as_the_hub
from tests.data.sets.test_datasets import write_cifar10, write_cifar100
from tests.training.runs import small
from tests.training.stopping import StoppedError, StopsAfter

COUNT, SAMPLES = 60, 96
"""The number of labels in a file, and of samples in a run."""

_SAVED = Path(__file__).parents[1] / "tests" / "data" / "tables" / "saved"

_SMALL: dict[str, Any] = {"limit": SAMPLES, "epochs": 3, "width": 2, "batch_size": 32}


def _human() -> dict[str, Any]:
    labels = np.arange(COUNT) % 10
    return {"clean_label": labels, "worse_label": labels[::-1].astype(np.int8),
            "aggre_label": labels.tolist()}  # fmt: skip


def given_labels() -> tuple[Tensor, tuple[str, ...]]:
    """The labels that `verdicts.csv` is about, and the class names."""
    return torch.arange(COUNT) % 3, ("a", "b", "c")


# Labels and transitions.


def label_npz(folder: Path) -> None:
    np.savez_compressed(folder / "labels.npz", **_human())


def label_npy(folder: Path) -> None:
    np.save(folder / "labels.npy", np.arange(COUNT) % 10)


def label_pickled_npy(folder: Path) -> None:
    boxed = np.array(_human(), dtype=object)
    put(folder / "labels.npy", as_npy(old_numpy(boxed, 3)))


def label_pt(folder: Path) -> None:
    torch.save({**_human(), "tensor": torch.arange(COUNT)}, folder / "labels.pt")


def label_old_pt(folder: Path) -> None:
    as_pt(old_numpy(_human()), folder / "old-labels.pt")


def label_legacy_pt(folder: Path) -> None:
    content = {**_human(), "tensor": torch.arange(COUNT)}
    torch.save(content, folder / "legacy.pt", _use_new_zipfile_serialization=False)


def transition_npy(folder: Path) -> None:
    np.save(folder / "transition.npy", np.full((3, 3), 1 / 3))


def transition_csv(folder: Path) -> None:
    put(folder / "transition.csv", "0.8,0.1,0.1\n0,1,0\n0.25,0.25,0.5\n")


def label_csv(folder: Path) -> None:
    lines = [f"photos/{number}.png,class {number % 3},a text" for number in range(COUNT)]
    put(folder / "labels.csv", "\n".join(("path,label,text", *lines)) + "\n")


# Vectors, such as embeddings.


def _vectors() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.linspace(-2, 2, COUNT * 4, dtype=np.float32).reshape(COUNT, 4)


def vectors_npy(folder: Path) -> None:
    np.save(folder / "vectors.npy", _vectors())


def vectors_npz(folder: Path) -> None:
    np.savez_compressed(folder / "vectors.npz", features=_vectors(), labels=np.arange(COUNT))


def vectors_parquet(folder: Path) -> None:
    labels = (np.arange(COUNT) % 3).tolist()
    write_parquet(folder / "vectors.parquet", {"embedding": _vectors().tolist(), "label": labels})


# Texts and rows.


def texts_csv(folder: Path) -> None:
    lines = [f"some words and {number},{'ab'[number % 2]}" for number in range(COUNT)]
    put(folder / "texts.csv", "\n".join(["text,label", *lines]) + "\n")


def rows_csv(folder: Path) -> None:
    lines = [f"{number / 7:.3f},{'xyz'[number % 3]},{number % 2}" for number in range(COUNT)]
    put(folder / "rows.csv", "\n".join(["size,colour,label", *lines]) + "\n")


def rows_parquet(folder: Path) -> None:
    columns: dict[str, Any] = {
        "size": [number / 7 for number in range(COUNT)],
        "colour": ["xyz"[number % 3] for number in range(COUNT)],
        "label": [number % 2 for number in range(COUNT)],
    }
    write_parquet(folder / "rows.parquet", columns)


def labelled_npz(folder: Path) -> None:
    names = np.array(["one", "two", "three"])
    np.savez(folder / "vectors.npz", features=_vectors(), label=names[np.arange(COUNT) % 3])


def run_on_rows(folder: Path) -> None:
    """A run on rows of a table, and new rows to predict."""
    rows_csv(folder)
    settings = OptimiserConfig(epochs=2)
    train(TrainConfig(f"{folder / 'rows.csv'}", optimiser=settings), folder / "run")
    put(folder / "new.csv", "size,colour\n0.5,x\n,none\n")


# Datasets that Hugging Face has saved, as its library wrote them.


def saved_parts(folder: Path) -> None:
    shutil.copytree(_SAVED / "5.2.0" / "parts", folder / "saved")


def saved_order(folder: Path) -> None:
    shutil.copytree(_SAVED / "1.5.0" / "chosen", folder / "saved")


def saved_vectors(folder: Path) -> None:
    shutil.copytree(_SAVED / "1.18.4" / "vectors", folder / "saved")


def saved_images(folder: Path) -> None:
    shutil.copytree(_SAVED / "5.2.0" / "images", folder / "saved")


# Images.


def _pictures(folder: Path) -> list[str]:
    """Two pictures of two classes in each of several forms."""
    names = []
    forms = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000")
    suffixes = ("png", "jpg", "gif", "bmp", "tif", "webp", "ppm", "jp2")
    for number, (form, suffix) in enumerate(zip(forms, suffixes, strict=True)):
        for label in ("cat", "dog"):
            image = Image.fromarray(random_pixels(12, 10, 3, seed=number))
            buffer = io.BytesIO()
            (image.convert("P") if form == "GIF" else image).save(buffer, form)
            names.append(put(folder / label / f"{number}.{suffix}", buffer.getvalue()).name)
    for label in ("cat", "dog"):
        deep = Image.fromarray(random_pixels(12, 10).astype(np.uint16) * 200)
        buffer = io.BytesIO()
        deep.save(buffer, "TIFF")
        put(folder / label / "deep.tif", buffer.getvalue())
    return names


def image_folder(folder: Path) -> None:
    _pictures(folder / "images")


def _rows(folder: Path) -> list[tuple[str, str]]:
    _pictures(folder)
    return [
        (path.relative_to(folder).as_posix(), path.parent.name)
        for path in sorted(folder.glob("*/*"))
    ]


def manifest_csv(folder: Path) -> None:
    lines = [f"{path},{label},{label},train" for path, label in _rows(folder)]
    put(folder / "manifest.csv", "\n".join(("path,label,true_label,split", *lines)) + "\n")


def manifest_parquet(folder: Path) -> None:
    paths, labels = zip(*_rows(folder), strict=True)
    write_parquet(folder / "manifest.parquet", {"path": paths, "label": labels})


# Datasets.


def cifar10(folder: Path) -> None:
    write_cifar10(folder)


def cifar100(folder: Path) -> None:
    write_cifar100(folder)


def cifar10_parquet(folder: Path) -> None:
    cifar10(folder / "python")
    write_as_the_hub(folder, load_cifar10(folder / "python"), None)
    shutil.rmtree(folder / "python")


def idx(folder: Path) -> None:
    for part, count in (("train", 30), ("t10k", 12)):
        pixels = random_pixels(count, 28, 28).tobytes()
        images = b"\0\0\x08\x03" + struct.pack(">3I", count, 28, 28) + pixels
        put(folder / f"{part}-images-idx3-ubyte.gz", gzip.compress(images, 1))
        labels = bytes(number % 10 for number in range(count))
        put(
            folder / f"{part}-labels-idx1-ubyte",
            b"\0\0\x08\x01" + struct.pack(">I", count) + labels,
        )


def archive(folder: Path) -> None:
    write_cifar10(folder, per_batch=1)
    with tarfile.open(folder / "cifar-10-python.tar.gz", "w:gz", compresslevel=1) as packed:
        packed.add(folder / "cifar-10-batches-py", "cifar-10-batches-py")
    shutil.rmtree(folder / "cifar-10-batches-py")


def imagenet(folder: Path) -> None:
    write_imagenet(folder, train=4, val=2, flat=True)


def webvision(folder: Path) -> None:
    write_webvision(folder, train=4, val=2)


def shards(folder: Path) -> None:
    imagenet(folder / "made")
    data = load_data("imagenet", LoadOptions(folder=folder / "made"))
    pack(data, folder / "shards", source="imagenet", per_shard=6)
    shutil.rmtree(folder / "made")


def foreign_shards(folder: Path) -> None:
    for part in ("train", "test"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for number in range(6):
                label, about = number % 3, {"label": number % 3, "true_label": number % 3}
                members = {"jpg": jpeg(label, number, 20, 20), "json": json.dumps(about).encode()}
                if part == "test":
                    members = {"jpg": members["jpg"], "cls": f"{label}".encode()}
                for suffix, content in members.items():
                    member = tarfile.TarInfo(f"{number:04d}.{suffix}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        put(folder / "shards" / f"{part}-0000.tar", buffer.getvalue())


# What mentornet has written.


def verdicts(folder: Path) -> None:
    given, names = given_labels()
    lines = ["index,decision,given_label,label"]
    lines += [f"{index},keep,{names[int(given[index])]}," for index in range(0, 20, 2)]
    lines += [f"{index},relabel,{names[int(given[index])]},b" for index in range(21, 40, 3)]
    put(folder / "verdicts.csv", "\n".join(lines) + "\n")


def config(folder: Path) -> None:
    write_config(folder / "config.toml", small("mentornet-dd", **_SMALL))


def mentor(folder: Path) -> None:
    shutil.copytree(PRETRAINED / "pd", folder, dirs_exist_ok=True)


def series(folder: Path) -> None:
    MentorSeries([(21, load_mentor("pd")), (75, load_mentor("pd"))]).save_pretrained(folder)


def criterion(folder: Path) -> None:
    """The state of a `MentorLoss` that has learned a mentor, as in a checkpoint of a Trainer."""
    save_criterion(mentor_loss(), folder / "mentor_loss.safetensors")


def mentor_loss() -> MentorLoss:
    """A criterion that knows verdicts, and has made a step."""
    loss = MentorLoss(total_steps=2, samples=COUNT, updates=(0.5,))
    loss.learn_from(range(COUNT), [number % 3 > 0 for number in range(COUNT)])
    loss(torch.zeros(COUNT, 3), torch.arange(COUNT) % 3, index=torch.arange(COUNT))
    return loss


def results(folder: Path) -> None:
    stored = Results(Path(__file__).parents[1] / "results" / "table6")
    for cell in TABLES["table6"]("paper").cells[:2]:
        path = stored.path(cell.run)
        put(folder / "results" / path.name, path.read_bytes())


@cache
def _trained(method: str, epochs_done: int | None, home: Path) -> Path:
    """A run, made once in a process; stopped in an epoch if one is given."""
    folder = home / ".made" / f"{method}-{epochs_done}"
    if not folder.exists():
        observer = None if epochs_done is None else StopsAfter(epochs_done)
        with contextlib.suppress(StoppedError):
            train(small(method, **_SMALL), folder, observer=observer)
    return folder


def run(folder: Path) -> None:
    shutil.copytree(_trained("mentornet-pd", None, folder.parent), folder / "run")
    Image.fromarray(random_pixels(8, 8)).save(_home(folder / "images") / "a.png")


def run_files(folder: Path) -> None:
    shutil.copytree(_trained("mentornet-pd", None, folder.parent), folder / "run")
    for epoch in range(2):
        put(folder / "losses" / f"epoch-{epoch:04d}.f32", np.ones(SAMPLES, np.float32).tobytes())


def unfinished(folder: Path) -> None:
    shutil.copytree(_trained("mentornet-dd", 3, folder.parent), folder / "run")


def run_with_verdicts(folder: Path) -> None:
    shutil.copytree(_trained("mentornet-dd", None, folder.parent), folder / "run")


def _home(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
