"""The preset `paper` against the paper's own words, typed by hand from §3.1, §5 and App. E."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mentornet.config import (
    LabelsConfig,
    MethodConfig,
    OptimiserConfig,
    StudentConfig,
    TrainConfig,
)
from mentornet.errors import MentorNetError
from mentornet.methods import METHODS, make_method
from mentornet.methods.settings import parse_settings
from mentornet.training import preview
from mentornet.training.presets import PRESETS, deviations, with_preset
from mentornet.training.schedules import learning_rate

# "the batch size is set to 128 and we train 39K iterations for resnet model and 120k for the
# inception model … momentum = 0.9 … starting learning rate as 0.1 and multiply it by a factor of
# 0.1 at the 19.5k, 25k and 30k iteration for the resnet model, and 78k for the inception model …
# In the inception network, weight decay is set 4e-3 and the dropout keep probability is 0.5. In
# the resnet-101, weight decay is 2e-4 and the dropout keep probability is 1.0."
CIFAR: dict[str, dict[str, Any]] = {
    "resnet101": {
        "steps": 39_000, "drops at": (19_500, 25_000, 30_000), "decay": 2e-4, "keep": 1.0,
    },
    "inception": {"steps": 120_000, "drops at": (78_000,), "decay": 4e-3, "keep": 0.5},
}  # fmt: skip

# "The loss moving average is set to the 75th-percentile loss … The decay factor … 0.95 … a burn-in
# process is used in the first 20% training epoch … on the 21% and 75% of the total epoch … It is
# trained on 5,000 images of true labels"
MENTORNET = {"percentile": 0.75, "decay": 0.95, "burn_in": 0.2}
NOT_IN_THE_PAPER_OFF = {"smoothing": 0, "sharpness": 0, "drop": 0}
DD = {
    "updates": (0.21, 0.75), "history": 1, "reads_label": True, "teaches_verified": False,
    "fallback": False, "held_out": 0, "mentor_classes": 0,
}  # fmt: skip


def resolved(data: str, method: str, student: str | None = None, *words: str) -> TrainConfig:
    """The complete config of the paper's method on that data."""
    return preview(
        TrainConfig(
            data, preset="paper", student=StudentConfig(student), method=MethodConfig(method, words)
        )
    )


@pytest.mark.parametrize("student", [None, "resnet101", "inception"])
@pytest.mark.parametrize("data", ["cifar10", "cifar100"])
def test_students_on_cifar(data: str, student: str | None) -> None:
    config = resolved(data, "full-model", student)
    facts, optimiser = CIFAR[student or "resnet101"], config.optimiser
    assert config.student.student == (student or "resnet101")
    assert config.student.dropout == 1 - facts["keep"]
    assert (optimiser.steps, optimiser.epochs) == (facts["steps"], None)
    assert (optimiser.batch_size, optimiser.momentum, optimiser.nesterov) == (128, 0.9, False)
    assert optimiser.weight_decay == facts["decay"]
    assert (optimiser.augment, optimiser.padding) == (True, 4)
    assert optimiser.decayed == "weights"  # as in the authors' code
    assert config.files.validation is None
    before = 0.1
    for drop in (0, *facts["drops at"]):
        if drop:
            before /= 10
            after = learning_rate(optimiser, drop - 1, facts["steps"])
            assert after == pytest.approx(10 * before)
        assert learning_rate(optimiser, drop, facts["steps"]) == pytest.approx(before)
    assert deviations(config) == []


def test_the_student_on_imagenet() -> None:
    """Batch 32, 0.05, a tenth every ten epochs, 1 million steps, keep 0.8, 4e-5, 299 pixels."""
    config = resolved("imagenet", "full-model")
    optimiser = config.optimiser
    assert config.student.student == "inception-resnet-v2"
    assert config.student.dropout == 0.2
    assert config.files.image_size == 299
    assert (optimiser.steps, optimiser.batch_size) == (1_000_000, 32)
    assert (optimiser.weight_decay, optimiser.momentum) == (4e-5, 0.9)
    ten_epochs = 10 * 1_281_167 / 32
    for times in (1, 2):
        rate = 0.05 / 10**times
        step = int(times * ten_epochs)
        assert learning_rate(optimiser, step - 2, 1_000_000) == pytest.approx(10 * rate)
        assert learning_rate(optimiser, step + 2, 1_000_000) == pytest.approx(rate)


@pytest.mark.parametrize("data", ["webvision", "webvision-mini"])
def test_webvision_is_trained_like_imagenet(data: str) -> None:
    config, like = resolved(data, "full-model"), resolved("imagenet", "full-model")
    assert config.student == like.student
    same = replace(config.optimiser, steps=None, epochs=None, drops=None)
    assert same == replace(like.optimiser, steps=None, drops=None)


