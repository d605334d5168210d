"""A real browser for the audit's page: a chromium, driven through Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from tests.programs import find_browser

SWITCHES = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@cache
def found_browser() -> str | None:
    """Where the browser of this machine is, looked up once."""
    try:
        return find_browser()
    except FileNotFoundError as error:
        why = f"{error}"
    pytest.fail(why, pytrace=False)


@contextmanager
def running_browser() -> Iterator[Browser]:
    where = found_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=SWITCHES)
        yield browser
        browser.close()


class Visit:
    """One look at a page, as somebody with no network has it; trouble is remembered."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", **options}
        )
        self.context.set_default_timeout(30_000)  # two cores may be busy with other tests
        self.context.set_offline(True)
        self.page: Page = self.context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", lambda message: self._listen(message.type, message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(f"{error}"))
        self.page.on("dialog", lambda dialog: self._listen("error", dialog.message))
        self.page.on("request", self._watch)

    def _listen(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.trouble.append(text)

    def _watch(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.trouble.append(f"asked the network for {request.url}")

    def open(self, path: Path) -> Page:
        self.page.goto(path.as_uri())
        return self.page
