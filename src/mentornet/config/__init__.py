"""All settings of a training run: typed groups, and their TOML file."""

from mentornet.config.groups import (
    FilesConfig,
    LabelsConfig,
    MachineConfig,
    MethodConfig,
    OptimiserConfig,
    Precision,
    StudentConfig,
    TrainConfig,
)
from mentornet.config.own_code import check_code, own_code, read_trusted
from mentornet.config.toml_file import changed, differences, read_config, to_toml, write_config

__all__ = [
    "FilesConfig",
    "LabelsConfig",
    "MachineConfig",
    "MethodConfig",
    "OptimiserConfig",
    "Precision",
    "StudentConfig",
    "TrainConfig",
    "changed",
    "check_code",
    "differences",
    "own_code",
    "read_config",
    "read_trusted",
    "to_toml",
    "write_config",
]
