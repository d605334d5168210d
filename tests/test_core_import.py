"""The core needs torch, numpy and safetensors only."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import mentornet
from mentornet.cli.commands import COMMANDS

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


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["tarin"], []])
def test_the_overview_imports_next_to_nothing(words: list[str]) -> None:
    """What takes seconds is torch; without it, and without tyro and rich, help comes at once."""
    program = (
        f"import sys; from mentornet.cli import main; main({words}); "
        "print(*sys.modules, file=sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"torch", "numpy", "tyro", "rich"}
    assert len(loaded) < 150


def test_no_help_imports_what_trains() -> None:
    """Torch takes a second to import, and its compiler, sympy and others take another."""
    program = (
        "import sys; from mentornet.cli import main\n"
        "for name in sys.argv[1:]:\n"
        "    try: main([name, '--help'])\n"
        "    except SystemExit: pass\n"
        "    print('loaded after', name, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *COMMANDS], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("loaded after")]
    assert [line[2] for line in lines] == list(COMMANDS)
    slow = {"lightning_fabric", "matplotlib", "pandas", "sklearn", "transformers", "scipy"}
    slow |= {"torch._dynamo", "sympy", "pyarrow", "PIL.Image", "tensorboard", "cleanlab"}
    for _, _, name, *loaded in lines:
        assert "tyro" in loaded
        assert not slow & set(loaded), name


def test_every_public_name_is_there_and_lazy() -> None:
    for name in mentornet.__all__:
        assert getattr(mentornet, name) is not None
        assert name in dir(mentornet)
    assert mentornet.MentorLoss is mentornet.weighting.MentorLoss
    with pytest.raises(AttributeError, match="module 'mentornet' has no attribute 'MentorLos'"):
        mentornet.MentorLos  # noqa: B018


def test_the_overview_says_what_each_command_says() -> None:
    for name, entry in COMMANDS.items():
        about = inspect.getdoc(entry.load()) or ""
        assert " ".join(about.partition("\n\n")[0].split()) == entry.summary, name


def test_the_command_line_says_what_to_install() -> None:
    done = run("from mentornet.cli import main; sys.exit(main(['mentors']))")
    assert done.returncode == 2
    assert done.stderr == "mentornet: rich is not installed; pip install 'mentornet[cli]'\n"
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
    said = "mentornet: matplotlib is not installed; pip install 'mentornet[cli,plot]'\n"
    assert done.stderr == said
