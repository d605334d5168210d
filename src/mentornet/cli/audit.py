"""`mentornet audit`: find the labels of a run that are probably wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich import box
from rich.table import Table

from mentornet.cli.watch import RunWatch, console
from mentornet.errors import cut

__all__ = ["Audit"]

_SHOWN = 10


@dataclass(frozen=True)
class Audit:
    """Find the labels of a training run that are probably wrong, and write a page to check them.

    The files go to RUN/audit. Open report.html in a browser, decide about the suspects, and
    download your decisions. issues.csv (also as .parquet), classes.csv and transitions.csv have the
    numbers. The last line that is printed is a command that trains on cleaned.csv, which leaves out
    the suspects. With --relabel it relabels some of them. For example:

      mentornet audit runs/photos
      mentornet audit runs/photos --relabel 0.9 --out audit
      mentornet audit runs/photos --noise-rate 0.2 --overwrite
      mentornet train --config runs/photos/config.toml --verdicts decisions.csv --out runs/new

    Attributes:
        run_folder: Folder of a training run, which need not have ended.
        out: Folder that the audit is written to; by default RUN/audit.
        relabel: Relabel suspects whose suggested label has at least this probability; drop the
            others.
        noise_rate: Share of wrong labels in [0, 1], such as 0.2, if you know it; by default it is
            estimated.
        overwrite: Replace an earlier audit.
        trust_code: Run the code of a student or a method that the run's config names as
            module:factory.
    """

    run_folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    out: Path | None = None
    relabel: float | None = None
    noise_rate: float | None = None
    overwrite: bool = False

    trust_code: bool = False

    def run(self) -> None:
        """Audit the run, and print the worst labels."""
        from mentornet.audit.run_audit import audit_run

        with RunWatch() as watch:
            done = audit_run(
                self.run_folder, self.out, relabel=self.relabel, noise_rate=self.noise_rate,
                overwrite=self.overwrite, on_progress=watch.files, trust_code=self.trust_code,
            )  # fmt: skip
        for note in done.notes:
            console(stderr=True).print(note)
        ranking = done.ranking
        issues, wrong = ranking.table, ranking.wrong
        name = next(column for column in ("path", "text", "row", "index") if column in issues)
        shown = Table(box=box.SIMPLE_HEAD, title="the worst labels", title_justify="left")
        for column in (name, "given", "suggested", "probability", "quality"):
            shown.add_column(
                column, justify="left" if column in ("text", "given", "suggested") else "right"
            )
        for row in issues[issues["is_label_issue"]].head(_SHOWN).to_dict("records"):
            shown.add_row(
                cut(f"{row[name]}"), f"{row['given_label']}", f"{row['predicted_label']}",
                f"{row['predicted_probability']:.2f}", f"{row['label_quality']:.4f}",
            )  # fmt: skip
        if ranking.is_issue.any():
            console().print(shown)
        console().print(
            f"{int(ranking.is_issue.sum()):,} of {len(issues):,} labels are suspect; about "
            f"{wrong.count:,} are wrong ({wrong.low:,} to {wrong.high:,} are plausible)"
        )
        console().print(f"look at them: {done.folder / 'report.html'}")
        console().print(f"train without them: mentornet {done.retrain} --out NEW")
