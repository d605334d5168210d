"""All settings of a training run, as typed groups, and their TOML file.

`None` stands for "what suits the data": `training.recipes` fills it in before work starts, so
the config that is stored with a run has no such gaps.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from mentornet.errors import MentorNetError
from mentornet.files import write_text
from mentornet.names import check_keys

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

Choice = Literal["auto", "on", "off"]
Precision = Literal["auto", "32", "bf16"]


@dataclass(frozen=True)
class FilesConfig:
    """Where the data is, and how it is read."""

    folder: str | None = None
    """Folder with the files of a named dataset; by default MENTORNET_DATA or the cache."""

    mirror: str | None = None
    """Where CIFAR is downloaded from, if not from its home: an address, a folder or the archive."""

    image_size: int | None = None
    """Height and width that images are resized to; by default the median of their shorter sides,
    within 8 to 224, and 299 for streamed images."""

    stream: bool = False
    """Leave the images of a folder or a table in their files, and decode a view of each when its
    step comes, as Inception is trained. ImageNet and WebVision are always streamed."""

    imagenet: str | None = None
    """Folder of ImageNet, to evaluate students of WebVision on its validation images too; imagenet
    stands for the one in MENTORNET_DATA."""

    skip_bad: bool = False
    """Continue without images that cannot be decoded, and list them."""

    limit: int | None = None
    """Train on only this many samples, drawn at random."""

    validation: float | None = None
    """Hold out this share of the training samples, with their given labels, and choose the best
    epoch by them."""


@dataclass(frozen=True)
class LabelsConfig:
    """What is wrong with the labels, and what is known to be right."""

    noise: str | None = None
    """Corrupt the labels: uniform:0.4, symmetric:, pairflip:, asymmetric: or instance:RATE,
    transition:FILE, labels:FILE:KEY, or human:KEY for CIFAR-N's."""

    verdicts: tuple[str, ...] = ()
    """CSV files of what people said of labels, such as an audit's page writes; the last file that
    names a sample counts. A row has index or path, and decision (keep, relabel or drop) with label,
    or is_correct, true_label or both. Some methods learn from verdicts; for the others, relabel
    changes the label, drop leaves the sample out, and keep changes nothing."""

    clean_count: int | None = None
    """Draw this many samples at random and take their true labels, where these are known, for a
    person's verdicts."""


@dataclass(frozen=True)
class StudentConfig:
    """The classifier that is trained."""

    student: str | None = None
    """Name of a student, or `module:factory` for one of your own."""

    width: int | None = None
    """How wide the student is, for students that have a width."""

    depth: int | None = None
    """Number of layers of the student, for students that have a depth."""

    dropout: float | None = None
    """Share of the student's last features that is dropped."""

    @property
    def sizes(self) -> dict[str, Any]:
        """What was said of its sizes, as `make_student` takes them."""
        sizes = {"width": self.width, "depth": self.depth, "dropout": self.dropout}
        return {name: value for name, value in sizes.items() if value is not None}


@dataclass(frozen=True)
class MethodConfig:
    """How the student is supervised."""

    method: str | None = None
    """Name of a method, or `module:factory` for one of your own."""

    set: tuple[str, ...] = ()
    """The method's own settings, as key=value; a misspelt key lists all of them."""


