from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from mentornet import MentorNetError
from mentornet.data import (
    AnyNoise,
    HumanNoise,
    LabelNoise,
    Noise,
    Samples,
    Splits,
    TransitionNoise,
    corrupt,
    corrupt_samples,
    corrupt_splits,
    parse_noise,
)
from mentornet.data.files.label_file import read_labels
from mentornet.data.sets.cifar_classes import CLASSES, SUPERCLASSES
from mentornet.randomness import generator
from tests.data.files.pickles import as_pt, old_numpy

MATRIX = np.array([[0.5, 0.5, 0.0], [0.0, 0.9, 0.1], [0.2, 0.0, 0.8]])


def samples(count: int = 300) -> Samples:
    label = torch.randint(3, (count,), generator=generator(0))
    return Samples(torch.zeros(count, 1, 8, 8, dtype=torch.uint8), label, ("a", "b", "c"))


def write_matrix(path: Path, matrix: np.typing.NDArray[np.float64] = MATRIX) -> Path:
    if path.suffix == ".npy":
        np.save(path, matrix)
    else:
        lines = [",".join(map(str, row)) for row in matrix]
        path.write_text("\ufeff" + "\n".join(lines) + "\n\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_a_transition_matrix_from_a_file(kind: str, tmp_path: Path) -> None:
    path = write_matrix(tmp_path / f"a:b.{kind}")
    clean = samples()
    noisy = corrupt_samples(clean, parse_noise(f"transition:{path}"), seed=3)
    expected = corrupt(clean.given_label, torch.from_numpy(MATRIX), seed=3)
    assert torch.equal(noisy.given_label, expected)
    assert noisy.true_label is clean.given_label
    assert not torch.equal(noisy.given_label, clean.given_label)


def test_labels_from_a_file(tmp_path: Path) -> None:
    clean = samples()
    human = clean.given_label.roll(1)
    path = tmp_path / "human.npz"
    np.savez(path, clean_label=clean.given_label.numpy(), worst=human.numpy())
    noisy = corrupt_samples(clean, parse_noise(f"labels:{path}:worst"), seed=0)
    assert torch.equal(noisy.given_label, human)
    assert noisy.true_label is clean.given_label


def test_a_file_of_one_array_needs_no_key(tmp_path: Path) -> None:
    clean = samples()
    human = clean.given_label.roll(1)
    np.save(tmp_path / "plain.npy", human.numpy())
    torch.save(human, tmp_path / "plain.pt")
    np.savez(tmp_path / "plain.npz", anything=human.numpy())
    for kind in ("npy", "pt", "npz"):
        noise = parse_noise(f"labels:{tmp_path}/plain.{kind}")
        assert torch.equal(corrupt_samples(clean, noise, seed=0).given_label, human)


def test_colons_in_paths(tmp_path: Path) -> None:
    folder = tmp_path / "run:1"
    folder.mkdir()
    path = folder / "my:labels.npz"
    np.savez(path, worst=samples().given_label.numpy())
    for text, key in [(f"labels:{path}", None), (f"labels:{path}:worst", "worst")]:
        assert parse_noise(text) == LabelNoise(path, key)
    missing = folder / "none.npz"
    assert parse_noise(f"labels:{missing}") == LabelNoise(missing)


@pytest.mark.parametrize(
    "noise",
    [
        Noise("uniform", 0.4),
        Noise("pairflip", 1.0),
        Noise("symmetric", 1 / 3),
        Noise("instance", 1e-7),
        TransitionNoise(Path("a/b.csv")),
        LabelNoise(Path("a/b.pt")),
        LabelNoise(Path("/a/b.npz"), "worse_label"),
        LabelNoise(Path("a:b/c.npz"), "key"),
        HumanNoise("worse_label"),
    ],
)
def test_the_text_of_a_noise_is_the_noise(noise: AnyNoise) -> None:
    assert parse_noise(str(noise)) == noise
    assert hash(parse_noise(str(noise))) == hash(noise)


def test_rates_are_short_where_they_can_be() -> None:
    assert str(Noise("uniform", 0.4)) == "uniform:0.4"
    assert str(Noise("uniform", 1.0)) == "uniform:1"


class Evil:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, ("pwned", "w")


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_matrix(Path("small.csv"), MATRIX[:2, :2])
    write_matrix(Path("sums.csv"), MATRIX * 2)
    write_matrix(Path("negative.npy"), MATRIX - np.array([[1, -1, 0]] * 3))
    write_matrix(Path("nan.npy"), np.full((3, 3), np.nan))
    np.save("cube.npy", np.zeros((3, 3, 3)))
    np.save("evil.npy", np.array(Evil(), dtype=object))
    Path("words.csv").write_text("a,b,c\n")
    Path("ragged.csv").write_text("1,0\n1\n")
    Path("empty.csv").write_text("")
    Path("empty.npy").write_bytes(b"")
    label = samples().given_label
    np.savez("short.npz", worst=label[:5].numpy())
    np.savez("wide.npz", worst=label.numpy() + 1)
    np.savez("both.npz", worst=label.numpy(), worse=label.numpy())
    np.savez("other.npz", worst=label.numpy(), clean_label=(label.numpy() + 1) % 3)
    for text, message in [
        ("transition:none.csv", "none.csv is missing"),
        ("transition:a.txt", "a transition matrix must be in a .npy or .csv file, got a.txt"),
        ("transition:small.csv", "small.csv must be 3 × 3, a row and a column for each class"),
        ("transition:sums.csv", "sums.csv: the rows of a transition matrix must be ≥ 0 and sum"),
        ("transition:negative.npy", "negative.npy: the rows of a transition matrix must be ≥ 0"),
        ("transition:nan.npy", "nan.npy: the rows of a transition matrix must be ≥ 0"),
        ("transition:cube.npy", "cube.npy must hold one matrix of real numbers"),
        ("transition:evil.npy", "evil.npy cannot be read as a transition matrix"),
        ("transition:words.csv", "words.csv cannot be read as a transition matrix"),
        ("transition:ragged.csv", "its rows differ in length"),
        ("transition:empty.csv", "empty.csv must hold one matrix"),
        ("transition:empty.npy", "empty.npy cannot be read as a transition matrix"),
        ("transition:", "noise must look like uniform:0.4, got 'transition:'"),
        ("transitoin:a.csv", "noise must look like uniform:0.4, got 'transitoin:a.csv'"),
        ("labels:none.npz:worst", "none.npz is missing"),
        ("labels:a.csv:worst", "labels of noise must be in a .npz or .npy or .pt file, got a.csv"),
        ("labels:short.npz:worst", "short.npz holds 5 labels for 300 training samples"),
        ("labels:wide.npz:worst", "wide.npz: labels must be in 0–2, got 1 to 3"),
        ("labels:both.npz:wrost", "holds no labels 'wrost'; did you mean 'worst'?"),
        ("labels:both.npz", "both.npz holds several arrays; say which, one of: worse, worst"),
        (
            "labels:other.npz:worst",
            "other.npz is for other samples, or lists them in another order",
        ),
    ]:
        with pytest.raises(MentorNetError, match=re.escape(message)):
            corrupt_samples(samples(), parse_noise(text), seed=0)
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    "labels",
    [torch.ones(3).bfloat16(), torch.ones(3, requires_grad=True), torch.eye(3).to_sparse()],
    ids=["bfloat16", "with gradient", "sparse"],
)
def test_tensors_that_are_no_labels(tmp_path: Path, labels: torch.Tensor) -> None:
    torch.save({"noisy": labels}, tmp_path / "labels.pt")
    with pytest.raises(
        MentorNetError, match=r"whole numbers|cannot be read as labels: it asks for"
    ):
        read_labels(tmp_path / "labels.pt", "noisy")


