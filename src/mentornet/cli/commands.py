"""All commands by name, and the parser over them.

Nothing here imports a command before it is asked for, so that `mentornet --help` is fast.
"""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from mentornet.cli.flags import check_options, flags_of
from mentornet.version import __version__

__all__ = ["COMMANDS", "Command", "Entry", "overview", "parse"]


class Command(Protocol):
    """A command: its options are fields, and `run` does the work."""

    def run(self) -> None:
        """Run the command."""


@dataclass(frozen=True)
class Entry:
    """A command that is not imported yet.

    Attributes:
        place: where its class is, as `module:Class` below `mentornet.cli`.
        summary: what it does, in one sentence; the first line of its help.
        extras: what `pip install` must bring for it.
    """

    place: str
    summary: str
    extras: tuple[str, ...] = ("train",)

    def load(self) -> type[Command]:
        """Import the class of the command."""
        module, _, kind = self.place.partition(":")
        loaded: type[Command] = getattr(import_module(f"mentornet.cli.{module}"), kind)
        return loaded


COMMANDS = {
    "train": Entry(
        "train:Train",
        "Train a student on labels that cannot be trusted, and learn which labels are wrong.",
    ),
    "predict": Entry(
        "predict:Predict", "Predict the classes of new samples with the student of a training run."
    ),
    "audit": Entry(
        "audit:Audit",
        "Find labels that are probably wrong, and write a page to check them.",
        ("train", "audit"),
    ),
    "shards": Entry(
        "shards:Shards",
        "Pack a dataset into shards: tar files of a few hundred megabytes in the WebDataset "
        "format.",
    ),
    "demo": Entry(
        "demo:Demo",
        "Train on digits with 40 % label noise, without a mentor and with one, and compare.",
        ("experiments",),
    ),
    "fit-mentor": Entry(
        "fit_mentor:FitMentor",
        "Teach a mentor to give the weights of a predefined curriculum.",
        ("cli",),
    ),
    "learn-mentor": Entry(
        "learn_mentor:LearnMentor",
        "Learn a mentor from the verified samples of a finished run, for use on other data.",
    ),
    "mentors": Entry(
        "mentors:Mentors",
        "List the mentors that ship with the package; Mentor.from_pretrained(NAME) loads one.",
        ("cli",),
    ),
    "plot": Entry(
        "plot:Plot",
        "Draw the weights of a curriculum or a mentor, and the robust loss that they imply.",
        ("cli", "plot"),
    ),
    "reproduce": Entry(
        "reproduce:Reproduce",
        "Run a table or figure of the paper, and show our numbers beside the paper's.",
        ("experiments",),
    ),
    "compare": Entry(
        "compare:Compare",
        "Show the stored results of a folder beside the paper's numbers.",
        ("experiments",),
    ),
}


def overview() -> str:
    """The help of `mentornet` itself: every command with its summary."""
    indent, width = max(map(len, COMMANDS)) + 4, min(shutil.get_terminal_size().columns, 100)
    lines = [
        textwrap.fill(
            f"  {name:{indent - 2}}{entry.summary}", width, subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
        for name, entry in COMMANDS.items()
    ]  # fmt: skip
    return "\n".join([
        f"mentornet {__version__}: learn which labels to trust while you train.",
        "",
        "Usage: mentornet COMMAND …",
        "       mentornet COMMAND --help    (options of the command, with examples)",
        "       mentornet --version",
        "",
        *lines,
    ])  # fmt: skip


def parse(name: str, words: list[str]) -> Command:
    """The command of that name with its options; ends the program where help is asked for.

    Args:
        name: a key of `COMMANDS`.
        words: what follows the name on the command line.
    """
    import tyro

    kind = COMMANDS[name].load()
    chosen: dict[str, Any] = {}
    if name == "train":
        from mentornet.cli.train import Train, one_spelling

        words = one_spelling(words)
        defaults = Train.defaults(words)
        if defaults is not None:
            chosen["default"] = defaults
    check_options(words, flags_of(kind).values())
    command: Command = tyro.cli(
        kind, prog=f"mentornet {name}", args=words, config=(tyro.conf.OmitArgPrefixes,), **chosen
    )
    return command
