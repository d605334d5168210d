"""Code that a config names as `module:factory`: a student or a method of the user's own.

Importing it runs it. A config that was read from a file may come from a stranger, so the user must
have named that code, or have said that the file is trusted.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from mentornet.config.groups import TrainConfig
from mentornet.config.toml_file import read_config
from mentornet.errors import MentorNetError, cut
from mentornet.plugins import is_factory

__all__ = ["check_code", "own_code", "read_trusted"]


def own_code(config: TrainConfig) -> dict[str, str]:
    """Return the student and the method of a config that are code of somebody's own, by setting.

    >>> from mentornet.config import MethodConfig, StudentConfig
    >>> own_code(TrainConfig("digits", student=StudentConfig("mynets:small")))
    {'student': 'mynets:small'}
    """
    named = {"student": config.student.student, "method": config.method.method}
    return {
        setting: name for setting, name in named.items() if name is not None and is_factory(name)
    }


def check_code(
    config: TrainConfig, path: Path, *, trust_code: bool, given: Collection[str] = ()
) -> None:
    """Raise if a config file names code that nobody has confirmed.

    Args:
        config: what the file holds.
        path: the file.
        trust_code: whether the user trusts the code that it names.
        given: settings that the user gives in place of those of the file: "student", "method".
    """
    for setting, name in own_code(config).items():
        if not trust_code and setting not in given:
            raise MentorNetError(
                f"{path} names code of its own, the {setting} {cut(name)!r}, which would run on "
                "your machine; if you trust it, set trust_code"
            )


def read_trusted(path: Path, *, trust_code: bool) -> TrainConfig:
    """Read the config of a run whose student or method will be made; see `check_code`."""
    config = read_config(path)
    check_code(config, path, trust_code=trust_code)
    return config
