"""Errors of code that the user wrote: a student or a method given as `module:factory`."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import mentornet

__all__ = ["lines_of_own_code", "report_of_own_code"]


def lines_of_own_code(error: BaseException | None) -> list[str]:
    """The lines of the user's code that led to an error, innermost last; none for other errors."""
    if error is None:
        return []
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame)]
    return [line.rstrip() for line in traceback.format_list(frames)]


def report_of_own_code(error: BaseException) -> str | None:
    """What to print about an error that the user's own code raised, or None if it did not.

    The first line names the file and the error. The lines of the user's code that led there follow,
    without those of this library and of torch.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame)]
    if not frames:
        return None
    last = frames[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}, in {last.name}"
    said = f"{error}".partition("\n")[0]
    heading = f"your own code failed: {type(error).__name__}: {said} ({place})"
    return "\n".join([heading, *(line.rstrip() for line in traceback.format_list(frames))])


def _is_own(frame: traceback.FrameSummary) -> bool:
    """Whether the line is neither of this library nor of an installed one."""
    if frame.filename.startswith("<"):
        return False
    file = Path(frame.filename).resolve()
    installed = {Path(sysconfig.get_paths()[kind]).resolve() for kind in _INSTALLED}
    installed.add(Path(mentornet.__file__).parent.resolve())
    return not any(file.is_relative_to(folder) for folder in installed)


_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
