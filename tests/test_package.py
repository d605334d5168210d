"""What a stranger gets: the description on PyPI, and the source distribution."""

from __future__ import annotations

import email
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "docs", "examples", "results")
BUILD = (
    "import sys, setuptools.build_meta as backend; "
    "print(getattr(backend, sys.argv[1])(sys.argv[2]), end='')"
)
ADDRESS = "https://example.org/we/mentornet"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with as little as a build needs, because a build writes into it."""
    folder = tmp_path_factory.mktemp("package") / "mentornet"
    version = Path("src", "mentornet", "version.py")
    (folder / version).parent.mkdir(parents=True)
    for place in (*NEEDED, *(path.name for path in ROOT.glob("*.md")), str(version)):
        if (ROOT / place).is_dir():
            shutil.copytree(ROOT / place, folder / place)
        else:
            shutil.copy(ROOT / place, folder / place)
    return folder


def build(step: str, folder: Path, out: Path) -> Path:
    """Run a step of the build as pip does."""
    words = [sys.executable, "-W", "ignore", "-c", BUILD, step, str(out)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return out / done.stdout.splitlines()[-1]


def description(folder: Path, out: Path) -> str:
    metadata = build("prepare_metadata_for_build_wheel", folder, out) / "METADATA"
    message = email.message_from_bytes(metadata.read_bytes())
    assert message["Description-Content-Type"] == "text/markdown"
    payload = message.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode()


@pytest.mark.parametrize(
    ("markdown", "alone", "at_home"),
    [
        ("[training](a/b.md#data)", "training (`a/b.md`)", f"[training]({ADDRESS}/blob/HEAD/a/b.md#data)"),
        ("[a.json](a.json)", "`a.json`", f"[a.json]({ADDRESS}/blob/HEAD/a.json)"),
        ("![A curve](a.png)", "*A curve* (`a.png`)", f"![A curve]({ADDRESS}/raw/HEAD/a.png)"),
        ("[paper](https://x.org/a), [below](#how)", "[paper](https://x.org/a), [below](#how)", None),
        ("v[0] and f(x)", "v[0] and f(x)", None),
    ],
)  # fmt: skip
def test_links_with_an_address_and_without(markdown: str, alone: str, at_home: str | None) -> None:
    replaced = runpy.run_path(str(ROOT / "setup.py"))["without_relative_links"]
    assert replaced(markdown, None) == alone
    assert replaced(markdown, f"{ADDRESS}/") == (at_home or markdown)


def targets(text: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", text)


def test_the_description_on_pypi_has_no_link_that_leads_nowhere(copy: Path, tmp_path: Path) -> None:
    text, readme = description(copy, tmp_path), (ROOT / "README.md").read_text()
    relative = [target for target in targets(readme) if not target.startswith("http")]
    assert len(relative) > 10
    assert all(target.startswith("https://") for target in targets(text))
    for target in relative:
        assert f"`{target.partition('#')[0]}`" in text
    assert len(text.splitlines()) == len(readme.splitlines())


def test_links_lead_to_the_repository_once_it_has_an_address(copy: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(copy, tmp_path / "with address")
    settings = (folder / "pyproject.toml").read_text()
    known = settings.replace("[project.urls]\n", f'[project.urls]\nSource = "{ADDRESS}"\n')
    assert known != settings
    (folder / "pyproject.toml").write_text(known)
    text = description(folder, tmp_path)
    assert f"({ADDRESS}/blob/HEAD/docs/training.md#methods)" in text
    assert f"({ADDRESS}/raw/HEAD/docs/images/demo.png)" in text
    assert all(target.startswith("https://") for target in targets(text))


def test_the_files_that_readme_names_are_in_the_source_distribution(
    copy: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(copy, tmp_path / "tree")
    with tarfile.open(build("build_sdist", folder, tmp_path)) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    for target in targets((ROOT / "README.md").read_text()):
        path = target.partition("#")[0]
        if not target.startswith("http"):
            assert any(name == path or name.startswith(f"{path}/") for name in names), target
