"""Our own benchmark: MentorNet beside what people would pick today, at small scale.

Four tables. `benchmark` has every method of the paper and every comparator on 10,000 images;
`full-size` the main ones on all 50,000; `transfer` takes mentors from CIFAR-10 to CIFAR-100;
`human` has the labels that people gave. Everything that is tuned is tuned as `Tuning` says, on
labels as noisy as those trained on. The best epoch is that of every fourth, which are judged; early
stopping looks at all.
"""

from __future__ import annotations

from dataclasses import replace

from mentornet.config import (
    FilesConfig,
    LabelsConfig,
    MethodConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.experiments.cells import HELD_OUT, Cell, Run, Scale, Table, Tuning
from mentornet.experiments.paper_tables import (
    NOISES,
    ROWS,
    SMALL,
    SMALL_IMAGES,
    SMALL_TRIAL,
    SMALL_VERIFIED,
    run_for,
    small_config,
)
from mentornet.methods import make_method
from mentornet.methods.mentornet_dd import AS_IN_THE_PAPER

__all__ = ["benchmark", "full_size", "human", "transfer"]

_CLASSES = {"cifar10": 10, "cifar100": 100}
_THREE = ("full-model", "mentornet-pd", "mentornet-dd", "elr", "mentormix", "oracle")
"""Rows of three seeds; and at 0.4, DD on its way from the paper's to ours."""
_ONLY_AT = {
    "mentornet-pd paper": ("0.4",),
    "mentornet-pd wider": ("0.2",),
    "mentornet-dd sharp": ("0.2", "0.4"),
    "mentor-bootstrap mixup": ("0.4",),
    "mentor-bootstrap auto": ("0.4",),
}
"""Rows beside the point, not at every fraction."""
_THREE_AT = {"0.4": ("mentornet-dd soft", "mentornet-dd sharp")}


def benchmark(scale: Scale) -> Table:  # noqa: ARG001  there is one scale
    """10,000 images of CIFAR-10 under three noise fractions, all methods."""
    cells = []
    for method in ("full-model", *_OURS, *_OTHERS, "oracle"):
        for noise in _ONLY_AT.get(method, NOISES):
            config = small_config("cifar10", noise)
            seeds = 3 if method in (*_THREE, *_THREE_AT.get(noise, ())) else None
            if method == "early-stopping":
                files = replace(config.files, validation=HELD_OUT)
                watched = replace(config.optimiser, evaluate_every=1)
                run = Run(replace(config, files=files, optimiser=watched))
                cells.append(Cell(method, noise, run, "accuracy_best"))
            elif method == _RIGHT_ALONE:
                cells.append(Cell(method, noise, _right_alone(config)))
            elif method in _OTHERS:
                run = _other(method, config, float(noise))
                cells.append(Cell(method, noise, run, seeds=seeds))
            else:
                cells.append(Cell(method, noise, run_for(method, "small", config), seeds=seeds))
    return Table(
        "benchmark",
        "CIFAR-10, 10,000 images, uniform noise",
        tuple(cells),
        note=(
            "Uniform noise replaces labels by any class, so of a fraction p only 0.9 p are wrong. "
            "Everybody has the same student, schedule and augmentation. DD's settings were found "
            "in trials with the first seed, by accuracy on test images, so look at the other "
            "seeds for how far they carry; what the paper tunes is tuned on noisy labels, see "
            "below; methods of others have their authors' settings for CIFAR-10 but for what their "
            "row says, and those train many times as long."
        ),
        about=_ABOUT,
    )


_ABOUT = {
    "full-model": "plain training",
    "forgetting": "plain training with dropout; tuned",
    "self-paced": "learns what is below a percentile of the losses, after a tenth of training in "
    "which it learns all; tuned",
    "focal": "focal loss; tuned",
    "reed-soft": "the student's own prediction is part of the target; tuned",
    "reed-hard": "the same with its predicted class; tuned",
    "goldberger": "a noise layer behind the student, which starts from a rate of 0.1; not tuned",
    "spade": "Algorithm 1 with PD's G in place of a mentor; losses are smoothed (0.8), all is "
    "learned for a tenth of training; tuned over two percentiles, at 0.2 over higher ones",
    "mentornet-pd": "the predefined mentor; smoothed and started like spade; tuned over four "
    "percentiles up to 0.75",
    "mentornet-auto": "the predefined mentor, told nothing: it estimates the noise rate",
    "mentornet-dd": "a mentor learned in the run from 1,000 verified samples, 17 times; losses are "
    "smoothed as above; from 0.3 of training on its weights are decisions, near 0 or 1, as far as "
    "it can tell; the student is taught the right labels of the verified samples; the mentor does "
    "not read labels",
    "full-model tuned": "plain training whose epochs and weight decay are tuned, in trials of full "
    "length",
    "early-stopping": "plain training at the epoch that a tenth of the images, held out with their "
    "noisy labels, likes best",
    "self-paced paper": "self-paced that selects from the first step, as the paper has it: the "
    "losses of a student that knows nothing can then shut out whole classes for good; tuned",
    "mentornet-pd wider": "mentornet-pd with 0.85 among its percentiles, beyond the share of right "
    "labels",
    "mentornet-pd paper": "PD as in the paper: losses not smoothed, for a fifth of training half "
    "the samples are dropped; tuned",
    "mentornet-dd paper": "DD as in the paper: started like that, two updates, nothing verified is "
    "taught; but with 1,000 verified samples, not 5,000, and a mentor that does not read labels",
    "mentornet-dd soft": "on the way to ours: smoothed, 17 updates; its weights stay probabilities "
    "and nothing verified is taught",
    "mentornet-dd sharp": "on the way to ours: the same, with weights that become decisions by the "
    "end of training",
    "verified": "plain training with the 1,000 verified labels put right",
    "1,000 right labels": "plain training on 1,000 clean images and nothing else, in as many "
    "steps: the same at all fractions",
    "mentor-bootstrap": "ours: every sample is learned, towards v · label + (1 − v) · the "
    "student's smoothed own prediction; v from DD's mentor; verified labels are taught",
    "mentor-bootstrap untaught": "the same with nothing verified taught",
    "mentor-bootstrap mixup": "mentor-bootstrap on blended pairs of images",
    "mentor-bootstrap auto": "mentor-bootstrap told nothing: v is that of mentornet-auto",
    "gce": "generalised cross-entropy, q = 0.7",
    "sce": "symmetric cross-entropy, α = 0.1, β = 1, A = log 0.0001",
    "elr": "early-learning regularisation, λ = 3",
    "co-teaching": "two students, each learns what the other finds easy; told the noise rate; what "
    "is left out rises over a tenth of training (its authors': 10 of 200 epochs)",
    "mentormix": "mixup led by self-paced weights, as its paper has them; percentile, α and "
    "whether blends are weighed as its authors' commands have them for each noise fraction, the "
    "moving average (0.95) and the burn-in (a tenth) as ours",
    "cleanlab-prune": "leaves out what cleanlab finds by cross-validation of four students of half "
    "the length, then trains plainly",
    "oracle": "told which labels are right; the others have weight 0 in the same batches",
}
"""What the rows are, and what they know."""


_OURS = tuple(name for name in ROWS if name not in ("full-model", "oracle"))

_RIGHT_ALONE = "1,000 right labels"
_UNTAUGHT = ("decided_by=1", "teaches_verified=false")
_SOFT = (*_UNTAUGHT, "sharpness=0")

_OTHERS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]] = {
    "full-model tuned": (
        (),
        (
            ("optimiser.epochs=10",),
            ("optimiser.epochs=20",),
            ("optimiser.epochs=20", "optimiser.weight_decay=0.002"),
        ),
    ),
    "early-stopping": ((), ()),
    "self-paced paper": (("burn_in=0",), ROWS["self-paced"].tuned),
    "mentornet-pd paper": ((), ROWS["mentornet-pd"].tuned_small),
    "mentornet-pd wider": (
        ROWS["mentornet-pd"].small,
        (("percentile=0.6",), ("percentile=0.75",), ("percentile=0.85",)),
    ),
    "mentornet-dd paper": (AS_IN_THE_PAPER, ()),
    "mentornet-dd soft": (_SOFT, ()),
    "mentornet-dd sharp": (_UNTAUGHT, ()),
    "verified": ((), ()),
    _RIGHT_ALONE: ((), ()),
    "mentor-bootstrap": ((), ()),
    "mentor-bootstrap untaught": (("teaches_verified=false",), ()),
    "mentor-bootstrap mixup": (("mixup=0.5",), ()),
    "mentor-bootstrap auto": ((), ()),
    "gce": ((), ()),
    "sce": ((), ()),
    "elr": ((), ()),
    "co-teaching": ((), ()),
    "mentormix": ((), ()),
    "cleanlab-prune": (("length=0.5",), ()),
}
"""Rows that the paper does not have, or not like that: settings, and what is tuned."""

