"""Pretrained students before training: their inputs, their new last layer, what cannot be read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from mentornet.errors import MentorNetError
from mentornet.plugins import PRETRAINED_SOURCES
from mentornet.randomness import seeded
from mentornet.students import (
    SOURCES,
    Head,
    Preprocessing,
    find_student,
    preprocessing_of,
    pretrained,
    pretrained_student,
)
from mentornet.students.body_and_head import cut_in_two
from tests.students.pretrained_models import PROCESSOR, image_model, pixels, text_model


def test_the_sources_are_those_that_run_no_code() -> None:
    assert tuple(SOURCES) == PRETRAINED_SOURCES


def test_pixels_are_prepared_as_the_formula_says() -> None:
    prepare = Preprocessing(2, (10, 20, 30), (2, 4, 5))
    image = torch.tensor([[12, 10], [8, 10]], dtype=torch.uint8).expand(1, 3, 2, 2)
    expected = torch.tensor([[[1, 0], [-1, 0]], [[-2, -2.5], [-3, -2.5]], [[-3.6, -4], [-4.4, -4]]])
    torch.testing.assert_close(prepare(image)[0], expected)
    grey = prepare(image[:, :1])
    torch.testing.assert_close(grey, prepare(image))


def test_other_sizes_are_resized() -> None:
    prepare = Preprocessing(4, (0, 0, 0), (1, 1, 1))
    flat = torch.full((1, 3, 9, 9), 77, dtype=torch.uint8)
    torch.testing.assert_close(prepare(flat), torch.full((1, 3, 4, 4), 77.0))


def test_a_processors_numbers_are_in_units_of_pixels(tmp_path: Path) -> None:
    found = preprocessing_of(f"hf:{image_model(tmp_path / 'm')}")
    assert isinstance(found, Preprocessing)
    assert found.size == 16
    assert found.mean == pytest.approx((127.5, 102, 76.5))
    assert found.deviation == pytest.approx((127.5, 63.75, 51))


@pytest.mark.parametrize(
    ("changes", "size", "mean", "deviation"),
    [
        ({"do_center_crop": True, "crop_size": 12}, 12, 127.5, 127.5),
        ({"size": {"shortest_edge": 20}}, 20, 127.5, 127.5),
        ({"size": 18}, 18, 127.5, 127.5),
        ({"do_normalize": False}, 16, 0, 255),
        ({"do_rescale": False}, 16, 0.5, 0.5),
        ({"rescale_factor": 1 / 127.5}, 16, 63.75, 63.75),
    ],
)
def test_processors_of_other_kinds(
    changes: dict[str, Any], size: int, mean: float, deviation: float, tmp_path: Path
) -> None:
    found = preprocessing_of(f"hf:{image_model(tmp_path / 'm', **changes)}")
    assert isinstance(found, Preprocessing)
    assert found.size == size
    assert found.mean[0] == pytest.approx(mean)
    assert found.deviation[0] == pytest.approx(deviation)


@pytest.mark.parametrize("classes", [3, 7])
def test_the_last_layer_is_new_and_the_rest_is_not(classes: int, tmp_path: Path) -> None:
    """Also where the old one has as many outputs: those of other classes."""
    from safetensors.torch import load_file

    folder = image_model(tmp_path / "m", classes=7)
    name = f"hf:{folder}"
    factory, prepare = find_student(name), preprocessing_of(name)
    assert isinstance(prepare, Preprocessing)
    student = pretrained_student(factory, prepare, classes=classes, frozen=False, seed=3)
    stored = load_file(folder / "model.safetensors")
    old = stored.pop("classifier.1.weight")
    ours = student.body.state_dict()
    assert all(torch.equal(ours[f"network.{key}"], part) for key, part in stored.items()
               if not key.startswith("classifier"))  # fmt: skip
    assert isinstance(student.head, nn.Linear)
    assert student.head.weight.shape == (classes, 16)
    assert not any(torch.equal(row, student.head.weight[0]) for row in old)
    again = pretrained_student(factory, prepare, classes=classes, frozen=False, seed=3)
    assert torch.equal(again.head.weight, student.head.weight)  # type: ignore[arg-type]
    assert student(prepare(pixels(5))).shape == (5, classes)


def test_a_frozen_body_does_not_move_in_training(tmp_path: Path) -> None:
    name = f"hf:{image_model(tmp_path / 'm')}"
    prepare = preprocessing_of(name)
    assert prepare is not None
    student = pretrained_student(find_student(name), prepare, classes=4, frozen=True).train()
    inputs = prepare(pixels(6))
    one, other = student.body(inputs[:3]), student.body(inputs)[:3]
    torch.testing.assert_close(one, other)  # batch norm is in evaluation mode
    assert {name for name, part in student.named_parameters() if part.requires_grad} == {
        "head.classify.weight", "head.classify.bias",
    }  # fmt: skip


def test_a_head_reads_standardised_features() -> None:
    with seeded(0):
        head = Head(2, 3)
    head.prepare(torch.tensor([[0.0, 5.0], [4.0, 5.0]]))
    head.classify.weight.data = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
    # (4 − 2)/(2 √2) for the first feature; the second, which is constant, stays small
    found = head(torch.tensor([[4.0, 5.0]]))
    torch.testing.assert_close(found, torch.tensor([[0.5**0.5, 0.0, 0.5**0.5]]))


class _Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.layer(inputs), inputs], 1)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Linear(4, 5), "has no linear layer with 3 outputs"),
        (_Scaled(), "changes the outputs of its last linear layer, layer"),
        (nn.Linear(5, 3), "cannot read inputs of shape .2, 4."),
    ],
)
def test_networks_that_cannot_be_cut(network: nn.Module, message: str) -> None:
    with pytest.raises(MentorNetError, match=f"mine {message}"):
        cut_in_two(network, torch.zeros(2, 4), 3, frozen=True, name="mine")


def test_texts_are_the_mean_of_their_pieces(tmp_path: Path) -> None:
    """Padding and the other texts of a batch change nothing."""
    name = f"hf:{text_model(tmp_path / 'm')}"
    inputs = preprocessing_of(name)
    assert inputs is not None
    student = pretrained_student(find_student(name), inputs, classes=2, frozen=True)
    short, long = torch.tensor([[3, 6, 8, 4]]), torch.tensor([[3, 7, 8, 9, 10, 4]])
    states = student.body.network(input_ids=short - 1).last_hidden_state  # type: ignore[operator]
    torch.testing.assert_close(student.body(short), states.mean(1))
    both = torch.zeros(2, 9, dtype=torch.int32)
    both[0, :4], both[1, :6] = short, long
    torch.testing.assert_close(student.body(both)[:1], student.body(short))


def _without(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).unlink()
    return folder


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("processor", "neither preprocessor_config.json, which a network for images needs, nor"),
        ("weights", "has no model.safetensors"),
        ("config", "has no config.json"),
        ("size", "size must be a whole number of pixels, got {'longest': 3}"),
        ("mean", r"image_mean must be three numbers, got \[0.5\]"),
        ("scale", "rescale_factor must be a number > 0, got 'x'"),
        ("damaged", "cannot be loaded by transformers"),
        ("code", "cannot be loaded by transformers"),
    ],
)
def test_folders_that_cannot_be_read(what: str, message: str, tmp_path: Path) -> None:
    folder = image_model(tmp_path / "m")
    processor = folder / "preprocessor_config.json"
    if what == "processor":
        processor.unlink()
    elif what in ("weights", "config"):
        _without(folder, {"weights": "model.safetensors", "config": "config.json"}[what])
        (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    elif what in ("damaged", "code"):
        changes = {"auto_map": {"AutoConfig": "evil.Evil"}, "model_type": "evil"}
        weights = b"{" if what == "damaged" else (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(weights)
        if what == "code":
            config = json.loads((folder / "config.json").read_text())
            (folder / "config.json").write_text(json.dumps(config | changes))
            (folder / "evil.py").write_text("raise SystemExit('code was run')")
    else:
        wrong: dict[str, Any] = {"size": {"size": {"longest": 3}}, "mean": {"image_mean": [0.5]},
                   "scale": {"rescale_factor": "x"}}  # fmt: skip
        processor.write_text(json.dumps(PROCESSOR | wrong[what]))
    with pytest.raises(MentorNetError, match=message):
        find_student(f"hf:{folder}")(channels=3, classes=4)


def test_a_name_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def fails(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fails)
    with pytest.raises(MentorNetError, match=r"'hf:google/vit' is no folder.*no network.*name the"):
        find_student("hf:google/vit")


def test_a_name_is_downloaded_without_pickles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: list[list[str]] = []

    def download(name: str, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        return f"{image_model(tmp_path / name)}"

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert preprocessing_of("hf:some/model") is not None
    assert asked == [["*.json", "*.safetensors", "*.txt", "*.model"]]


class _Timm:
    """What is used of timm, which needs torchvision."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        facts = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25), "input_size": (3, 24, 24)}
        self.data = SimpleNamespace(resolve_data_config=lambda pretrained_cfg: pretrained_cfg)
        self.get_pretrained_cfg = lambda name: SimpleNamespace(to_dict=lambda: facts)

    def is_model(self, name: str) -> bool:
        return name == "tiny"

    def create_model(self, name: str, pretrained: bool, num_classes: int) -> nn.Module:
        self.asked.append({"name": name, "pretrained": pretrained})
        return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, num_classes))


def test_networks_of_timm(monkeypatch: pytest.MonkeyPatch) -> None:
    timm = _Timm()
    monkeypatch.setitem(sys.modules, "timm", timm)
    found = preprocessing_of("timm:tiny")
    assert found == Preprocessing(24, (127.5,) * 3, (63.75,) * 3)
    student = pretrained_student(find_student("timm:tiny"), found, classes=5, frozen=True)
    assert student(found(pixels(2))).shape == (2, 5)
    assert timm.asked == [{"name": "tiny", "pretrained": True}]
    with pytest.raises(MentorNetError, match="timm has no network 'huge'"):
        find_student("timm:huge")


def test_timm_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(MentorNetError, match="needs timm, which cannot be imported"):
        find_student("timm:tiny")


@pytest.mark.parametrize(
    ("size", "deviation", "message"),
    [(0, (1, 1, 1), "size must be at least 1"), (8, (1, 0, 1), "deviation must be > 0"),
     (8, (1, 1), "a value for red, green and blue")],
)  # fmt: skip
def test_preprocessing_that_cannot_be(size: int, deviation: Any, message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        pretrained(size=size, mean=(0, 0, 0), deviation=deviation)
