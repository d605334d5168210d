"""Objects of the user's own, named as `module:factory`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from mentornet.errors import MentorNetError, first_line

__all__ = ["PRETRAINED_SOURCES", "folder_of_code", "is_factory", "load_factory"]

PRETRAINED_SOURCES = ("hf", "timm")
"""Prefixes of names of pretrained networks, as in `hf:FOLDER`, which run no code of their own."""


def is_factory(name: str) -> bool:
    """Whether a name is `module:factory`, code of the user's own.

    >>> is_factory("mynets:small"), is_factory("hf:models/vit"), is_factory("fast")
    (True, False, False)
    """
    source, colon, _ = name.partition(":")
    return bool(colon) and source not in PRETRAINED_SOURCES


def folder_of_code(name: str) -> str | None:
    """Return the folder in which the module of `name` was found; None if it is installed.

    `load_factory` must have imported it.
    """
    file = getattr(sys.modules.get(name.partition(":")[0]), "__file__", None)
    if file is None or "site-packages" in Path(file).parts:
        return None
    depth = name.partition(":")[0].count(".") + (Path(file).name == "__init__.py")
    return f"{Path(file).resolve().parents[depth]}"


def load_factory(name: str, what: str, folder: str | None = None) -> Callable[..., object]:
    """Import the function or class that `name` refers to, as in `mynets:small`.

    The module is first looked up in the working folder.

    Args:
        name: the module and the factory in it, separated by a colon.
        what: what the factory makes, for error messages: "student" or "method".
        folder: where it is looked up in place of the working folder.
    """
    module, _, factory = name.partition(":")
    here = folder or str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), factory)
    except (Exception, SystemExit) as error:  # whatever the user's module raises
        raise MentorNetError(
            f"{what} {name!r} must name a module and a factory in it, as in mynets:small; "
            f"{type(error).__name__}: {first_line(error)}"
        ) from error
    finally:
        sys.path.remove(here)
    if not callable(found):
        raise MentorNetError(f"{what} {name!r} is not a function or class")
    return found