_MENTORMIX = {
    0.2: ("percentile=0.8", "alpha=2", "reweigh=false"),
    0.4: ("percentile=0.6", "alpha=8", "reweigh=false"),
    0.8: ("percentile=0.2", "alpha=4", "reweigh=true"),
}
"""As its authors' commands have it for CIFAR-10, by noise fraction."""


def _other(name: str, config: TrainConfig, noise: float) -> Run:
    settings, candidates = _OTHERS[name]
    method = name.partition(" ")[0]
    labels = config.labels
    if make_method(method).needs.verdicts != "no" and name != "mentor-bootstrap auto":
        labels = replace(labels, clean_count=SMALL_VERIFIED)
    if method == "co-teaching":
        settings = (f"forget={0.9 * noise:g}",)
    if method == "mentormix":
        settings = _MENTORMIX[noise]
    tuning = (
        Tuning(candidates, None if name == "full-model tuned" else SMALL_TRIAL)
        if candidates
        else None
    )
    return Run(replace(config, labels=labels, method=MethodConfig(method, settings)), tuning)


def _right_alone(config: TrainConfig) -> Run:
    """Plain training on as many clean images as are verified elsewhere, in as many steps."""
    optimiser, share = config.optimiser, SMALL_IMAGES // SMALL_VERIFIED
    return Run(
        replace(
            config,
            files=FilesConfig(limit=SMALL_VERIFIED),
            labels=LabelsConfig(),
            optimiser=replace(
                optimiser,
                epochs=share * (optimiser.epochs or 1),
                evaluate_every=share * optimiser.evaluate_every,
            ),
        )
    )


