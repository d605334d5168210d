"""All settings of a training run, in typed groups.

`None` means "choose a value that suits the data". A preset (`training.presets`) and then a recipe
(`training.recipes`) replace it before training starts, so the config that is stored with a run is
complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from mentornet.errors import MentorNetError, short

__all__ = [
    "FilesConfig",
    "LabelsConfig",
    "MachineConfig",
    "MethodConfig",
    "OptimiserConfig",
    "Precision",
    "StudentConfig",
    "TrainConfig",
]

Choice = Literal["auto", "on", "off"]
Optimiser = Literal["sgd", "adamw"]
Schedule = Literal["cosine", "linear", "steps", "constant"]
Precision = Literal["auto", "32", "bf16"]

_LARGEST_RATE = 1e38  # larger ones are no float32


@dataclass(frozen=True)
class FilesConfig:
    """Where the data is, and how it is read.

    Attributes:
        folder: Folder with the files of a named dataset; by default MENTORNET_DATA or the cache.
        mirror: Where to get CIFAR instead of its home page: an address, a folder or the archive
            itself.
        image_size: Height and width that images are resized to; by default the median of their
            shorter sides, but at least 8 and at most 224, and 299 with --stream.
        stream: Decode the images of a folder or a table in each epoch, as random crops, instead of
            loading them all into memory. Images that do not fit into memory, ImageNet and WebVision
            are always streamed.
        imagenet: Folder of ImageNet, to evaluate a student of WebVision on its validation images
            too; "imagenet" is the folder in MENTORNET_DATA.
        skip_bad: Continue without the images that cannot be decoded, and list them.
        limit: Train on only this many samples, drawn at random, for a quick try. Of the test
            samples, as many are drawn, but at least 1000.
        text: Column of a table with the texts to learn from; by default the only one that reads
            like text.
        label: Column of a table with the labels; by default label or given_label.
        labels: File with the labels of vectors: .npy, or .csv, .parquet or .npz with a column
            label.
        validation: Hold out this share of the training samples, with their given labels, and choose
            the best epoch by them.
    """

    folder: str | None = None
    mirror: str | None = None
    image_size: int | None = None
    stream: bool = False
    imagenet: str | None = None
    skip_bad: bool = False
    limit: int | None = None
    text: str | None = None
    label: str | None = None
    labels: str | None = None
    validation: float | None = None


@dataclass(frozen=True)
class LabelsConfig:
    """The noise of the labels, and verdicts on them.

    Attributes:
        noise: Corrupt the labels: uniform:RATE (such as uniform:0.4), symmetric:RATE,
            pairflip:RATE, asymmetric:RATE, instance:RATE, transition:FILE, labels:FILE:KEY, or
            human:KEY for CIFAR-N.
        verdicts: CSV files of verdicts on labels, such as an audit's page writes; the last file
            that names a sample counts. A row has index or path, and decision (keep, relabel or
            drop) with label, or is_correct, true_label or both. Some methods learn from verdicts;
            for the others, relabel changes the label, drop leaves the sample out, and keep changes
            nothing.
        clean_count: Draw this many samples at random, and make verdicts from their true labels,
            which the data must have. They are used like those of a file.
    """

    noise: str | None = None
    verdicts: tuple[str, ...] = ()
    clean_count: int | None = None


@dataclass(frozen=True)
class StudentConfig:
    """The classifier that is trained.

    Attributes:
        student: Name of a student, `hf:FOLDER` or `timm:NAME` for a pretrained one, or
            `module:factory` for one of your own; by default one that suits the data.
        width: Channels of the student's first block (small-cnn, fast; by default 32), the factor
            of its 16, 32 and 64 channels (resnet; by default 1), or units of each hidden layer
            (mlp; by default 256).
        depth: Number of layers of the student (resnet: 8, 14, 20, …; by default 20), or of its
            hidden layers (mlp; by default 2).
        dropout: Share of the student's last features that is dropped in training, in [0, 1).
        freeze: Train only a new last layer of a pretrained student, on features that are computed
            once; by default for at most 10,000 samples. If not, the whole network is fine-tuned.
    """

    student: str | None = None
    width: int | None = None
    depth: int | None = None
    dropout: float | None = None
    freeze: bool | None = None

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes that are given, as arguments of `make_student`."""
        sizes = {"width": self.width, "depth": self.depth, "dropout": self.dropout}
        return {name: value for name, value in sizes.items() if value is not None}


