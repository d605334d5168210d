"""What `make setup` does about a browser and `ip`, on machines that have them and that do not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests import programs


class Machine:
    """A pretended machine: the only programs are those of one folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.commands: list[str] = []
        self.downloads = self.installs = False
        self.really_run = programs._run
        monkeypatch.setenv("PATH", f"{folder}")
        monkeypatch.delenv("MENTORNET_CHROMIUM", raising=False)
        monkeypatch.setattr(programs, "_BROWSERS", ("chromium", "chromium-browser"))
        monkeypatch.setattr(programs, "_downloaded_browser", lambda: f"{folder / 'downloaded'}")
        monkeypatch.setattr(programs, "_run", self.run)
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.setattr("sys.platform", "linux")

    def add(self, name: str, status: int = 0) -> str:
        program = self.folder / name
        program.write_text(f"#!/bin/sh\nexit {status}\n")
        program.chmod(0o755)
        return f"{program}"

    def run(self, command: list[str], seconds: float = 300) -> bool:
        if "--version" in command:
            return self.really_run(command, seconds)
        self.commands.append(" ".join(command))
        if "playwright" in command and self.downloads:
            self.add("downloaded")
        elif command[:2] == ["apt-get", "install"] and self.installs:
            self.add({"iproute2": "ip"}.get(command[-1], command[-1]))
        return True


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_browser_that_is_there_is_used(machine: Machine) -> None:
    machine.add("chromium", status=1)  # a script that tells to install something else
    there = machine.add("chromium-browser")
    assert programs.get_browser() == there
    assert machine.commands == []


def test_a_browser_is_downloaded(machine: Machine) -> None:
    machine.downloads = True
    machine.add("apt-get")
    assert programs.get_browser() == f"{machine.folder / 'downloaded'}"
    (command,) = machine.commands
    assert command.endswith("playwright install --no-shell chromium")


def test_a_download_that_does_not_start_gets_its_libraries(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add("downloaded", status=127)
    assert programs.get_browser() is None
    assert machine.commands[1].endswith("playwright install-deps chromium")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    machine.commands.clear()
    assert programs.get_browser() is None
    assert len(machine.commands) == 1


def test_the_package_manager_comes_last(machine: Machine) -> None:
    machine.installs = True
    machine.add("apt-get")
    assert programs.get_browser() == f"{machine.folder / 'chromium'}"
    assert programs.get_ip() == f"{machine.folder / 'ip'}"
    assert [command.split()[:2] for command in machine.commands[1:]] == [
        ["apt-get", "update"], ["apt-get", "install"],
    ] * 2  # fmt: skip


def test_a_user_without_rights_installs_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    machine.add("apt-get")
    assert programs.get_browser() is None
    assert programs.get_ip() is None
    assert len(machine.commands) == 1  # the download, which needs no rights


def test_one_line_for_each_that_cannot_be_had(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    programs.main()
    assert capsys.readouterr().out.splitlines()[1:] == [programs.NO_BROWSER, programs.NO_NAMESPACES]


def test_a_named_browser_that_is_none(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.add("chromium")
    machine.add("ip")
    monkeypatch.setenv("MENTORNET_CHROMIUM", "/no/such/chrome")
    programs.main()
    said = "MENTORNET_CHROMIUM is /no/such/chrome, which is not a browser\n"
    assert capsys.readouterr().out == said
    assert machine.commands == []


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_a_missing_program_skips_and_under_ci_fails(
    ci: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no browser"):
        programs.skip(programs.NO_BROWSER)


def test_a_command_that_hangs_is_ended() -> None:
    start = time.monotonic()
    assert not programs._run(["sh", "-c", "sleep 60; true"], seconds=0.2)
    assert time.monotonic() - start < 30