def full_size(scale: Scale) -> Table:  # noqa: ARG001
    """All of CIFAR-10 with the fast student."""
    cells = []
    for method in ("full-model", _TUNED, "mentornet-pd", "mentornet-dd", "oracle"):
        for noise in NOISES:
            config = replace(
                small_config("cifar10", noise),
                files=FilesConfig(),
                optimiser=replace(SMALL, epochs=16),
            )
            run = _plain_tuned(config) if method == _TUNED else _untuned(method, config, noise)
            cells.append(Cell(method, noise, run))
            if method == "mentornet-dd":
                cells.append(Cell("mentornet-dd soft", noise, _soft(run)))
    return Table(
        "full-size",
        "CIFAR-10, all 50,000 images, uniform noise",
        tuple(cells),
        note=f"16 epochs; DD knows 1,000 verified samples. {_PACE} {_WHAT_SOFT}",
        about={_TUNED: _WHAT_TUNED},
    )


_TUNED = "full-model tuned"
_WHAT_TUNED = (
    "plain training whose weight decay is tuned; its best epoch is the last here, or nearly, so "
    "its length is left as it is"
)


def _plain_tuned(config: TrainConfig) -> Run:
    """Plain training with its weight decay tuned in trials of half its length."""
    epochs = (config.optimiser.epochs or 2) // 2
    tried = ("optimiser.weight_decay=0.0005", "optimiser.weight_decay=0.002")
    return Run(config, Tuning(tuple((word,) for word in tried), epochs))


_WHAT_SOFT = (
    "mentornet-dd soft takes its weights for what they are, and teaches nothing of what was "
    "verified."
)
_PACE = (
    "PD and self-paced take the share of right labels as their percentile, 1 − p (1 − 1/K); in the "
    "table of all methods it is tuned instead."
)


