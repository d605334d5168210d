"""What a command has saved when it is stopped, and how to go on: the end of one line."""

from __future__ import annotations

import shlex
from pathlib import Path

from mentornet.cli.audit import Audit
from mentornet.cli.commands import Command
from mentornet.cli.demo import Demo
from mentornet.cli.fit_mentor import FitMentor
from mentornet.cli.learn_mentor import LearnMentor
from mentornet.cli.plot import Plot
from mentornet.cli.predict import Predict
from mentornet.cli.reproduce import Reproduce
from mentornet.cli.shards import Shards
from mentornet.cli.train import Train
from mentornet.config import own_code, read_config
from mentornet.training import RunFolder

__all__ = ["how_to_go_on"]

_AGAIN = "run the same command again"


def how_to_go_on(command: Command) -> str:
    """Return what is saved, and the words that continue; never raises."""
    try:
        return _of(command)
    except Exception:  # noqa: BLE001 - the disk may be what has failed
        return _AGAIN


def _of(command: Command) -> str:
    if isinstance(command, Train):
        return _of_run(command.out)
    if isinstance(command, Reproduce):
        out = command.folder()
        return f"finished runs are kept in {out}, and the same command continues"
    if isinstance(command, Shards):
        return f"finished shards are kept in {command.out}, and the same command continues"
    if isinstance(command, Audit):
        out = command.folder()
        begun = out.is_dir() and any(out.iterdir())
        return f"{out} is not complete; {_AGAIN} with --overwrite" if begun else _nothing()
    if isinstance(command, Demo):
        return f"{command.out} is not complete; {_AGAIN}, which replaces it"
    if isinstance(command, FitMentor | LearnMentor | Predict | Plot):
        return _nothing()
    return _AGAIN


def _nothing() -> str:
    return f"nothing was written; {_AGAIN}"


def _of_run(out: Path | None) -> str:
    if out is None or not RunFolder(out).config.is_file():
        return f"nothing was saved; {_AGAIN}"
    run = RunFolder(out)
    trust = " --trust-code" if own_code(read_config(run.config)) else ""
    go_on = f"mentornet train --out {shlex.quote(f'{out}')} --resume{trust}"
    if run.summary.exists():
        return f"the run in {out} has ended; only its curves may be missing: {go_on}"
    paths = run.checkpoints.paths()
    if not paths:
        return f"{out} has no checkpoint yet; start it again with: {go_on}"
    epoch = int(paths[-1].name.split("-")[1])
    return f"{out} is saved up to epoch {epoch}; continue with: {go_on}"
