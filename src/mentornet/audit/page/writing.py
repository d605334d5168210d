"""Write the audit's page: one HTML file that needs no network, pictures in it or beside it."""

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
"""Pictures of up to so many bytes go into the page itself; more go into a folder beside it."""

PAGE, FOLDER, PREFIX = "report.html", "pictures", "sheet-"

STYLES = (
    "look.css", "overview.css", "confusion.css", "gallery.css", "detail.css", "narrow.css",
)  # fmt: skip
"""The page's style; what comes later wins."""

SCRIPTS = (
    "text.js", "csv.js", "samples.js", "pictures.js", "charts.js", "overview.js", "marks.js",
    "confusion.js", "card.js", "deciding.js", "gallery.js", "detail.js", "report.js",
)  # fmt: skip
"""The page's program, in the order in which its parts need each other."""

TYPES = {"jpg": "image/jpeg", "png": "image/png"}


def write_page(folder: Path, contents: Contents) -> Path:
    """Write `folder/report.html`, and `folder/pictures/` if the pictures are many.

    A page that was there is replaced in one move, after its pictures are all written; pictures
    that only the old page showed are then removed.
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
    """File names that differ wherever the contents do, so that old and new never mix."""
    for number, sheet in enumerate(sprites.sheets):
        digest = hashlib.sha256(sheet).hexdigest()[:8]
        yield f"{PREFIX}{number:04d}-{digest}.{sprites.suffix}", sheet


def _sprite_data(sprites: Sprites, names: tuple[str, ...]) -> dict[str, Any]:
    """Where the page finds which picture; without `names`, the sheets are inside the page."""
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
    """The page. All text is escaped by the template, or read by the program from JSON."""
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
        searched=_searched(data),
        style=Markup(style),  # our own file
        style_hash=_hash(style),
        program=Markup(program),  # our own files
        program_hash=_hash(program),
        data=Markup(as_script(data)),  # escaped for a script element
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def _searched(data: dict[str, Any]) -> str:
    """What the search looks through, in words."""
    there = [word for word, key in (("name", "names"), ("text", "texts")) if data[key] is not None]
    return ", ".join(["id", *there[:-1]]) + (f" or {there[-1]}" if there else "")


def _part(name: str) -> str:
    return (files("mentornet.audit.page") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the page's Content-Security-Policy allows: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _remove_others(folder: Path, kept: set[str]) -> None:
    """Delete sheets of an older page; whatever else is there is not ours."""
    if not folder.is_dir():
        return
    for path in folder.glob(f"{PREFIX}[0-9][0-9][0-9][0-9]-*.*"):
        if path.name not in kept:
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
