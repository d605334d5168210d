"""The programs that the tests need beside Python packages: a browser, and `ip` of iproute2.

`make setup` runs this module. It installs what is missing where that is possible and allowed, and
it never fails: tests whose program is missing are skipped, with one line that says how to get it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
NO_BROWSER = (
    "no browser for the audit's page: run `make setup` with a network, install chromium "
    "(Debian: apt-get install chromium), or name a Chrome in MENTORNET_CHROMIUM"
)
NO_NAMESPACES = (
    "no network namespaces for the tests of two machines: run the tests as root on Linux, with "
    "iproute2 installed (Debian: apt-get install iproute2)"
)
# For each package manager: its commands, to which the package is added, and what it calls `ip`.
_MANAGERS = {
    "apt-get": (
        (["update", "-qq"], ["install", "-qq", "--yes", "--no-install-recommends"]),
        "iproute2",
    ),
    "dnf": ((["install", "--quiet", "--assumeyes"],), "iproute"),
    "pacman": ((["--sync", "--needed", "--noconfirm"],), "iproute2"),
}


def find_browser() -> str | None:
    """Where a chromium is that starts: the one that MENTORNET_CHROMIUM names, or any other.

    Raises:
        FileNotFoundError: MENTORNET_CHROMIUM names a program that is missing or does not start.
    """
    named = os.environ.get("MENTORNET_CHROMIUM")
    if named:
        found = shutil.which(named)
        if found is None or not _starts(found):
            raise FileNotFoundError(f"MENTORNET_CHROMIUM is {named}, which is not a browser")
        return found
    for found in map(shutil.which, _BROWSERS):
        # On Ubuntu, `chromium-browser` may be a script that only tells to install something else.
        if found is not None and _starts(found):
            return found
    downloaded = _downloaded_browser()
    return downloaded if _starts(downloaded) else None


def skip(why: str) -> NoReturn:
    """Skip a test whose program is missing. Under CI, where nothing may be missing, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


def get_browser() -> str | None:
    """Find a browser, or else download one, or else install the system's own."""
    found = find_browser()
    if found is None:
        print("no browser is here for the tests of the audit's page; downloading chromium")
        playwright = [sys.executable, "-m", "playwright"]
        _run([*playwright, "install", "--no-shell", "chromium"])
        found = find_browser()
        if found is None and Path(_downloaded_browser()).exists() and _rights() is not None:
            _run([*playwright, "install-deps", "chromium"])  # libraries that it did not find
            found = find_browser()
    if found is None and _install("chromium"):
        found = find_browser()
    return found


def get_ip() -> str | None:
    """Find `ip`, or else install it for root, who alone can make network namespaces."""
    if shutil.which("ip") is None and sys.platform == "linux" and os.geteuid() == 0:
        _install("ip")
    return shutil.which("ip")


def main() -> None:
    """Get every program; say in one line each which of them could not be had."""
    try:
        if get_browser() is None:
            print(NO_BROWSER)
    except FileNotFoundError as error:
        print(error)
    if get_ip() is None:
        print(NO_NAMESPACES)


def _starts(program: str) -> bool:
    return Path(program).exists() and _run([program, "--version"], seconds=20)


def _downloaded_browser() -> str:
    """Where Playwright puts the browser that it downloads; it need not be there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _install(program: str) -> bool:
    """Install a program with the system's package manager; False where that is not allowed."""
    manager = next((name for name in _MANAGERS if shutil.which(name)), None)
    rights = _rights()
    if manager is None or rights is None:
        return False
    commands, ip = _MANAGERS[manager]
    package = ip if program == "ip" else program
    print(f"installing {package} with {manager}")
    *before, install = [[*rights, manager, *command] for command in commands]
    for command in before:
        _run(command)
    return _run([*install, package])


def _rights() -> list[str] | None:
    """What to put before a command of the package manager; None if it must not be called."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and _run(["sudo", "-n", "true"], seconds=5):
        return ["sudo", "-n"]
    return None


def _run(command: list[str], seconds: float = 300) -> bool:
    """Run a command without showing what it prints; whether it ended well and in time."""
    settings = {
        "DEBIAN_FRONTEND": "noninteractive",
        "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000",  # milliseconds; it tries five times
    }
    try:
        running = subprocess.Popen(
            command,
            env={**settings, **os.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        return running.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if running.poll() is None:
            _stop(running)


def _stop(running: subprocess.Popen[bytes]) -> None:
    """End a command together with all that it has started."""
    for way in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, way)
            running.wait(5)
        except (PermissionError, ProcessLookupError):  # it is root's, or it has just ended
            return
        except subprocess.TimeoutExpired:
            continue
        return


if __name__ == "__main__":
    main()
