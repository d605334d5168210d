"""`mentornet mentors`: what ships."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from mentornet.mentors import load_mentor, read_card, shipped

__all__ = ["Mentors"]


@dataclass(frozen=True)
class Mentors:
    """List the mentors inside the package, ready for Mentor.from_pretrained(NAME).

    For example::

      mentornet mentors
    """

    def run(self) -> None:
        """Print the table."""
        table = Table(title="Mentors that ship", title_justify="left")
        for column in ("name", "architecture", "approximates", "settings"):
            table.add_column(column)
        for column in ("history", "parameters", "MSE"):
            table.add_column(column, justify="right")
        for name, folder in shipped().items():
            mentor, card = load_mentor(name), read_card(folder)
            settings = " ".join(f"{key}={value}" for key, value in card.settings.items())
            table.add_row(
                name, mentor.name, card.curriculum, settings,
                f"{mentor.config.history}", f"{mentor.num_parameters}", f"{card.mse:.1e}",
            )  # fmt: skip
        Console(highlight=False).print(table)
