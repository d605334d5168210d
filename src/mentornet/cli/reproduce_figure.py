"""The figures of the paper, each with the runs that it takes."""

from __future__ import annotations

from pathlib import Path

from mentornet.cli.reproduce_cells import Engine, reproduce_cells
from mentornet.cli.reproduce_table6 import reproduce_table6
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import figure_student, figure_table
from mentornet.experiments.cells import Scale, Table
from mentornet.experiments.results import Results
from mentornet.figures.style import save
from mentornet.mentors import load_mentor
from mentornet.methods import METHODS
from mentornet.training import RunFolder

__all__ = ["reproduce_figure"]

_UPDATES = (21, 75)  # percent of training at which the paper shows its mentors


def reproduce_figure(name: str, out: Path, scale: Scale, engine: Engine) -> list[Path]:
    """Make what is missing, draw, and say what was written."""
    table = figure_table(name, scale)
    if table is not None:
        draw = _errors if name == "fig-errors" else _curricula
        return draw(table, out, figure_student(scale), engine)
    if name == "fig-objectives":
        from mentornet.figures.curriculum import draw_objective

        mentor = "dd-cifar10-40"
        return save(draw_objective(load_mentor(mentor), mentor), out / "objectives")
    written = reproduce_table6(out, scale, seeds=None, jobs=engine.jobs)
    wanted = "architectures" if name == "fig-architectures" else "objectives"
    return [path for path in written if path.stem in (wanted, "table6")]


def _errors(table: Table, out: Path, student: str, engine: Engine) -> list[Path]:
    from mentornet.figures.errors import draw_errors

    reproduce_cells(table, out, 1, engine)
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
    reproduce_cells(table, out, 1, engine)
    mentors = []
    for percent in _UPDATES:
        folder = _closest(table, out, percent)
        mentor = load_mentor(f"{folder}")
        at = int(folder.name.rpartition("-")[2])
        mentors.append((f"learned at {at} %", at, mentor.config.history, mentor))
    title = f"Curricula learned with {student} on CIFAR-10, 40 % of the labels redrawn"
    return save(draw_surfaces(mentors, title), out / "curricula")


def _check_kept(table: Table, out: Path) -> None:
    """Raise if there is a result whose run is gone, and its mentors with it."""
    results, run = Results(out), table.cells[0].run
    if results.find(run) is not None and not results.working(run).is_dir():
        raise MentorNetError(
            f"{results.path(run)} is there, but not the run itself with the mentors that it "
            f"learned ({results.working(run)}); choose another --out, and it is made again"
        )


def _closest(table: Table, out: Path, percent: int) -> Path:
    """The mentor that was learned nearest to that progress."""
    folder = RunFolder(Results(out).working(table.cells[0].run) / "run").mentors
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    if not found:
        raise MentorNetError(
            f"{folder} holds no mentor: none that was learned in this run beat the predefined one"
        )
    return min(found, key=lambda path: abs(int(path.name.rpartition("-")[2]) - percent))
