"""Builds the package; all but the long description is in pyproject.toml.

README links to files beside it, which lead nowhere on PyPI. If `Source` in project.urls names the
repository, the long description links to the files there; if not, it names their paths, which are
those in the source distribution.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from setuptools import setup

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ROOT = Path(__file__).parent
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def without_relative_links(text: str, source: str | None) -> str:
    """The Markdown text with links that work anywhere.

    Args:
        text: Markdown whose relative links start at the root of the repository.
        source: the address of the repository, or None if it has none.
    """

    def replaced(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if source is not None:
            view = "raw" if picture else "blob"
            return f"{picture}[{words}]({source.rstrip('/')}/{view}/HEAD/{target})"
        path = target.partition("#")[0]
        if picture:
            return f"*{words}* (`{path}`)"
        return f"`{path}`" if words == path else f"{words} (`{path}`)"

    return _LINK.sub(replaced, text)


def long_description(folder: Path) -> str:
    """README of that folder, as PyPI shows it."""
    urls = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    return without_relative_links((folder / "README.md").read_text("utf-8"), urls.get("Source"))


if __name__ == "__main__":
    setup(
        long_description=long_description(_ROOT),
        long_description_content_type="text/markdown",
    )
