"""HTML pages from templates; everything that enters one is escaped."""

from __future__ import annotations

from typing import Any

__all__ = ["render"]


def render(template: str, **values: Any) -> str:
    """The page that `template` makes of `values`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # an extra

    environment = Environment(
        loader=PackageLoader("mentornet.experiments"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(**values)
