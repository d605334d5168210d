"""The rows of our benchmark that the paper's tables do not have, and what every row is."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.accuracy.cleanlab_prune import CleanlabPrune
from mentornet.experiments.paper_runs import ROWS
from mentornet.experiments.paper_runs import each as _each
from mentornet.experiments.runs import Recipe

__all__ = ["ABOUT", "MENTORMIX", "ONLY_AT", "OTHERS", "RIGHT_ALONE", "SOFT", "TUNED", "Other"]

RIGHT_ALONE = "1,000 right labels"
TUNED = "full-model tuned"
_PERCENTILES = ROWS["mentornet-pd"].of_small_runs(None)
DD_PAPER = (
    "burn_in=0.2", "burn_in_drop=0.5", "smoothing=0", "sharpness=0", "decided_by=1",
    "teaches_verified=false", "updates=0.21,0.75",
)  # fmt: skip
"""DD nearly as in the paper: the predefined mentor is used where it does better, and a fifth of the
verified samples is held out for that."""
_UNTAUGHT = ("decided_by=1", "teaches_verified=false")
SOFT = (*_UNTAUGHT, "sharpness=0")
"""The settings of DD whose weights stay probabilities, and that teaches no verified label."""


@dataclass(frozen=True)
class Other:
    """A row that the paper does not have, or not with these settings.

    Args:
        method: the method that trains.
        settings: its settings.
        candidates: the settings that are tried; none for a row that is not tuned.
        whole_trials: whether trials have the length of the run.
        told: whether the method is told the labels of the verified samples, if it learns from them.
        taught: whether the labels of the verified samples are put right before training, though the
            method does not learn from them.
        recipe: the step that prepares the run.
    """

    method: str
    settings: tuple[str, ...] = ()
    candidates: tuple[tuple[str, ...], ...] = ()
    whole_trials: bool = False
    told: bool = True
    taught: bool = False
    recipe: Recipe | None = None


OTHERS = {
    TUNED: Other(
        "full-model",
        candidates=(
            ("optimiser.epochs=10",),
            ("optimiser.epochs=20",),
            ("optimiser.epochs=20", "optimiser.weight_decay=0.002"),
        ),
        whole_trials=True,
    ),
    "early-stopping": Other("full-model"),
    "self-paced paper": Other("self-paced", ("burn_in=0",), ROWS["self-paced"].of_the_paper),
    "mentornet-pd paper": Other("mentornet-pd", (), _PERCENTILES),
    "mentornet-pd wider": Other(
        "mentornet-pd",
        ROWS["mentornet-pd"].small,
        (("percentile=0.6",), ("percentile=0.75",), ("percentile=0.85",)),
    ),
    "mentornet-pd taught": Other(
        "mentornet-pd", ROWS["mentornet-pd"].small, _PERCENTILES, taught=True
    ),
    "mentornet-dd tuned": Other("mentornet-dd", (), _PERCENTILES),
    "mentornet-dd untaught": Other("mentornet-dd", ("teaches_verified=false",)),
    "mentornet-dd paper": Other("mentornet-dd", DD_PAPER),
    "mentornet-dd soft": Other("mentornet-dd", SOFT),
    "mentornet-dd sharp": Other("mentornet-dd", _UNTAUGHT),
    "verified": Other("verified"),
    RIGHT_ALONE: Other("full-model"),
    "mentor-bootstrap": Other("mentor-bootstrap"),
    "mentor-bootstrap untaught": Other("mentor-bootstrap", ("teaches_verified=false",)),
    "mentor-bootstrap mixup": Other("mentor-bootstrap", ("mixup=0.5",)),
    "mentor-bootstrap auto": Other("mentor-bootstrap", told=False),
    "mentornet-posterior": Other("mentornet-posterior", told=False),
    "mentornet-early": Other("mentornet-early", told=False),
    "mentornet-early verified": Other("mentornet-early"),
    "gce": Other("gce"),
    "sce": Other("sce"),
    "elr": Other("elr"),
    "elr taught": Other("elr", taught=True),
    "co-teaching": Other("co-teaching"),
    "co-teaching tuned": Other("co-teaching", candidates=_each("rise", 0.05, 0.1, 0.25, 0.5)),
    "mentormix": Other("mentormix"),
    "mentormix tuned": Other("mentormix", candidates=_each("burn_in", 0.02, 0.1, 0.2, 0.3)),
    "cleanlab-prune": Other("verified", told=False, recipe=CleanlabPrune(length=0.5)),
}
"""The rows by name, in the order of the table."""

MENTORMIX = {
    0.2: ("percentile=0.8", "alpha=2", "reweigh=false"),
    0.4: ("percentile=0.6", "alpha=8", "reweigh=false"),
    0.8: ("percentile=0.2", "alpha=4", "reweigh=true"),
}
"""The settings of MentorMix in its authors' commands for CIFAR-10, by noise fraction."""

ONLY_AT = {
    "mentornet-pd paper": ("0.4",),
    "mentornet-pd wider": ("0.2",),
    "mentornet-dd sharp": ("0.2", "0.4"),
    "mentor-bootstrap mixup": ("0.4",),
    "mentor-bootstrap auto": ("0.4",),
}
"""Rows that answer a side question, and are not run at every fraction."""

ABOUT = {
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
    "mentornet-pd taught": "mentornet-pd on data in which the 1,000 verified labels that "
    "mentornet-dd learns from are put right, so that both students are taught them",
    "mentornet-dd tuned": "mentornet-dd, its percentile tuned over the four of mentornet-pd",
    "mentornet-dd untaught": "mentornet-dd with nothing verified taught, and no other change",
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
    "mentornet-posterior": "ours, told nothing: elr whose cross-entropy is weighted by the "
    "probability that the label is correct, by averaged predictions and an estimated noise matrix",
    "mentornet-early": "ours, told nothing, the default of `mentornet train` for images: weights "
    "by Bayes' rule, from averaged predictions and a noise matrix read off the samples that the "
    "student is surest of, and by the universal mentor; what is rejected is learned from the "
    "student's own belief. Its settings were chosen on training images 20,000–29,999, judged on "
    "40,000–44,999",
    "mentornet-early verified": "the same, the default of `mentornet train` with verdicts: it "
    "learns from 1,000 verified labels, and is taught them",
    "gce": "generalised cross-entropy, q = 0.7",
    "sce": "symmetric cross-entropy, α = 0.1, β = 1, A = log 0.0001",
    "elr": "early-learning regularisation, λ = 3",
    "elr taught": "elr with the 1,000 verified labels put right",
    "co-teaching": "two students, each learns what the other finds easy; told the noise rate; what "
    "is left out rises over a tenth of training (its authors': 10 of 200 epochs)",
    "co-teaching tuned": "co-teaching, its rise tuned over four shares of training, its authors' "
    "among them (10 of 200 epochs)",
    "mentormix tuned": "mentormix, its burn-in tuned over four shares of training, its authors' "
    "among them (10 of 512 epochs)",
    "mentormix": "mixup led by self-paced weights, as its paper has them; percentile, α and "
    "whether blends are weighed as its authors' commands have them for each noise fraction, the "
    "moving average (0.95) and the burn-in (a tenth) as ours",
    "cleanlab-prune": "leaves out what cleanlab finds by cross-validation of four students of half "
    "the length, then trains plainly",
    "oracle": "told which labels are right; the others have weight 0 in the same batches",
}
"""What the rows are, and what they know."""
