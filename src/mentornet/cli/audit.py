"""`mentornet audit`: find the labels that are probably wrong, of a run or of data of your own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich import box
from rich.table import Table

from mentornet.cli.watch import RunWatch, console
from mentornet.errors import MentorNetError, cut

if TYPE_CHECKING:
    from mentornet.audit.output import Audited

__all__ = ["Audit"]

_SHOWN = 10


@dataclass(frozen=True)
class Audit:
    """Find labels that are probably wrong, and write a page to check them.

    The labels are those of a training run, or those of embeddings or predicted probabilities of
    your own, for which no run is needed. The files go to RUN/audit, or to the folder audit. Open
    report.html in a browser, decide about the suspects, and download your decisions. issues.csv
    (also as .parquet), classes.csv and transitions.csv have the numbers. cleaned.csv leaves out the
    suspects. With --relabel it relabels some of them. After a run, the last line that is printed is
    a command that trains on it. For example:

      mentornet audit runs/photos
      mentornet audit runs/photos --relabel 0.9 --out audit
      mentornet audit runs/photos --noise-rate 0.2 --overwrite
      mentornet audit --embeddings features.npy --labels labels.csv
      mentornet audit --embeddings table.parquet --label category --out audit
      mentornet audit --probabilities p.npy --labels labels.npy --classes cat dog horse
      mentornet train --config runs/photos/config.toml --verdicts decisions.csv --out runs/new

    Attributes:
        run_folder: Folder of a training run, which need not have ended.
        embeddings: File with one vector for each sample (.npy, .npz, or lists in .parquet), such as
            frozen features. Each label is judged by a logistic regression that was not trained on
            it.
        probabilities: File with the probability of each class for each sample, predicted by
            classifiers that were not trained on that sample.
        labels: File with the given labels in the same order: .csv or .parquet, or class numbers in
            .npy or .npz. The columns path, text and true_label of a table are used too. By default
            the labels are in the file of embeddings.
        label: Column or array that has the labels; by default the only one, or label.
        classes: Names of the classes in order, for labels that are numbers, such as cat dog.
        verdicts: Files with verdicts on some of the labels, such as those that the page downloads.
        out: Folder that the audit is written to; by default RUN/audit, or audit without a run.
        relabel: Relabel suspects whose suggested label has at least this probability; drop the
            others.
        noise_rate: Share of wrong labels in [0, 1], such as 0.2, if you know it; by default it is
            estimated.
        all_parts: Judge the test and validation samples that came with the data, too. Samples of a
            run that were held out from training are always judged.
        overwrite: Replace an earlier audit.
        trust_code: Run the code of a student or a method that the run's config names as
            module:factory.
    """

    run_folder: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="[RUN]")] = None
    embeddings: Path | None = None
    probabilities: Path | None = None
    labels: Path | None = None
    label: str | None = None
    classes: tuple[str, ...] = ()
    verdicts: tuple[Path, ...] = ()
    out: Path | None = None
    relabel: float | None = None
    noise_rate: float | None = None
    all_parts: bool = False
    overwrite: bool = False

    trust_code: bool = False

    def run(self) -> None:
        """Audit the labels, and print the worst."""
        self._check()
        _say(self._audited_run() if self.run_folder is not None else self._audited_data())

    def folder(self) -> Path:
        """Return the folder that the audit is written to."""
        return self.out or (self.run_folder or Path()) / "audit"

    def _check(self) -> None:
        """Raise unless there is one thing to audit, and nothing that has no meaning for it."""
        sources = (self.run_folder, self.embeddings, self.probabilities)
        if sum(source is not None for source in sources) != 1:
            raise MentorNetError(
                "audit needs one of these: the folder of a run, the setting embeddings, or the "
                "setting probabilities"
            )
        if self.run_folder is None:
            return
        for name in ("labels", "label", "classes", "verdicts"):
            if getattr(self, name):
                raise MentorNetError(
                    f"the setting {name} has no meaning for a run, which has its own labels; it "
                    "belongs to embeddings or probabilities"
                )

    def _audited_run(self) -> Audited:
        from mentornet.audit.run_audit import audit_run

        assert self.run_folder is not None
        with RunWatch() as watch:
            return audit_run(
                self.run_folder, self.out, relabel=self.relabel, noise_rate=self.noise_rate,
                overwrite=self.overwrite, on_progress=watch.files, trust_code=self.trust_code,
                all_parts=self.all_parts,
            )  # fmt: skip

    def _audited_data(self) -> Audited:
        from mentornet.audit.own_data import DataAudit

        audit = DataAudit(
            self.folder(), labels=self.labels, label=self.label,
            classes=self.classes or None, verdicts=self.verdicts, relabel=self.relabel,
            noise_rate=self.noise_rate, overwrite=self.overwrite,
        )  # fmt: skip
        if self.embeddings is not None:
            return audit.of_embeddings(self.embeddings)
        assert self.probabilities is not None
        return audit.of_probabilities(self.probabilities)


def _say(done: Audited) -> None:
    """Print the worst labels, and where to look at all of them."""
    for note in done.notes:
        console(stderr=True).print(note)
    ranking = done.ranking
    issues, wrong = ranking.table, ranking.wrong
    if ranking.is_issue.any():
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
        console().print(shown)
    console().print(
        f"{int(ranking.is_issue.sum()):,} of {len(issues):,} labels are suspect; about "
        f"{wrong.count:,} are wrong ({wrong.low:,} to {wrong.high:,} are plausible)"
    )
    console().print(f"look at them: {done.folder / 'report.html'}")
    if done.retrain:
        console().print(f"train without them: mentornet {done.retrain} --out NEW")
    else:
        console().print(f"labels without them: {done.folder / 'cleaned.csv'}")
