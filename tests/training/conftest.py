from __future__ import annotations

import pytest

from tests.programs import NO_NAMESPACES, skip
from tests.training.nodes import why_no_nodes


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests that need two machines where they cannot be made, all with the same line."""
    why = why_no_nodes() if "nodes" in getattr(item, "fixturenames", ()) else None
    if why is not None:
        skip(f"{NO_NAMESPACES}; {why}")