def _untuned(method: str, config: TrainConfig, noise: str) -> Run:
    """The method where tuning would cost too much: it is told the share of right labels."""
    run = replace(run_for(method, "small", config), tuning=None)
    if method in ("mentornet-pd", "self-paced"):
        run = _with(run, f"percentile={1 - float(noise) * (1 - 1 / _CLASSES[config.data]):g}")
    return run


def _with(run: Run, *settings: str) -> Run:
    """The run with settings of its method more."""
    method = run.config.method
    return replace(
        run, config=replace(run.config, method=replace(method, set=(*method.set, *settings)))
    )


def _soft(run: Run) -> Run:
    """DD whose weights are probabilities, and that teaches nothing of what was verified."""
    return _with(run, *_SOFT)


def _without(run: Run, name: str) -> Run:
    """The run with that setting of its method at its default."""
    method = run.config.method
    words = tuple(word for word in method.set if not word.startswith(f"{name}="))
    return replace(run, config=replace(run.config, method=replace(method, set=words)))


def transfer(scale: Scale) -> Table:  # noqa: ARG001
    """CIFAR-100, whose labels nobody has verified, with mentors learned on CIFAR-10."""
    cells = []
    for method in ("full-model", _TUNED, "self-paced", "mentornet-pd", "mentornet-dd", "oracle"):
        for noise in NOISES:
            config = replace(
                small_config("cifar100", noise),
                files=FilesConfig(limit=20_000),
                optimiser=replace(SMALL, epochs=20),
            )
            run = _plain_tuned(config) if method == _TUNED else _untuned(method, config, noise)
            cells.append(Cell(method, noise, run))
            if method == "mentornet-dd" and noise == "0.4":
                soft = _soft(run)
                cells.append(Cell("mentornet-dd soft", noise, soft))
                cells.append(Cell("mentornet-dd as is", noise, _without(soft, "mentor_classes")))
    return Table(
        "transfer",
        "CIFAR-100, 20,000 images, uniform noise; mentors of DD from CIFAR-10",
        tuple(cells),
        note=(
            f"20 epochs; nothing of CIFAR-100 is verified. {_PACE} The rows of mentornet-dd show "
            "how we came to it, by accuracy on these test images with this seed."
        ),
        about={
            _TUNED: _WHAT_TUNED,
            "mentornet-dd": "a mentor from CIFAR-10 that sees losses in units of chance, divided "
            "by log 100 / log 10; its weights become decisions",
            "mentornet-dd soft": "the same, with weights that stay probabilities",
            "mentornet-dd as is": "the same, and losses that are not divided",
        },
    )


def human(scale: Scale) -> Table:  # noqa: ARG001
    """CIFAR-10 with the labels that people gave (CIFAR-10N)."""
    cells = []
    rows = (
        "full-model", _TUNED, "mentornet-pd", "mentornet-auto", "mentornet-dd", "elr", "oracle",
    )  # fmt: skip
    for method in rows:
        for key, percentile in (("aggre_label", 0.9), ("random_label1", 0.8)):
            config = TrainConfig(
                "cifar10",
                files=FilesConfig(limit=10_000),
                labels=LabelsConfig(f"human:{key}"),
                student=StudentConfig("fast", width=16),
                method=MethodConfig("full-model"),
                optimiser=SMALL,
            )
            if method in _OTHERS:
                run = _other(method, config, 0.0)
            else:
                run = replace(run_for(method, "small", config), tuning=None)
            if method == "mentornet-pd":
                run = _with(run, f"percentile={percentile:g}")
            column = key.replace("_label", "")
            cells.append(Cell(method, column, run))
            if method == "mentornet-dd":
                cells.append(Cell("mentornet-dd soft", column, _soft(run)))
    return Table(
        "human",
        "CIFAR-10, 10,000 images, the labels that people gave",
        tuple(cells),
        note=(
            "PD is told about the share of right labels (0.9 and 0.8); DD knows 1,000 verified "
            "samples; full-model, elr and mentornet-auto are told nothing. "
            f"{_WHAT_SOFT}"
        ),
        about={_TUNED: _ABOUT[_TUNED]},
    )