@dataclass(frozen=True)
class MethodConfig:
    """The method that trains the student, and its settings."""

    method: str | None = None
    """Name of a method, or `module:factory` for one of your own."""

    set: tuple[str, ...] = ()
    """Settings of the method as key=value, such as burn_in=0.1; an unknown key lists all keys."""


@dataclass(frozen=True)
class OptimiserConfig:
    """The optimiser, its schedule, and the batches.

    Attributes:
        optimiser: What makes the steps: sgd with momentum, or adamw, the default for a pretrained
            student that is fine-tuned.
        head_rate: Factor of the learning rate for the new last layer of a pretrained student that
            is fine-tuned; by default 10.
        epochs: Number of passes over the training samples; by default a number that suits the data.
        steps: Number of steps of training, instead of epochs.
        batch_size: Largest number of samples in a step; all batches of an epoch have the same
            size (±1).
        learning_rate: Learning rate after the warm-up, which is the highest.
        schedule: How the learning rate falls after the warm-up, by default cosine; steps falls at
            each of drops.
        warm_up: Share of training in which the learning rate rises from 0 to its highest value; by
            default 0.1.
        drops: Shares of training at which schedule steps divides the learning rate by 10; by
            default 0.5, 0.64 and 0.77.
        momentum: Momentum of SGD, in [0, 1); by default 0.9.
        nesterov: Use Nesterov's momentum, as by default; the paper uses plain momentum.
        weight_decay: Weight decay θ₀; a method that weights samples uses θ₀ · mean(v) of the batch.
        decayed: What weight decay shrinks: only the weights of convolutions and linear layers, or
            all parameters, so biases and batch norm too; by default weights for the students of the
            paper (inception, resnet101, inception-resnet-v2), as in the authors' code, else all.
        augment: Augment images by random crops and, if they have colours, by flips.
        padding: Number of pixels added to each side of an image before a random crop; 4 in the
            paper.
        accumulate: Split each batch into this many parts to save memory, by default 1. With 4
            parts, a batch of 512 images needs the memory of 128.
        evaluate_every: Number of epochs between two evaluations of the student; the last epoch has
            one too.
    """

    optimiser: Optimiser | None = None
    head_rate: float | None = None
    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    schedule: Schedule | None = None
    warm_up: float | None = None
    drops: tuple[float, ...] | None = None
    momentum: float | None = None
    nesterov: bool | None = None
    weight_decay: float | None = None
    decayed: Literal["weights", "all"] | None = None
    augment: bool | None = None
    padding: int | None = None
    accumulate: int | None = None
    evaluate_every: int = 1


@dataclass(frozen=True)
class MachineConfig:
    """How the run uses the machine. These settings change the result only by rounding.

    Attributes:
        accelerator: Device to train on: cpu, cuda, mps, or auto for the best one that is there.
        precision: Train in float32 or with bf16 autocast; auto takes the one that is faster here.
        channels_last: Store images with channels last; auto does so if it is faster here.
        compile: Compile the student; auto does so if it is faster here and the run is long enough.
        workers: Number of processes that decode streamed images; by default one less than there are
            cores, and at most 8.
        checkpoint_seconds: Write a checkpoint after an epoch if the last one is at least this many
            seconds old.
        tensorboard: Also write a TensorBoard log, to RUN/tensorboard.
    """

    accelerator: str = "auto"
    precision: Precision = "auto"
    channels_last: Choice = "auto"
    compile: Choice = "auto"
    workers: int | None = None
    checkpoint_seconds: float = 30.0
    tensorboard: bool = False


