"""Write the page of an audit to a folder."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from mentornet.audit.page.contents import Contents
from mentornet.audit.page.data import as_script, listing, page_data, with_picture
from mentornet.audit.page.sprites import Sprites, pack
from mentornet.files import write_bytes, write_text

__all__ = ["write_page"]

INLINE = 6_000_000
"""The most bytes of pictures that go into the page itself; more go into a folder beside it."""

PAGE, FOLDER, PREFIX = "report.html", "pictures", "sheet-"

STYLES = (
    "look.css", "overview.css", "confusion.css", "gallery.css", "detail.css", "narrow.css",
)  # fmt: skip
"""The style sheets of the page; later ones override earlier ones."""

SCRIPTS = (
    "text.js", "csv.js", "samples.js", "pictures.js", "charts.js", "overview.js", "marks.js",
    "confusion.js", "card.js", "deciding.js", "gallery.js", "detail.js", "report.js",
)  # fmt: skip
"""The scripts of the page, in the order in which they need each other."""

TYPES = {"jpg": "image/jpeg", "png": "image/png"}


def write_page(folder: Path, contents: Contents) -> Path:
    """Write `folder/report.html`, and `folder/pictures/` if there are many pictures.

    An older page is replaced in one move after all pictures are written. Then the pictures that
    only the older page showed are deleted.
    """
    rows = listing(contents.samples)
    data = page_data(contents, rows)
    sheets: dict[str, bytes] = {}
    if contents.pictures is not None and len(rows):
        wanted = contents.samples.index[rows[: with_picture(contents.samples, rows)]]
        sprites = pack(contents.pictures, wanted)
        sheets = {} if sprites.size <= INLINE else dict(_named(sprites))
        data["pictures"] = _sprite_data(sprites, tuple(sheets))
    else:
        data["pictures"] = None
    for name, sheet in sheets.items():
        write_bytes(folder / FOLDER / name, sheet)
    path = folder / PAGE
    write_text(path, _render(contents, data))
    _remove_others(folder / FOLDER, set(sheets))
    return path


def _named(sprites: Sprites) -> Iterator[tuple[str, bytes]]:
    """Yield file names with a digest of the contents, so that old and new files never mix."""
    for number, sheet in enumerate(sprites.sheets):
        digest = hashlib.sha256(sheet).hexdigest()[:8]
        yield f"{PREFIX}{number:04d}-{digest}.{sprites.suffix}", sheet


def _sprite_data(sprites: Sprites, names: tuple[str, ...]) -> dict[str, Any]:
    """Say where each picture is; without `names`, the sheets are inside the page."""
    kind = TYPES[sprites.suffix]
    places = [f"{FOLDER}/{name}" for name in names] or [
        f"data:{kind};base64,{base64.b64encode(sheet).decode()}" for sheet in sprites.sheets
    ]
    return {
        "sheets": places,
        "exact": sprites.suffix == "png",
        "width": sprites.width,
        "height": sprites.height,
        "cellWidth": sprites.cell_width,
        "cellHeight": sprites.cell_height,
        "columns": sprites.columns,
        "perSheet": sprites.per_sheet,
        "count": sprites.count,
    }


def _render(contents: Contents, data: dict[str, Any]) -> str:
    """Render the page. The template escapes all text; the scripts read the rest from JSON."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # an extra
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("mentornet.audit.page"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    style = "\n".join(_part(name) for name in STYLES)
    program = '"use strict";\n{\n' + "\n".join(_part(name) for name in SCRIPTS) + "}\n"
    page = environment.get_template(PAGE).render(
        title=contents.title,
        facts=contents.facts,
        notes=contents.notes,
        footer=contents.footer,
        has_losses=data["known"]["loss"],
        searched=_searched(data),
        style=Markup(style),  # our own file
        style_hash=_hash(style),
        program=Markup(program),  # our own files
        program_hash=_hash(program),
        data=Markup(as_script(data)),  # escaped for a script element
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def _searched(data: dict[str, Any]) -> str:
    """Say what the search field searches."""
    there = [word for word, key in (("name", "names"), ("text", "texts")) if data[key] is not None]
    return ", ".join(["id", *there[:-1]]) + (f" or {there[-1]}" if there else "")


def _part(name: str) -> str:
    return (files("mentornet.audit.page") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which the page's Content-Security-Policy allows this text only."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _remove_others(folder: Path, kept: set[str]) -> None:
    """Delete the sheets of an older page, and nothing else."""
    if not folder.is_dir():
        return
    for path in folder.glob(f"{PREFIX}[0-9][0-9][0-9][0-9]-*.*"):
        if path.name not in kept:
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
