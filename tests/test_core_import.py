"""The core needs torch, numpy and safetensors only."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys

sys.modules.update(dict.fromkeys({extras}))  # None there: the import fails as if not installed
import torch
{body}
"""

EXTRAS = {"tyro", "rich", "matplotlib", "scipy", "pandas", "pyarrow", "lightning", "sklearn"}


def run(body: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(extras=EXTRAS, body=body)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


def test_import_and_weigh_without_any_extra() -> None:
    done = run(
        "import mentornet\n"
        "z = mentornet.MentorFeatures.from_loss(torch.tensor([0.1, 9.0]), loss_level=1.0)\n"
        "v = mentornet.Mentor.from_pretrained('pd').weigh(z)\n"
        "assert v[0] > 0.99 and v[1] < 0.01, v\n"
        "mentornet.fit_curriculum(mentornet.make_mentor('mlp'), mentornet.make_curriculum('pd'),"
        " mentornet.enumerate_features(100), mentornet.FitConfig(steps=2))\n"
    )
    assert done.returncode == 0, done.stderr


def test_the_command_line_says_what_to_install() -> None:
    done = run("from mentornet.cli import main; sys.exit(main([]))")
    assert done.returncode == 2
    assert "tyro is not installed; install mentornet with its extra [all]" in done.stderr
    assert "Traceback" not in done.stderr


def test_commands_that_draw_nothing_need_no_matplotlib() -> None:
    body = (
        "for name in ('tyro', 'rich'): del sys.modules[name]\n"
        "from mentornet.cli import main\n"
        "sys.exit(main({words}))"
    )
    done = run(body.format(words=["mentors"]))
    assert done.returncode == 0, done.stderr
    done = run(body.format(words=["plot", "mentor", "pd"]))
    assert done.returncode == 2
    assert done.stderr.startswith("mentornet: matplotlib")
