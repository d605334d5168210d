"""The callback by which loaders and downloads report their progress."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress"]

Progress = Callable[[str, int, int], None]
"""Called with a description, the amount that is done, and the total (0 if it is unknown)."""