def test_human_labels_of_cifar100_and_of_its_superclasses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MENTORNET_DATA", str(tmp_path))
    fine = torch.arange(100)
    pixels = torch.zeros(100, 3, 4, 4, dtype=torch.uint8)
    part = Samples(pixels, fine, CLASSES["cifar100"], groups=fine % 20)
    splits = Splits(part, part)
    noisy = fine.clone()
    noisy[7] = 8
    content = {
        "clean_label": fine.numpy(), "noisy_label": noisy.tolist(),
        "clean_coarse_label": (19 - fine % 20).numpy(),  # the file numbers superclasses backwards
        "noisy_coarse_label": (19 - noisy % 20).numpy(),
    }  # fmt: skip
    as_pt(old_numpy(content), tmp_path / "CIFAR-100_human.pt")
    found = corrupt_splits(splits, parse_noise("human:noisy_label"), seed=0)
    assert torch.equal(found.train.given_label, noisy)
    found = corrupt_splits(splits, parse_noise("human:noisy_coarse_label"), seed=0)
    assert found.train.classes == found.test.classes == SUPERCLASSES
    assert torch.equal(found.train.given_label, noisy % 20)
    assert found.train.true_label is not None
    assert torch.equal(found.train.true_label, fine % 20)
    assert torch.equal(found.test.given_label, fine % 20)
    with pytest.raises(MentorNetError, match="holds no labels 'noisy_labels'; did you mean"):
        corrupt_splits(splits, parse_noise("human:noisy_labels"), seed=0)
