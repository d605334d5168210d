"""The docs keep up with the code."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

import mentornet

ROOT = Path(__file__).parents[1]
EQUATIONS = (ROOT / "docs" / "equations.md").read_text()
ROWS = [
    [column.strip() for column in line.strip("|").split("|")]
    for line in EQUATIONS.splitlines()
    if line.startswith("| ") and not line.startswith("| paper")
]


def named_in(row: list[str]) -> list[str]:
    return re.findall(r"`(mentornet\.[\w.]+)`", row[2])


def resolve(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(mentornet.__path__, "mentornet."):
        if not module.name.endswith("__main__"):
            yield module.name


def documented() -> Iterator[tuple[str, str]]:
    """Every public class and function of the package that has a docstring, once."""
    for name in modules():
        for key, thing in vars(importlib.import_module(name)).items():
            if getattr(thing, "__module__", None) != name or key.startswith("_"):
                continue
            texts = [thing.__doc__ or ""]
            if inspect.isclass(thing):
                own = [method for method in vars(thing).values() if inspect.isfunction(method)]
                texts += [method.__doc__ or "" for method in own]
            yield key, "\n".join(texts)


def numbers(text: str) -> set[int]:
    """The equations that a text cites: `Eq. 5`, `Eq. 5–7`, `Eq. 2 and 7`."""
    found: set[int] = set()
    for first, last, other in re.findall(r"Eq\. (\d+)(?:–(\d+))?(?: and (\d+))?", text):
        found |= set(range(int(first), int(last or first) + 1))
        found |= {int(other)} if other else set()
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_name_on_the_map_exists(row: list[str]) -> None:
    assert named_in(row)
    for path in named_in(row):
        assert resolve(path) is not None


def test_every_equation_of_the_paper_is_on_the_map() -> None:
    places = {row[0] for row in ROWS}
    assert {f"Eq. {number}" for number in range(1, 13)} <= places
    assert {"Remark 1", "Prop. 1", "Theorem 1", "Algorithm 1", "App. C", "App. D"} <= places


def test_a_docstring_that_cites_an_equation_is_on_the_map() -> None:
    on_map: dict[int, set[str]] = {number: set() for number in range(1, 13)}
    for row in ROWS:
        for number in numbers(row[0]):
            on_map[number] |= {path.rsplit(".")[-1] for path in named_in(row)}
    cited = {(name, number) for name, text in documented() for number in numbers(text)}
    assert len(cited) >= 10
    missing = {(name, number) for name, number in cited if name not in on_map[number]}
    assert not missing


def test_every_curriculum_and_mentor_is_on_the_map() -> None:
    on_map = {path.rsplit(".")[-1] for row in ROWS for path in named_in(row)}
    for table in (mentornet.CURRICULA, mentornet.ARCHITECTURES):
        assert {kind.__name__ for kind in table.values()} <= on_map


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`([\w/]+\.py:[\w.]+)`", ARCHITECTURE))))
def test_every_place_on_the_way_of_a_sample_exists(place: str) -> None:
    file, _, name = place.partition(":")
    assert (ROOT / "src" / "mentornet" / file).is_file()
    module = importlib.import_module(f"mentornet.{file.removesuffix('.py').replace('/', '.')}")
    assert attrgetter(name)(module) is not None


def test_every_room_is_on_the_page_in_the_order_of_the_layers() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE, flags=re.MULTILINE)
    folders = {path.parent.name for path in (ROOT / "src" / "mentornet").glob("*/__init__.py")}
    assert set(listed) == folders
    layers = (ROOT / "pyproject.toml").read_text().partition("layers = [")[2]
    assert listed == [name for name in re.findall(r"\w+", layers) if name in listed]


def test_every_public_thing_has_a_docstring() -> None:
    missing = [name for name, text in documented() if not text.strip()]
    assert not missing


def test_links_in_the_docs_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")]
    assert len(pages) >= 5
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_nothing_names_a_machine() -> None:
    for folder in ("src", "docs", "benchmarks", "results"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".json", ".toml", ".svg"}:
                assert not re.search(r"(^|[\s\"'(=])/(work|root|home)/", path.read_text()), path


PROMISES = (ROOT / "docs" / "your_files.md").read_text()


def test_every_promise_names_tests_that_exist() -> None:
    rows = re.findall(r"^\| ([A-Z].*?) \| (.*) \|$", PROMISES, flags=re.MULTILINE)
    assert len(rows) >= 10
    for promise, tests in rows:
        places = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
        assert places, promise
        for file, name in places:
            assert f"\ndef {name}(" in (ROOT / file).read_text(), f"{promise} {file}::{name}"
