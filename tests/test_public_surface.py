"""What users may rely on, and what the docs list of it, is what the registries hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate import ROOT, generated, replaced

GENERATED = generated()


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_what_is_generated_is_not_stale(path: Path) -> None:
    """If this fails, run `make generate` and read the diff."""
    assert path.read_text(encoding="utf-8") == GENERATED[path]


def test_the_surface_names_options_and_defaults() -> None:
    lines = (ROOT / "tests" / "surface.txt").read_text(encoding="utf-8").splitlines()
    sections = {line for line in lines if not line.startswith(" ")}
    assert {
        "mentornet", "command train", "config [labels]", "method reed-soft", "curriculum pd",
        "architecture bilstm", "student fast", "dataset digits",
    } <= sections  # fmt: skip
    assert lines[lines.index("method reed-soft") + 1] == "  beta = 0.95"
    assert lines[lines.index("dataset digits") + 3] == "  count = 1437"


def test_a_page_without_the_two_lines_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no lines <!-- x --> and <!-- /x -->"):
        replaced("<!-- x -->\n", "x", "table")
