"""What the page shows of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mentornet.audit.run_contents import surfaces_of
from mentornet.config import MethodConfig, TrainConfig, write_config
from mentornet.mentors import make_mentor
from mentornet.training import RunFolder
from mentornet.weighting.learning import LearnedMentor


@pytest.mark.parametrize("name", ["second", "1-at-99"])
def test_when_a_mentor_was_learned_is_not_read_from_its_folders_name(
    tmp_path: Path, name: str
) -> None:
    run = RunFolder(tmp_path)
    write_config(run.config, TrainConfig("digits", method=MethodConfig("mentornet-dd")))
    run.write_mentors(
        {
            name if n == 2 else f"{n}": LearnedMentor(make_mentor("mlp"), 7 * n, n)
            for n in range(1, 12)
        }
    )
    (run.mentors / "notes").mkdir()
    titles = [surface.title for surface in surfaces_of(run)]
    assert titles == [f"at {7 * n} %" for n in range(1, 12)]