@dataclass(frozen=True)
class TrainConfig:
    """All settings of a training run.

    Attributes:
        data: Name of a dataset, or path of a folder of images, of a folder of shards, or of a CSV,
            Parquet, .npz or .npy file.
        preset: Name of a preset, such as paper: it sets everything that is not set here.
    """

    data: str
    seed: int = 0
    files: FilesConfig = field(default_factory=FilesConfig)
    labels: LabelsConfig = field(default_factory=LabelsConfig)
    student: StudentConfig = field(default_factory=StudentConfig)
    method: MethodConfig = field(default_factory=MethodConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    machine: MachineConfig = field(default_factory=MachineConfig)
    preset: str | None = None

    def __post_init__(self) -> None:
        optimiser = self.optimiser
        for name, value, least, most in (
            ("epochs", optimiser.epochs, 1, 10**6),
            ("steps", optimiser.steps, 1, 10**9),
            ("batch_size", optimiser.batch_size, 1, 10**9),
            ("accumulate", optimiser.accumulate, 1, 10**6),
            ("evaluate_every", optimiser.evaluate_every, 1, 10**6),
            ("padding", optimiser.padding, 0, 10**4),
            ("image_size", self.files.image_size, 1, 10**4),
            ("limit", self.files.limit, 2, 10**12),
            ("clean_count", self.labels.clean_count, 1, 10**12),
            ("width", self.student.width, 1, 10**5),
            ("depth", self.student.depth, 1, 10**4),
            ("workers", self.machine.workers, 0, 1024),
        ):
            if value is not None and value < least:
                raise MentorNetError(f"{name} must be ≥ {least}, got {short(value)}")
            if value is not None and value > most:
                raise MentorNetError(f"{name} must be at most {most}, got {short(value)}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Raise if a setting that is not a count is out of its range."""
        optimiser = self.optimiser
        for name, rate, above in (
            ("learning_rate", optimiser.learning_rate, "> 0"),
            ("head_rate", optimiser.head_rate, "> 0"),
            ("weight_decay", optimiser.weight_decay, "≥ 0"),
        ):
            if rate is not None and not (rate > 0 or (rate == 0 and "≥" in above)):
                raise MentorNetError(f"{name} must be {above}, got {rate:g}")
            if rate is not None and rate > _LARGEST_RATE:
                raise MentorNetError(f"{name} must be at most {_LARGEST_RATE:g}, got {rate:g}")
        if self.files.validation is not None and not 0 < self.files.validation < 1:
            raise MentorNetError(f"validation must be in (0, 1), got {self.files.validation:g}")
        if self.student.dropout is not None and not 0 <= self.student.dropout < 1:
            raise MentorNetError(f"dropout must be in [0, 1), got {self.student.dropout:g}")
        if optimiser.warm_up is not None and not 0 <= optimiser.warm_up < 1:
            raise MentorNetError(f"warm_up must be a share in [0, 1), got {optimiser.warm_up:g}")
        if optimiser.momentum is not None and not 0 <= optimiser.momentum < 1:
            raise MentorNetError(f"momentum must be in [0, 1), got {optimiser.momentum:g}")
        if optimiser.nesterov and optimiser.momentum == 0:
            raise MentorNetError("nesterov is true and needs a momentum above 0; set it to false")
        if not 0 <= self.machine.checkpoint_seconds < float("inf"):
            raise MentorNetError(
                f"checkpoint_seconds must be ≥ 0, got {self.machine.checkpoint_seconds:g}"
            )
        drops = optimiser.drops or ()
        if list(drops) != sorted(drops) or not all(0 < share < 1 for share in drops):
            raise MentorNetError(f"drops must be rising shares in (0, 1), got {drops}")
        if optimiser.epochs is not None and optimiser.steps is not None:
            raise MentorNetError("give epochs or steps, not both")
        if not 0 <= self.seed < 2**63:
            raise MentorNetError(f"seed must be in 0 … 2⁶³ − 1, got {self.seed}")
