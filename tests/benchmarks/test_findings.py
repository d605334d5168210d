"""The numbers of the findings are looked up."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.accuracy.findings import render_findings
from benchmarks.accuracy.tables import benchmark
from mentornet.errors import MentorNetError
from mentornet.experiments.results import Results
from tests.benchmarks.test_claims import fill

CALLS = {
    'last("elr", "0.4")': "80.0",
    'last("elr", "0.4", 2)': "80.0",
    'best("elr", "0.4")': "81.0",
    'fitted("elr", "0.4")': "70.0",
    'right("elr", "0.4")': "64.0",
    'curve("elr", "0.4", "mean_weight", 1)': "0.25",
    'tried("spade", "0.4", "a=1")': "30.0",
    'gap("elr", "0.4")': "75",
    'last("early-stopping", "0.4")': "56.0",  # the epoch that it chose
    'last("full-model", "0.4", table="transfer")': "(not run yet)",
    'earlier("25-epochs", "elr", "0.4")': "(not run yet)",
    'earlier("starved", "elr", "aggre", table="human")': "(not run yet)",
    'held_out_error("mentornet-dd", "0.4")': "0.125",
    'held_out_error("mentornet-dd", "aggre", table="human")': "(not run yet)",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Results(tmp_path_factory.mktemp("results"))
    fill(made, benchmark(), {"full-model": 0.5, "elr": 0.8, "oracle": 0.9})
    return made


@pytest.mark.parametrize("call", CALLS)
def test_a_number(results: Results, call: str) -> None:
    assert render_findings(f"It has {{{{ {call} }}}} %.\n", results) == f"It has {CALLS[call]} %.\n"


def test_a_number_of_a_run_whose_format_was_asked_for(tmp_path: Path, results: Results) -> None:
    (cell,) = (one for one in benchmark().cells if (one.row, one.column) == ("elr", "0.4"))
    stored = results.find(cell.run)
    assert stored is not None
    made = Results(tmp_path)
    told = {key: stored[key] for key in stored if key not in ("format", "digest", "kind")}
    made.write(cell.run.with_precision("bf16"), told)
    assert render_findings('{{ last("elr", "0.4", 0) }}', made) == "80.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{{ last("elr", "0.5") }}', "a cell that benchmark has not: elr, 0.5"),
        ('{{ tried("spade", "0.4", "b=2") }}', "name b=2, which was not tried for spade"),
        (
            '{{ curve("elr", "0.4", "mean_weight", 3) }}',
            "mean_weight at epoch 3, which elr has not",
        ),
        ('{{ curve("elr", "0.4", "speed", 1) }}', "speed at epoch 1, which elr has not"),
        ('{{ held_out_error("elr", "0.4") }}', "the mentors of elr, which has learned none"),
        ("{{ lasts }}", "cannot be read: 'lasts' is undefined"),
        ("{{ last( }}", "the findings cannot be read"),
    ],
)
def test_a_mistake(results: Results, text: str, message: str) -> None:
    with pytest.raises(MentorNetError, match=message):
        render_findings(text, results)