@pytest.mark.parametrize("method", ["spade", "mentornet", "mentornet-pd", "mentornet-dd"])
def test_mentors(method: str) -> None:
    config = resolved("cifar10", method)
    settings = parse_settings(config.method.set)
    expected = MENTORNET | NOT_IN_THE_PAPER_OFF | (DD if method == "mentornet-dd" else {})
    assert {name: settings[name] for name in expected} == expected
    assert config.labels.clean_count == (5_000 if method == "mentornet-dd" else None)


def test_a_transferred_mentor_reads_no_label_and_is_not_learned_again() -> None:
    """As CIFAR-100 and CIFAR-10 have different classes, "we fix the class label to 0"."""
    config = resolved("cifar100", "mentornet-dd", None, "mentor=dd-cifar10-40")
    settings = parse_settings(config.method.set)
    assert settings["reads_label"] is False
    assert settings["updates"] == ""
    assert config.labels.clean_count is None
    assert deviations(config) == []


def test_baselines() -> None:
    """Self-paced: "we gradually increase λ in training by 20%"; of a burn-in nothing is said."""
    settings = parse_settings(resolved("cifar10", "self-paced").method.set)
    assert (settings["growth"], settings["burn_in"]) == (0.2, 0)
    assert settings["threshold"] == "rises"
    assert resolved("imagenet", "forgetting").student.dropout == 0.8  # keep 0.2


TRIED = {
    "forgetting": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],  # keeps 0.9 to 0.2
    "self-paced": [0.5, 0.6, 0.75],
    "focal": [1, 2, 3],
    "reed-soft": [0.7, 0.8, 0.9, 0.95],
    "reed-hard": [0.7, 0.8, 0.9, 0.95],
}


def test_what_is_tuned() -> None:
    tried = PRESETS["paper"].tried
    assert {name: list(tried[name].values) for name in TRIED} == TRIED
    assert tried["mentornet-dd"] == tried["mentornet-pd"]
    assert tried["mentornet-pd"].setting == "percentile"
    assert 0.75 in tried["mentornet-pd"].values


def test_every_fact_names_a_setting_that_exists() -> None:
    for name, preset in PRESETS.items():
        for method in METHODS:
            for data in preset.data:
                config = with_preset(TrainConfig(data, preset=name, method=MethodConfig(method)))
                given = parse_settings(config.method.set)
                assert given.items() <= make_method(method, **given).settings.items()
        for method, tried in preset.tried.items():
            for value in tried.values:
                made = make_method(method, **{tried.setting: value})
                assert made.settings[tried.setting] == value


def test_what_is_given_goes_before_the_preset() -> None:
    config = TrainConfig(
        "cifar10", preset="paper",
        labels=LabelsConfig("uniform:0.4", clean_count=1_000),
        student=StudentConfig("fast"),
        method=MethodConfig("mentornet-dd", ("burn_in=0.1",)),
        optimiser=OptimiserConfig(epochs=24, schedule="cosine"),
    )  # fmt: skip
    found = preview(config)
    assert (found.optimiser.epochs, found.optimiser.steps) == (24, None)
    assert found.optimiser.schedule == "cosine"
    assert found.optimiser.batch_size == 128
    assert parse_settings(found.method.set)["updates"] == (0.21, 0.75)
    assert deviations(found) == [
        "differs from the paper: student is fast, not resnet101 (App. E.1)",
        "differs from the paper: epochs is 24, not 39,000 steps (App. E.1)",
        "differs from the paper: schedule is cosine, not steps (App. E.1)",
        "differs from the paper: burn_in is 0.1, not 0.2 (§3.1, App. E.3)",
        "differs from the paper: clean_count is 1,000, not 5,000 (§5.1)",
    ]


def test_the_methods_without_a_word() -> None:
    verified = LabelsConfig("uniform:0.4", clean_count=5_000)
    assert with_preset(TrainConfig("cifar10", preset="paper")).method.method == "mentornet-pd"
    config = TrainConfig("cifar10", preset="paper", labels=verified)
    assert with_preset(config).method.method == "mentornet-dd"


def test_a_method_that_the_paper_has_not() -> None:
    config = resolved("cifar10", "elr")
    assert config.optimiser.steps == 39_000
    assert deviations(config) == [
        "differs from the paper: elr is no method of it, and has its own settings"
    ]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (TrainConfig("digits", preset="paper"), "knows cifar10, cifar100, imagenet, webvision"),
        (TrainConfig("cifar10", preset="papers"), "unknown preset 'papers'; did you mean 'paper'"),
    ],
)
def test_bad_presets(config: TrainConfig, message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        preview(config)
