"""Write the folder of a mentor: either completely, or not at all."""

from __future__ import annotations

import glob
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from mentornet.errors import MentorNetError
from mentornet.files import write_text
from mentornet.mentors.cards import CARD, PAGE, Card, LearnedCard, write_card
from mentornet.mentors.mentor import Mentor
from mentornet.mentors.store import CONFIG, PRETRAINED, WEIGHTS

__all__ = ["RECORD", "RUN", "check_out", "write_folder"]

RECORD = "record.json"
RUN = "run.toml"
FILES = {CARD, CONFIG, PAGE, RECORD, RUN, WEIGHTS}
"""The files that are written, and that may be overwritten."""


def check_out(out: Path, *, overwrite: bool) -> None:
    """Raise if no mentor could be written there."""
    if not out.name:
        raise MentorNetError(f"--out must name a folder of its own, got {str(out)!r}")
    for above in (out, *out.parents):
        if above.exists() and not above.is_dir():
            raise MentorNetError(f"--out must be a folder, but {above} is a file")
    _recover(out)
    _try_writing(next(above for above in (out, *out.parents) if above.exists()))
    if not out.is_dir():
        return
    found = {path.name for path in out.iterdir()}
    if found and not overwrite:
        raise MentorNetError(f"{out} is not empty; choose another folder, or add --overwrite")
    if found - FILES:
        raise MentorNetError(
            f"{out} holds more than a mentor ({min(found - FILES)}), which --overwrite "
            "would delete; choose another folder"
        )


def write_folder(
    out: Path, mentor: Mentor, card: Card | LearnedCard, others: Mapping[str, str]
) -> None:
    """Write the folder at once; if that fails, what was there before stays.

    Args:
        out: the folder.
        mentor: the mentor to save.
        card: its card.
        others: the text of further files, by name.
    """
    ships = out.resolve().parent == PRETRAINED
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as made:
        whole, before = Path(made) / "mentor", Path(made) / "before"
        mentor.save_pretrained(whole)
        write_card(card, mentor, whole, out.name if ships else out.as_posix())
        for name, text in others.items():
            write_text(whole / name, text)
        if out.exists():
            out.rename(before)
        try:
            whole.rename(out)
        except OSError:
            if before.exists():
                before.rename(out)
            raise


def _recover(out: Path) -> None:
    """Undo what a process that was killed in `write_folder` has left beside `out`.

    That process writes for a moment only, so folders that are a second old are not in use.
    """
    for left in out.parent.glob(f".{glob.escape(out.name)}.*") if out.parent.is_dir() else ():
        before = left / "before"
        ours = left.is_dir() and {path.name for path in left.iterdir()} <= {"mentor", "before"}
        if left.is_symlink() or not ours or time.time() - left.stat().st_mtime < 1:
            continue
        if before.exists() and not out.exists():
            before.rename(out)
        shutil.rmtree(left, ignore_errors=True)


def _try_writing(folder: Path) -> None:
    """Raise the system's own error if nothing can be written there."""
    with tempfile.TemporaryFile(dir=folder):
        pass
