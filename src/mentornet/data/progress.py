"""How loaders and downloads tell how far they are."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress"]

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and the total (0 where it is not known)."""
