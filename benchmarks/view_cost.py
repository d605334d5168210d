"""What a random view costs against the obvious lines: how well the loader keeps a student fed.

    make bench

One thread. JPEGs of 500 × 375, as ImageNet's are on average, made of real images of
scikit-learn's. Our loader checks them, decodes, cuts out, resizes to 299 and flips. It is held to
0.9 of the images per second of four bare lines of OpenCV that do the same to files they trust. The
ratio to Pillow, which only decodes, is shown too; it depends on the processor and on the allocator
of memory more than on our code. The metrics go to results/bench/view_cost.json, with their
conditions.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from benchmarks.timing import alternate, ratio
from mentornet.data.files.decode import Packed, quiet
from mentornet.data.stream.views import VIEW_DRAWS, random_box, view
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json

RESULT = Path(__file__).parents[1] / "results" / "bench" / "view_cost.json"
WIDTH, HEIGHT, SIDE, IMAGES, ROUNDS = 500, 375, 299, 40, 30
SPEED = 0.9


def photographs() -> list[bytes]:
    """Windows of two real photographs, as JPEG of quality 90."""
    draw = np.random.default_rng(0)
    photos = load_sample_images().images
    found = []
    for number in range(IMAGES):
        photo = photos[number % len(photos)]
        share = draw.uniform(0.6, 1)
        rows, columns = int(share * photo.shape[0]), int(share * photo.shape[1])
        top = draw.integers(0, 1 + photo.shape[0] - rows)
        left = draw.integers(0, 1 + photo.shape[1] - columns)
        window = Image.fromarray(photo[top : top + rows, left : left + columns])
        content = io.BytesIO()
        window.resize((WIDTH, HEIGHT)).save(content, "JPEG", quality=90)
        found.append(content.getvalue())
    return found


def main() -> int:
    cv2.setNumThreads(1)
    photos = photographs()
    packed = [Packed("photo", content) for content in photos]
    draws = np.random.default_rng(1).random((1000, VIEW_DRAWS))
    turns = itertools.cycle(draws)

    def bare() -> None:
        for content in photos:
            Image.open(io.BytesIO(content)).load()

    def obvious() -> None:
        for content in photos:
            pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
            assert pixels is not None
            left, top, columns, rows = random_box(WIDTH, HEIGHT, next(turns))
            square = cv2.resize(pixels[top : top + rows, left : left + columns], (SIDE, SIDE))
            cv2.flip(cv2.cvtColor(square, cv2.COLOR_BGR2RGB), 1)

    def views() -> None:
        for source in packed:
            view(source, SIDE, next(turns))

    def middles() -> None:
        for source in packed:
            view(source, SIDE)

    ways: dict[str, Callable[[], None]] = {
        "Pillow": bare, "OpenCV": obvious, "view": views, "middle": middles,
    }  # fmt: skip
    with quiet():
        seconds = alternate(ways, rounds=ROUNDS, calls=1)
    found = {name: ratio(seconds, "OpenCV", name) for name in ("view", "middle")}
    beside = {name: ratio(seconds, "Pillow", name) for name in ("view", "middle")}
    for name in found:
        for other, ratios, least in (
            ("OpenCV", found, f", at least {SPEED}"),
            ("Pillow", beside, ""),
        ):
            median, lower, upper = ratios[name]
            print(
                f"images per second, {name} / bare {other}: {median:.3f} "
                f"(quartiles {lower:.3f}–{upper:.3f}){least}"
            )
    holds = all(median >= SPEED for median, _, _ in found.values())
    write_json(
        RESULT,
        {
            "view_ratio": found["view"], "middle_ratio": found["middle"],
            "view_to_pillow": beside["view"], "middle_to_pillow": beside["middle"],
            "rounds": ROUNDS,
            "bytes_an_image": sum(map(len, photos)) // len(photos), "holds": holds,
            "conditions": conditions(),
        },
    )  # fmt: skip
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
