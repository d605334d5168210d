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
    "differences",
    "read_config",
    "to_toml",
    "write_config",
]
