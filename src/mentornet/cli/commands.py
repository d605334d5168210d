"""All commands by name, and the parser over them."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Protocol

import tyro

from mentornet.cli.audit import Audit
from mentornet.cli.compare import Compare
from mentornet.cli.demo import Demo
from mentornet.cli.fit_mentor import FitMentor
from mentornet.cli.learn_mentor import LearnMentor
from mentornet.cli.mentors import Mentors
from mentornet.cli.plot import Plot
from mentornet.cli.predict import Predict
from mentornet.cli.reproduce import Reproduce
from mentornet.cli.shards import Shards
from mentornet.cli.train import Train, one_spelling
from mentornet.version import __version__

__all__ = ["COMMANDS", "Command", "command_named", "parse"]


class Command(Protocol):
    """A command: its options are fields, and `run` does the work."""

    def run(self) -> None:
        """Run the command."""


COMMANDS: dict[str, type[Command]] = {
    "train": Train,
    "predict": Predict,
    "audit": Audit,
    "shards": Shards,
    "demo": Demo,
    "fit-mentor": FitMentor,
    "learn-mentor": LearnMentor,
    "mentors": Mentors,
    "plot": Plot,
    "reproduce": Reproduce,
    "compare": Compare,
}

_DESCRIPTION = f"""mentornet {__version__}: learn which labels to trust while you train.

To see the options of a command: mentornet train --help"""


def command_named(words: list[str]) -> type[Command] | None:
    """The command that the first word names, if there is one."""
    return COMMANDS.get(words[0]) if words else None


def parse(arguments: list[str] | None = None) -> Command:
    """The command that `arguments` (or the program's own) ask for."""
    words = sys.argv[1:] if arguments is None else arguments
    if words == ["--version"]:
        print(f"mentornet {__version__}")
        sys.exit(0)
    defaults = None
    if words[:1] == ["train"]:
        words = ["train", *one_spelling(words[1:])]
        defaults = Train.defaults(words)
    choices = tuple(
        Annotated[command, tyro.conf.subcommand(name, default=defaults)]
        if defaults is not None and command is Train
        else Annotated[command, tyro.conf.subcommand(name)]
        for name, command in COMMANDS.items()
    )
    union: Any = choices[0]
    for choice in choices[1:]:
        union = union | choice
    command: Command = tyro.cli(
        union, prog="mentornet", description=_DESCRIPTION, args=words,
        config=(tyro.conf.OmitArgPrefixes,),
    )  # fmt: skip
    return command
