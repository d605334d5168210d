"""`mentornet audit`: which labels of a run are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich import box
from rich.table import Table

from mentornet.cli.watch import RunWatch, console

__all__ = ["Audit"]

_SHOWN = 10


@dataclass(frozen=True)
class Audit:
    """Say which labels of a training run are wrong, worst first, and write a page to look at.

    RUN/audit gets report.html (open it in a browser: mark suspects, download your decisions),
    issues.csv and .parquet, classes.csv, transitions.csv, and cleaned.csv, which the command that
    is printed at the end trains on. For example:

      mentornet audit runs/photos
      mentornet audit runs/photos --relabel 0.9 --out audit
      mentornet audit runs/photos --noise-rate 0.2 --overwrite
      mentornet train --config runs/photos/config.toml --verdicts decisions.csv --out runs/new
    """

    run_folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Folder of a training run; it need not have ended."""

    out: Path | None = None
    """Where to write; RUN/audit if left out."""

    relabel: float | None = None
    """In cleaned.csv, give a suspect the suggested label where it has at least this probability;
    all others are dropped."""

    noise_rate: float | None = None
    """The share of wrong labels, in [0, 1], if you know better than the estimate: as many are
    suspect."""

    overwrite: bool = False
    """Replace an audit that is there."""

    def run(self) -> None:
        """Audit, and show the worst."""
        from mentornet.audit.run_audit import audit_run

        with RunWatch() as watch:
            done = audit_run(
                self.run_folder, self.out, relabel=self.relabel, noise_rate=self.noise_rate,
                overwrite=self.overwrite, on_progress=watch.files,
            )  # fmt: skip
        for note in done.notes:
            console(stderr=True).print(note)
        ranking = done.ranking
        issues, wrong = ranking.table, ranking.wrong
        name = "path" if "path" in issues else "index"
        shown = Table(box=box.SIMPLE_HEAD, title="the worst labels", title_justify="left")
        for column in (name, "given", "suggested", "probability", "quality"):
            shown.add_column(
                column, justify="left" if column in ("given", "suggested") else "right"
            )
        for row in issues[issues["is_label_issue"]].head(_SHOWN).to_dict("records"):
            shown.add_row(
                f"{row[name]}", f"{row['given_label']}", f"{row['predicted_label']}",
                f"{row['predicted_probability']:.2f}", f"{row['label_quality']:.4f}",
            )  # fmt: skip
        if ranking.is_issue.any():
            console().print(shown)
        console().print(
            f"{int(ranking.is_issue.sum()):,} of {len(issues):,} labels are suspect; about "
            f"{wrong.count:,} are wrong, plausibly {wrong.low:,} to {wrong.high:,}"
        )
        console().print(f"look at them: {done.folder / 'report.html'}")
        console().print(f"train without them: mentornet {done.retrain} --out NEW")
