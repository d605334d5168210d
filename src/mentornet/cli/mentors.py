"""`mentornet mentors`: what ships."""

from __future__ import annotations

from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from mentornet.mentors import load_rule, read_card, shipped
from mentornet.mentors.universal import UNIVERSAL, universal_mentor

__all__ = ["Mentors"]


@dataclass(frozen=True)
class Mentors:
    """List the mentors that ship with the package; Mentor.from_pretrained(NAME) loads one.

    For example:

      mentornet mentors
    """

    def run(self) -> None:
        """Print the table."""
        table = Table(title="Mentors that ship", title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("name", no_wrap=True)
        table.add_column("network")
        table.add_column("history", justify="right")
        table.add_column("MSE", justify="right")
        table.add_column("approximates, or learned on")
        for name, folder in shipped().items():
            mentor, card = load_rule(name), read_card(folder)
            row = (name, mentor.name, f"{mentor.config.history}", f"{card.mse:.1e}", card.about)
            table.add_row(*row)
        reads = ", ".join(universal_mentor().weights)
        table.add_row(
            UNIVERSAL.name, "logistic", "–", "–",
            f"many datasets; reads {reads} (used by mentornet-early and EarlyLoss)",
        )  # fmt: skip
        Console(highlight=False).print(table)