@dataclass(frozen=True)
class OptimiserConfig:
    """SGD with momentum, and its schedule."""

    epochs: int | None = None
    """How often each image is seen."""

    steps: int | None = None
    """Stop after this many steps, in place of --epochs."""

    batch_size: int | None = None
    """Number of samples in a step, at most; all batches of an epoch have the same size."""

    learning_rate: float | None = None
    """The highest learning rate."""

    schedule: Literal["cosine", "linear", "steps", "constant"] = "cosine"
    """How the learning rate falls after the warm-up."""

    warm_up: float = 0.1
    """Share of training in which the learning rate rises from 0."""

    drops: tuple[float, ...] = (0.5, 0.64, 0.77)
    """With --schedule steps: at which shares of training the rate falls to a tenth."""

    momentum: float = 0.9
    """Of SGD."""

    nesterov: bool = True
    """Nesterov's momentum; --no-nesterov for the plain one of the paper."""

    weight_decay: float | None = None
    """θ₀; a method with weights uses θ₀ · mean(v) of the batch."""

    augment: bool | None = None
    """Random windows and, for colour images, flips."""

    padding: int | None = None
    """Pixels added to each side before a window is cut out; 4 in the paper."""

    accumulate: int | None = None
    """Work through each batch in this many parts, for less memory: --batch-size 512 --accumulate 4
    holds what 128 images need; by default in one."""

    evaluate_every: int = 1
    """Judge the student after every so many epochs, and after the last; the best is of these."""


@dataclass(frozen=True)
class MachineConfig:
    """How the run uses the machine. None of it changes what is computed, but for rounding."""

    accelerator: str = "auto"
    """cpu, cuda, mps or auto."""

    precision: Precision = "auto"
    """bf16 autocast, where it is faster here."""

    channels_last: Choice = "auto"
    """The memory order that suits convolutions."""

    compile: Choice = "auto"
    """Compile the student, where that is faster here and the run is long enough."""

    workers: int | None = None
    """Processes that decode images which are streamed; by default one for each core but one, 8 at
    most."""

    checkpoint_seconds: float = 30.0
    """Write a checkpoint when an epoch ends and the last one is at least this old."""

    tensorboard: bool = False
    """Write RUN/tensorboard too."""


