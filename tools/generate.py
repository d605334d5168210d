"""Write all that is made from the registries: tables of the docs and the list of the surface.

python -m tools.generate          # or: make generate
python -m tools.generate --check  # fails if a file is stale; part of make check

A table stands in its page between two lines such as `<!-- methods -->` and `<!-- /methods -->`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.surface import surface
from tools.tables import TABLES

__all__ = ["generated", "main", "replaced"]

ROOT = Path(__file__).parents[1]
SURFACE = "tests/surface.txt"
PAGES = {
    "methods": "docs/training.md",
    "students": "docs/training.md",
    "datasets": "docs/training.md",
    "curricula": "README.md",
    "architectures": "README.md",
}
"""The page of every table."""


def replaced(page: str, name: str, table: str) -> str:
    r"""The page with `table` between the two lines of that name.

    >>> replaced("a\n<!-- x -->\nold\n<!-- /x -->\nb\n", "x", "new")
    'a\n<!-- x -->\nnew\n<!-- /x -->\nb\n'
    """
    before, start, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->\n")
    if not (start and end):
        raise SystemExit(f"there are no lines <!-- {name} --> and <!-- /{name} -->")
    return f"{before}{start}{table}\n{end}{after}"


def generated(root: Path = ROOT) -> dict[Path, str]:
    """Every file that holds something generated, and what should be in it."""
    texts: dict[Path, str] = {}
    for name, make in TABLES.items():
        path = root / PAGES[name]
        page = texts.get(path) or path.read_text(encoding="utf-8")
        texts[path] = replaced(page, name, make())
    return {**texts, root / SURFACE: surface()}


def main(words: list[str]) -> int:
    """Write what is stale, or with `--check` only name it; 1 if anything is."""
    if words not in ([], ["--check"]):
        print("usage: python -m tools.generate [--check]", file=sys.stderr)
        return 2
    stale = {
        path: text
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if words:
            print(f"{path.relative_to(ROOT)} is stale; run make generate", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if words and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
