"""The figures of the paper, each with the jobs that it takes, and the page of Table 6."""

from __future__ import annotations

from pathlib import Path

from mentornet.cli.reproduce_cells import Engine, reproduce_cells
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import figure_student
from mentornet.experiments.cells import Scale, Table
from mentornet.experiments.comparison import compare
from mentornet.experiments.results import Results
from mentornet.experiments.table6 import architecture_curves, objective_curves
from mentornet.figures.style import save
from mentornet.files import write_text
from mentornet.mentors import load_mentor
from mentornet.methods import METHODS
from mentornet.training import RunFolder

__all__ = ["reproduce_figure", "reproduce_table6"]

_UPDATES = (21, 75)  # percent of training at which the paper shows its mentors


def reproduce_figure(
    name: str, table: Table | None, out: Path, scale: Scale, engine: Engine
) -> list[Path]:
    """Make what is missing of the table, draw the figure, and return what was written."""
    if table is None:
        from mentornet.figures.curriculum import draw_objective

        mentor = "dd-cifar10-40"
        return save(draw_objective(load_mentor(mentor), mentor), out / "objectives")
    if name in _OF_FITS:
        reproduce_cells(table, out, None, engine)
        return _draw_fits(name, table, Results(out), table.seeds)
    draw = _errors if name == "fig-errors" else _curricula
    return draw(table, out, figure_student(scale), engine)


_OF_FITS = {
    "fig-architectures": ("architectures", architecture_curves),
    "fig-training": ("objectives", objective_curves),
}


def _draw_fits(name: str, table: Table, results: Results, seeds: int) -> list[Path]:
    from mentornet.figures.table6 import draw_fits

    stem, curves = _OF_FITS[name]
    return save(draw_fits(curves(table, results, seeds)), results.folder / stem)


def reproduce_table6(table: Table, out: Path, seeds: int | None, engine: Engine) -> list[Path]:
    """Fill in all of Table 6, then write its page and figures into `out`.

    A README.md that is there is replaced only if `out` has results of this table.
    """
    from mentornet.experiments.table6_page import render_page

    results, page = Results(out), out / "README.md"
    if page.exists() and not any(results.path(job).exists() for job in table.runs(seeds)):
        raise MentorNetError(
            f"{out} has a README.md already, which the table's would replace; choose another out"
        )
    written = reproduce_cells(table, out, seeds, engine)
    entries = compare(table, results, results.most_seeds())
    shown = min(len(entry.values) for entry in entries.values())  # what every cell has
    write_text(page, render_page(table, results, shown))
    written.append(page)
    for name in _OF_FITS:
        written += _draw_fits(name, table, results, shown)
    return written


def _errors(table: Table, out: Path, student: str, engine: Engine) -> list[Path]:
    from mentornet.figures.errors import draw_errors

    reproduce_cells(table, out, None, engine)
    results = Results(out)
    curves = {}
    for cell in table.cells:
        found = results.find(cell.run)
        assert found is not None
        curves[METHODS[cell.row].title] = found["curve"]
    title = f"{student} on CIFAR-100, 40 % of the labels redrawn"
    return save(draw_errors(curves, title), out / "errors")


def _curricula(table: Table, out: Path, student: str, engine: Engine) -> list[Path]:
    from mentornet.figures.curriculum import draw_surfaces

    _check_kept(table, out)
    reproduce_cells(table, out, None, engine)
    mentors = []
    for percent in _UPDATES:
        folder, at = _closest(table, out, percent)
        mentor = load_mentor(f"{folder}")
        mentors.append((f"learned at {at} %", at, mentor.config.history, mentor))
    title = f"Curricula learned with {student} on CIFAR-10, 40 % of the labels redrawn"
    return save(draw_surfaces(mentors, title), out / "curricula")


def _check_kept(table: Table, out: Path) -> None:
    """Raise if there is a result whose run is gone, and its mentors with it."""
    results, run = Results(out), table.cells[0].run
    if results.find(run) is not None and not results.working(run).is_dir():
        raise MentorNetError(
            f"{results.path(run)} is there, but not the run itself with the mentors that it "
            f"learned ({results.working(run)}); choose another out, and it is made again"
        )


def _closest(table: Table, out: Path, percent: int) -> tuple[Path, int]:
    """The mentor that was learned nearest to that progress, and when that was."""
    folder = RunFolder(Results(out).working(table.cells[0].run) / "run")
    found = folder.learned_mentors()
    if not found:
        raise MentorNetError(
            f"{folder.mentors} holds no mentor: none that was learned in this run beat the "
            "predefined one"
        )
    return min(found, key=lambda learned: abs(learned[1] - percent))
