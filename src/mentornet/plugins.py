"""Objects of the user's own, named as `module:factory`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from mentornet.errors import MentorNetError, first_line

__all__ = ["load_factory"]


def load_factory(name: str, what: str) -> Callable[..., object]:
    """Import the function or class that `name` refers to, as in `mynets:small`.

    The module is first looked up in the working folder.

    Args:
        name: the module and the factory in it, separated by a colon.
        what: what the factory makes, for error messages: "student" or "method".
    """
    module, _, factory = name.partition(":")
    here = str(Path.cwd())
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