@dataclass(frozen=True)
class TrainConfig:
    """A training run, whole."""

    data: str
    """The name of a dataset, or the path of a folder of images or shards, or of a CSV or Parquet
    file."""

    seed: int = 0
    files: FilesConfig = field(default_factory=FilesConfig)
    labels: LabelsConfig = field(default_factory=LabelsConfig)
    student: StudentConfig = field(default_factory=StudentConfig)
    method: MethodConfig = field(default_factory=MethodConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    machine: MachineConfig = field(default_factory=MachineConfig)

    def __post_init__(self) -> None:
        optimiser = self.optimiser
        for name, value, least in (
            ("epochs", optimiser.epochs, 1),
            ("steps", optimiser.steps, 1),
            ("batch_size", optimiser.batch_size, 1),
            ("accumulate", optimiser.accumulate, 1),
            ("evaluate_every", optimiser.evaluate_every, 1),
            ("padding", optimiser.padding, 0),
            ("image_size", self.files.image_size, 1),
            ("limit", self.files.limit, 2),
            ("clean_count", self.labels.clean_count, 1),
            ("width", self.student.width, 1),
            ("depth", self.student.depth, 1),
            ("workers", self.machine.workers, 0),
        ):
            if value is not None and value < least:
                raise MentorNetError(f"{name} must be ≥ {least}, got {value}")
        if optimiser.learning_rate is not None and not 0 < optimiser.learning_rate < float("inf"):
            raise MentorNetError(f"learning_rate must be > 0, got {optimiser.learning_rate:g}")
        if optimiser.weight_decay is not None and not 0 <= optimiser.weight_decay < float("inf"):
            raise MentorNetError(f"weight_decay must be ≥ 0, got {optimiser.weight_decay:g}")
        if self.files.validation is not None and not 0 < self.files.validation < 1:
            raise MentorNetError(f"validation must be in (0, 1), got {self.files.validation:g}")
        if self.student.dropout is not None and not 0 <= self.student.dropout < 1:
            raise MentorNetError(f"dropout must be in [0, 1), got {self.student.dropout:g}")
        if not 0 <= optimiser.warm_up < 1:
            raise MentorNetError(f"warm_up must be a share in [0, 1), got {optimiser.warm_up:g}")
        if not 0 <= optimiser.momentum < 1:
            raise MentorNetError(f"momentum must be in [0, 1), got {optimiser.momentum:g}")
        if optimiser.nesterov and optimiser.momentum == 0:
            raise MentorNetError("nesterov needs a momentum above 0; switch nesterov off")
        if not 0 <= self.machine.checkpoint_seconds < float("inf"):
            raise MentorNetError(
                f"checkpoint_seconds must be ≥ 0, got {self.machine.checkpoint_seconds:g}"
            )
        if list(optimiser.drops) != sorted(optimiser.drops) or not all(
            0 < share < 1 for share in optimiser.drops
        ):
            raise MentorNetError(f"drops must be rising shares in (0, 1), got {optimiser.drops}")
        if optimiser.epochs is not None and optimiser.steps is not None:
            raise MentorNetError("give epochs or steps, not both")
        if not 0 <= self.seed < 2**63:
            raise MentorNetError(f"seed must be in 0 … 2⁶³ − 1, got {self.seed}")


def to_toml(config: TrainConfig) -> str:
    """The config as TOML: plain keys first, then a table a group; what is None is left out."""
    tables = asdict(config)
    lines = [_line(key, value) for key, value in tables.items() if not isinstance(value, dict)]
    for key, table in tables.items():
        if isinstance(table, dict):
            given = [_line(name, value) for name, value in table.items() if value is not None]
            lines += ["", f"[{key}]", *given]
    return "\n".join(lines) + "\n"


def changed(config: TrainConfig) -> dict[str, Any]:
    """Only the settings that are not at their default, as `group.name`.

    It stays the same when later versions have more settings.
    """
    defaults = dict(_flat(TrainConfig(config.data)))
    return {name: value for name, value in _flat(config) if value != defaults[name]}


def write_config(path: Path, config: TrainConfig) -> None:
    """Put the config at `path` in one move."""
    write_text(path, to_toml(config))


def read_config(path: Path) -> TrainConfig:
    """The config in a TOML file; what it leaves out has its default."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MentorNetError(f"{path} is not TOML: {error}") from None
    if "data" not in content:
        raise MentorNetError(f'{path} must say which data, as in data = "digits"')
    try:
        return _build(TrainConfig, content, "the config")
    except MentorNetError as error:
        raise MentorNetError(f"{path}: {error}") from None


def differences(one: TrainConfig, other: TrainConfig) -> list[str]:
    """Where two configs differ, one line each."""
    flat_one, flat_other = dict(_flat(one)), dict(_flat(other))
    return [
        f"{key} is {value!r}, not {flat_other[key]!r}"
        for key, value in flat_one.items()
        if flat_other[key] != value
    ]


def _flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for part in fields(config):
        value = getattr(config, part.name)
        if is_dataclass(value):
            yield from _flat(value, f"{prefix}{part.name}.")
        else:
            yield prefix + part.name, value


def _line(key: str, value: object) -> str:
    if isinstance(value, tuple):
        value = list(value)
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _build(kind: Any, content: Mapping[str, Any], where: str) -> Any:
    """A dataclass from a table, every key known and every value of its type."""
    hints = get_type_hints(kind)
    check_keys(content, hints, f"{where} has no key")
    values = {}
    for key, value in content.items():
        if is_dataclass(hints[key]):
            if not isinstance(value, dict):
                raise MentorNetError(f"{key} must be a table, [{key}], got {value!r}")
            values[key] = _build(hints[key], value, f"[{key}]")
        else:
            values[key] = _value(hints[key], value, key)
    return kind(**values)


def _value(hint: Any, value: Any, key: str) -> Any:
    origin, choices = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in choices:
            raise MentorNetError(f"{key} must be one of {', '.join(choices)}, got {value!r}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise MentorNetError(f"{key} must be a list, got {value!r}")
        return tuple(_value(choices[0], part, key) for part in value)
    kinds = [choice for choice in choices or (hint,) if choice is not NoneType]
    expected = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    for kind in kinds:
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
    raise MentorNetError(f"{key} must be {expected[kinds[0]]}, got {value!r}")
