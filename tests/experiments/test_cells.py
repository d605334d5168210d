"""Experiments as data: keys, seeds, selection."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from mentornet.config import MethodConfig, TrainConfig, to_toml
from mentornet.errors import MentorNetError
from mentornet.experiments.catalogue import TABLES, find_table
from mentornet.experiments.cells import Scale, select
from mentornet.experiments.jobs import Tuning
from mentornet.experiments.runs import HELD_OUT, Run, trial_config
from mentornet.mentors.store import shipped
from mentornet.methods import make_method
from mentornet.training import prepare
from mentornet.training.recipes import Facts, resolve
from tests.experiments.tables import check_settings, tiny


def test_a_key_names_the_run_and_changes_with_it() -> None:
    run = tiny().cells[0].run
    assert run.key.startswith("digits-small-cnn-uniform-0.2-full-model-0-")
    assert run.with_seed(1).key != run.key
    other = run.with_precision("bf16")
    assert other.precision == "bf16"
    assert len({run.key, other.key, run.with_precision("32").key}) == 3
    assert other.with_precision("auto").key == run.key


def test_a_setting_that_is_said_counts_as_its_default_does() -> None:
    run = Run(replace(tiny().cells[0].run.config, method=MethodConfig("reed-soft")))
    beta = run.config.method
    said, other = (
        replace(run, config=replace(run.config, method=replace(beta, set=(word,))))
        for word in ("beta=0.95", "beta=0.9")
    )
    assert said.key == run.key
    assert other.key != run.key


def test_a_candidate_is_evaluated_at_its_end_only() -> None:
    run = Run(tiny().cells[0].run.config, Tuning((("optimiser.epochs=3",),), epochs=2))
    config = trial_config(run, ("optimiser.epochs=3",))
    assert config.optimiser.epochs == 3
    assert config.optimiser.evaluate_every > 3
    assert config.files.validation == HELD_OUT


DEFAULTS = """\
data = "digits"
seed = 0

[files]
stream = false
skip_bad = false

[labels]
verdicts = []

[student]

[method]
set = []

[optimiser]
evaluate_every = 1

[machine]
accelerator = "auto"
precision = "auto"
channels_last = "auto"
compile = "auto"
checkpoint_seconds = 30.0
tensorboard = false
"""


def test_defaults_that_stored_results_depend_on() -> None:
    """The digest of a run leaves out what is at its default.

    So whoever changes a default makes stored results mean something else: make them again, by
    another `FORMAT`, or keep the default. A setting more, with a default that changes nothing, is
    fine.
    """
    assert to_toml(TrainConfig("digits")) == DEFAULTS
    photos = Facts((3, 32, 32), 10_000, streamed=False)
    method = make_method("full-model")
    filled = resolve(TrainConfig("cifar10"), photos, name="full-model", method=method).optimiser
    assert (filled.schedule, filled.warm_up, filled.drops) == ("cosine", 0.1, (0.5, 0.64, 0.77))
    assert (filled.momentum, filled.nesterov) == (0.9, True)


def test_the_mentor_that_pd_and_dd_start_with() -> None:
    """Its weights are in no digest: whoever makes it anew makes their stored results anew."""
    weights = (shipped()["pd"] / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest()[:10] == "493a05ce7d"


def test_runs_come_seed_by_seed_and_once() -> None:
    table = tiny()
    cells = [replace(cell, seeds=2 if cell.row == "oracle" else None) for cell in table.cells]
    doubled = replace(table, cells=(*cells, *cells))
    runs = list(doubled.runs())
    assert len({run.digest for run in runs}) == len(runs) == 8
    assert [run.config.seed for run in runs] == [0] * 6 + [1] * 2
    assert len(list(doubled.runs(3))) == 18


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ([], 6), (["row=oracle"], 2), (["column=0.4"], 3), (["row=*e*", "column=0.2"], 3),
        (["row=oracle", "row=full-model"], 4),
    ],
)  # fmt: skip
def test_selection(only: list[str], count: int) -> None:
    assert len(select(tiny(), only).cells) == count


def test_a_name_with_a_star_is_that_row() -> None:
    starred = select(find_table("table5", "small"), ["row=entire mentornet*"])
    assert starred.rows == ["entire mentornet*"]
    assert len(select(find_table("table5", "small"), ["row=*mentornet*"]).rows) == 3


@pytest.mark.parametrize(
    ("only", "match"),
    [
        (["row=nobody"], "tiny has no row 'nobody'; there are full-model, reed-soft, oracle"),
        (["column=0.8"], r"tiny has no column '0.8'; there are 0.2, 0.4"),
        (["oracle"], "only takes row=… or column=…, got 'oracle'"),
    ],
)
def test_bad_selection(only: list[str], match: str) -> None:
    with pytest.raises(MentorNetError, match=match):
        select(tiny(), only)


def test_unknown_table() -> None:
    with pytest.raises(MentorNetError, match="unknown table 'table22'; did you mean 'table2'"):
        find_table("table22", "small")


@pytest.mark.parametrize("scale", ["small", "paper"])
@pytest.mark.parametrize("name", list(TABLES))
def test_every_cell_of_every_table_has_settings_that_exist(name: str, scale: Scale) -> None:
    check_settings(find_table(name, scale))


def test_a_small_cell_can_be_prepared() -> None:
    assert prepare(tiny().cells[0].run.config).noise_rate
