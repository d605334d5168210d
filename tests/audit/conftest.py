from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.audit.browser import Visit, found_browser, running_browser
from tests.programs import NO_BROWSER, skip


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests that need a browser where there is none, all with the same line."""
    if "browser" in getattr(item, "fixturenames", ()) and found_browser() is None:
        skip(NO_BROWSER)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as found:
        yield found


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Visits with nothing stored yet; each must have gone without an error in the console."""
    visits: list[Visit] = []

    def start(**options: Any) -> Visit:
        visits.append(Visit(browser, **options))
        return visits[-1]

    yield start
    for one in visits:
        one.context.close()
    assert [one.trouble for one in visits] == [[] for _ in visits]
