"""The steps of CONTRIBUTING.md, followed in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIED = (
    "src",
    "tests",
    "tools",
    "docs",
    "README.md",
    "Makefile",
    "pyproject.toml",
    "constraints.txt",
)
OWN = "Try a method of your own, without touching the package"
LIMITS = {
    OWN: 1,
    "Add a method": 3,
    "Add a method that needs more of a run": 4,
    "Add a student": 2,
    "Add a dataset": 3,
    "Add a curriculum": 4,
}
"""How many files may be written by hand."""

ADDED = ("mae", "agreement", "pooled and cnn", "parity", "exponential")
"""What the tests of the new members have in their names."""

SCRIPT = """
from mentornet.cli import main
from tools.generate import main as generate

PRETRAINED = "src/mentornet/mentors/pretrained"
QUICK = "--epochs 1 --limit 128 --width 4 --noise uniform:0.4".split()
for words in (
    "fit-mentor --curriculum exponential --features dense --no-use-label --num-classes 1 "
    f"--steps 20 --samples 2000 --out {PRETRAINED}/exponential",
    "train digits --student small-cnn --method mae --out runs/mae",
    "train digits --student pooled-cnn --method agreement --out runs/agreement",
    "train parity --student pooled-cnn --method mine:Trimmed --set share=0.4 --out runs/own",
):
    assert main([*words.split(), *(QUICK if words.startswith("train") else [])]) == 0
assert generate([]) == 0
"""
"""What CONTRIBUTING says to run, in one process; the mentor has few steps here."""

_BLOCK = re.compile(r"^ *(File|In) `([^`]+)`:\n\n( *)```\w+\n(.*?)^\3```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A file that is written, or changes to one that is there."""

    path: str
    text: str
    whole: bool

    def apply(self, root: Path) -> None:
        path = root / self.path
        if self.whole:
            assert not path.exists()
            path.write_text(self.text, encoding="utf-8")
            return
        content = path.read_text(encoding="utf-8")
        for hunk in self.text.split("@@\n"):
            lines = hunk.splitlines(keepends=True)
            assert all(line[0] in " +" for line in lines)
            before = "".join(line[1:] for line in lines if line[0] == " ")
            assert content.count(before) == 1, f"{self.path}: {before}"
            content = content.replace(before, "".join(line[1:] for line in lines))
        path.write_text(content, encoding="utf-8")


def sections() -> dict[str, list[Block]]:
    """The blocks of every section that has any."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {}
    for part in text.split("\n## ")[1:]:
        head, _, body = part.partition("\n")
        blocks = [
            Block(path, textwrap.dedent(text) if kind == "File" else _unindented(text, indent),
                  kind == "File")
            for kind, path, indent, text in _BLOCK.findall(body)
        ]  # fmt: skip
        if blocks:
            found[head] = blocks
    return found


def _unindented(text: str, indent: str) -> str:
    return "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def run(folder: Path, *words: str) -> str:
    """What a Python command prints in the copy."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder / 'src'}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which every section was followed."""
    root = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, root / name)
    for blocks in sections().values():
        for block in blocks:
            block.apply(root)
    run(root, "-c", SCRIPT)
    return root


def test_few_files_are_written_by_hand() -> None:
    found = sections()
    assert found.keys() == LIMITS.keys()
    for head, blocks in found.items():
        assert 0 < len({block.path for block in blocks}) <= LIMITS[head], head


def test_the_table_says_how_many() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| an? (\w+)[^|]* \| (\d) \|$", text, re.M))
    kinds = ("method", "student", "dataset", "curriculum")
    counts = {
        kind: f"{len({block.path for block in sections()[f'Add a {kind}']})}" for kind in kinds
    }
    assert said == counts


def test_a_method_of_ones_own_is_short() -> None:
    (block,) = sections()[OWN]
    assert len([line for line in block.text.splitlines() if line.strip()]) <= 22


def test_what_was_added_trains(tree: Path) -> None:
    for name in ("mae", "agreement", "own"):
        assert (tree / "runs" / name / "summary.json").exists()


def test_what_was_added_is_in_the_docs_and_in_the_surface(tree: Path) -> None:
    for path, line in (
        ("docs/training.md", "| `mae` | mean absolute error, which no sample can make large |"),
        ("docs/training.md", "| `pooled-cnn` | Two convolutions, pooled to 2 × 2, for a first"),
        ("docs/training.md", "| `parity` | Grey 8 × 8 images of digits, even or odd."),
        ("README.md", "| `exponential` | v* = e^(−ℓ/τ), so that ρ(ℓ) = τ (1 − e^(−ℓ/τ)) |"),
        ("tests/surface.txt", "method agreement\n  strength = 1.0\n  start_epoch = 1\n"),
    ):
        assert line in (tree / path).read_text(encoding="utf-8")


def test_what_was_added_passes_the_tests_that_all_share(tree: Path) -> None:
    written = [block.path for blocks in sections().values() for block in blocks]
    python = sorted({path for path in written if path.endswith(".py") and "/" in path})
    run(tree, "-m", "ruff", "check", "--quiet", *python)
    run(tree, "-m", "ruff", "format", "--check", "--quiet", *python)
    names = " or ".join(ADDED)
    said = run(
        tree, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "-k", f"({names} or generated or map or ships) and not compiles",
        "tests/contracts/test_methods.py", "tests/contracts/test_curricula.py", "tests/curricula",
        "tests/methods/test_mean_absolute_error.py", "tests/methods/test_agreement.py",
        "tests/students", "tests/data/sets/test_registry.py", "tests/data/sets/test_parity.py",
        "tests/mentors/test_pretrained.py::test_every_predefined_curriculum_ships",
        "tests/test_public_surface.py", "tests/test_docs.py",
        "src/mentornet/curricula/exponential.py",
    )  # fmt: skip
    assert int(re.findall(r"(\d+) passed", said)[0]) > 60


def test_make_knows_the_new_mentor(tree: Path) -> None:
    done = subprocess.run(
        ["make", "--dry-run", "mentor-exponential"],
        cwd=tree, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "fit-mentor --curriculum exponential --features dense" in done.stdout
