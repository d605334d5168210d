"""README and docs say of the drop-in what the recorded results say, and the promises hold."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy.page import PICTURE, render_results
from benchmarks.accuracy.tables import TABLES as OURS
from benchmarks.audit_accuracy import CASES as AUDITED
from benchmarks.audit_accuracy import markdown as audit_markdown
from benchmarks.audit_accuracy import stored as audit_results
from benchmarks.drop_in_accuracy import RESULT as ACCURACY
from benchmarks.drop_in_accuracy import markdown
from benchmarks.drop_in_tables import RESULT as TABLES
from benchmarks.drop_in_tables import markdown as tables_markdown
from benchmarks.estimators import CLASSIFIERS, NOISE
from benchmarks.estimators import RESULTS as ESTIMATORS
from benchmarks.estimators import TABLES as BUNDLED
from benchmarks.estimators import cells as estimator_cells
from benchmarks.estimators import markdown as estimators_markdown
from benchmarks.results_page import HEADLINE, PAGE, README, TOLD_NOTHING, draw, with_tables
from benchmarks.results_page import RESULTS as BENCHMARK
from campaign.doors import DOORS
from campaign.parts import PARTS
from campaign.record import RESULTS as CAMPAIGN
from campaign.record import markdown as campaign_markdown
from campaign.record import reverted_markdown
from campaign.reverted import FIXES
from campaign.worker import MEMORY, SECONDS
from mentornet.config import Precision
from mentornet.experiments.jobs import Job
from mentornet.experiments.results import Results
from mentornet.figures.style import save
from mentornet.files import read_json

ROOT = Path(__file__).parents[1]


def block(file: str, name: str) -> str:
    text = (ROOT / file).read_text()
    inside = text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0]
    return inside.strip()


def runs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_json(ACCURACY)["runs"]
    return found


@pytest.mark.parametrize("file", ["README.md", "docs/drop_in.md"])
def test_the_table_of_accuracies(file: str) -> None:
    assert markdown(runs()).strip() in block(file, "drop_in")


def test_the_table_of_tables() -> None:
    assert tables_markdown(read_json(TABLES)["runs"]).strip() in block("docs/drop_in.md", "tables")


@pytest.mark.parametrize(("part", "name"), [("tables", "estimators"), ("real-noise", "real_noise")])
def test_the_tables_of_classifiers(part: str, name: str) -> None:
    found = read_json(ESTIMATORS / f"{part}.json")["runs"]
    made = [(run["data"], run["classifier"], run["way"], run["seed"]) for run in found]
    assert made == list(estimator_cells(part))
    assert estimators_markdown(found).strip() == block("docs/drop_in.md", name)


def mean_of(found: list[dict[str, Any]], column: str, **named: str) -> float:
    return statistics.mean(
        run[column] for run in found if all(run[key] == value for key, value in named.items())
    )


def test_what_the_words_say_of_classifiers() -> None:
    """Ours is ahead of the plain classifier everywhere, and finds more than cleanlab does."""
    found = read_json(ESTIMATORS / "tables.json")["runs"]
    assert NOISE == 0.3
    for data in BUNDLED:
        for kind in CLASSIFIERS:
            row = {"data": data, "classifier": kind}
            ours = mean_of(found, "accuracy", way="", **row)
            assert ours > mean_of(found, "accuracy", way="plain", **row)
            precision = mean_of(found, "average_precision", way="", **row)
            assert precision > mean_of(found, "average_precision", way="cleanlab", **row)


def test_what_the_words_say_of_the_drop_in() -> None:
    (run,) = [run for run in runs() if (run["data"], run["noise"]) == ("cifar10", "uniform:0.6")]
    without, wrong = 100 * run["noise_rate_without_index"], 100 * run["noise_rate_actual"]
    text = (ROOT / "docs/drop_in.md").read_text().replace("\n", " ")
    assert f"{without:.1f} % where {wrong:.1f} % of CIFAR-10's labels are" in text


def test_what_the_words_say_of_the_demo() -> None:
    demo = read_json(ROOT / "results/demo/demo.json")
    wrong = statistics.fmean(run["noise_rate_actual"] for run in demo["results"])
    words = block("README.md", "demo").replace("\n", " ")
    assert f"{100 * wrong:.0f} % are really wrong" in words
    assert f"was given {demo['verified']} verified samples" in words


def test_what_the_words_say_of_the_audits_leads() -> None:
    lead = {}
    for result in audit_results():
        ours = result["ours"]["average_precision"]
        rivals = ("area under the margin", "cleanlab, same run", "cleanlab margin, same run")
        best = max(result[name]["average_precision"] for name in rivals)
        lead[result["case"]] = f"{100 * (ours - best):.2f}"
    uniform, asymmetric = (lead[f"cifar10-{noise}-0.4"] for noise in ("uniform", "asymmetric"))
    words = block("docs/audit.md", "audit").replace("\n", " ")
    assert f"small leads ({uniform} on uniform, {asymmetric} on asymmetric noise)" in words


def last(data: str, noise: str, criterion: str) -> float:
    found = [
        100 * run["accuracy_last"]
        for run in runs()
        if (run["data"], run["noise"], run["criterion"]) == (data, noise, criterion)
    ]
    assert len(found) == 3
    return sum(found) / 3


@pytest.mark.parametrize(
    ("data", "noise", "gain"),
    [
        ("digits", "symmetric:0.4", 10.0),
        ("digits", "symmetric:0", -0.5),
        ("cifar10", "uniform:0.4", 5.0),
        ("cifar10", "uniform:0", -0.5),
    ],
)
def test_it_helps_where_labels_are_wrong_and_does_no_harm_where_not(
    data: str, noise: str, gain: float
) -> None:
    assert last(data, noise, "MentorLoss") >= last(data, noise, "cross-entropy") + gain


def test_the_noise_rate_is_found_within_five_points() -> None:
    found = [run for run in runs() if run["criterion"] == "MentorLoss"]
    rates = {(run["data"], float(run["noise"].split(":")[1])) for run in found}
    for data in ("digits", "cifar10"):
        assert {(data, rate) for rate in (0.1, 0.2, 0.4, 0.6)} <= rates
    for data, rate in rates:
        same = [
            run for run in found if (run["data"], float(run["noise"].split(":")[1])) == (data, rate)
        ]
        error = sum(run["noise_rate"] - run["noise_rate_actual"] for run in same) / len(same)
        assert abs(error) <= 0.05, (data, rate)
    for run in found:
        unsure = 0.2 * run["noise_rate"] + 0.02  # what `noise_estimate` says of itself, at least
        assert abs(run["noise_rate"] - run["noise_rate_actual"]) <= unsure, run


def test_tables_are_better_off() -> None:
    for table in ("digits", "wine", "breast cancer"):
        same = [run for run in read_json(TABLES)["runs"] if run["table"] == table]
        assert sum(run["mentored"] - run["plain"] for run in same) / len(same) > 0.05


def test_the_page_of_results_is_what_the_files_say() -> None:
    assert PAGE.read_text() == render_results(Results(BENCHMARK))


def test_its_picture_too(tmp_path: Path) -> None:
    _, drawn = save(draw(), tmp_path / "benchmark")
    assert drawn.suffix == ".svg"
    assert (PAGE.parent / PICTURE).with_suffix(".svg").read_bytes() == drawn.read_bytes()


def test_readmes_table_too() -> None:
    assert README.read_text() == with_tables(README.read_text())
    shown = rows_of(PAGE.read_text().partition("## CIFAR-10, 10,000")[2].partition("\n## ")[0])
    table = [line for line in block("README.md", "benchmark").splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    assert [row[0] for row in rows] == list(HEADLINE)
    for name, _, *numbers in rows:
        assert numbers == [shown[column].get(name, [""])[0] for column in ("0.2", "0.4", "0.8")]


def test_readmes_second_table() -> None:
    """Its numbers are those of the page."""
    page = PAGE.read_text()
    shown: dict[str, dict[str, list[str]]] = {}
    for title in (
        "## CIFAR-10, 10,000 images, asymmetric",
        "## CIFAR-10, 10,000 images, the labels",
    ):
        assert title in page
        shown |= rows_of(page.partition(title)[2].partition("\n## ")[0])
    table = [line for line in block("README.md", "elsewhere").splitlines() if "|" in line]
    columns = [cell.strip() for cell in table[0].strip("|").split("|")][1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    assert [row[0] for row in rows] == list(TOLD_NOTHING)
    for name, *numbers in rows:
        assert numbers == [shown[column].get(name, [""])[0] for column in columns]


def keys_of(run: Job) -> list[str]:
    """The keys under which a run may be stored, in any number format."""
    formats: tuple[Precision, ...] = ("auto", "32", "bf16")
    return [run.with_precision(precision).key for precision in formats]


def test_every_stored_result_is_of_a_cell() -> None:
    """Else a change has moved their keys, and they are lost to the page."""
    keys = {key for make in OURS.values() for run in make().runs() for key in keys_of(run)}
    stored = {path.stem for path in BENCHMARK.glob("*.json")}
    assert stored
    assert stored <= keys


def rows_of(section: str) -> dict[str, dict[str, list[str]]]:
    """The cells of a section's tables of results, by column and row."""
    found: dict[str, dict[str, list[str]]] = {}
    column = ""
    for line in section.splitlines():
        if line.startswith("### "):
            column = line.removeprefix("### ").partition(":")[0]
            found[column] = {}
        elif not line.startswith("|"):
            column = column if not line else ""
        elif column and not line.startswith(("| method |", "|---")):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[column][cells[0]] = cells[1:]
    return found


@pytest.mark.parametrize("name", list(OURS))
def test_numbers_in_the_page_come_from_the_files(name: str) -> None:
    """Mean, range, best epoch, n and gap of every cell, from the JSON and without our own code."""
    table = OURS[name]()
    section = PAGE.read_text().partition(f"## {table.title}\n")[2].partition("\n## ")[0]
    shown = rows_of(section)
    last: dict[tuple[str, str], dict[int, float]] = {}
    every: dict[tuple[str, str], dict[int, float]] = {}
    for cell in table.cells:
        made = {}
        for seed in range(cell.seeds or 1):
            for key in keys_of(cell.run.with_seed(seed)):
                path = BENCHMARK / f"{key}.json"
                if path.exists():
                    made[seed] = json.loads(path.read_text())
        formats = [one["config"]["machine"]["precision"] for one in made.values()]
        most = max(formats, key=formats.count, default="")  # the first of equals
        kept = {s: one for s, one in made.items() if one["config"]["machine"]["precision"] == most}
        runs = {seed: one["run"] for seed, one in kept.items()}
        every[cell.row, cell.column] = {s: one["run"][cell.reads] for s, one in made.items()}
        last[cell.row, cell.column] = {seed: run[cell.reads] for seed, run in runs.items()}
        if not runs:
            assert cell.row not in shown.get(cell.column, {})
            continue
        values = [100 * value for value in last[cell.row, cell.column].values()]
        spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
        best = statistics.fmean(100 * run["accuracy_best"] for run in runs.values())
        number, best_shown, _, count, _ = shown[cell.column][cell.row]
        assert number == f"{statistics.fmean(values):.1f}{spread}", cell.row
        assert best_shown == f"{best:.1f}"
        silent = any(one["settings"] is None for one in kept.values())
        apart = f" (and {len(made) - len(kept)} apart)" if len(kept) < len(made) else ""
        assert count == f"{len(values)}{' ‡' * silent}{apart}"
    if not any(every.values()):
        assert f"## {table.title}" not in PAGE.read_text()  # nothing of it was run yet
        return
    checked = 0
    for column, rows in shown.items():
        for row, cells in rows.items():
            keys = [(key, column) for key in (row, "full-model", "oracle")]
            three = [last[key] for key in keys]
            seeds = set.intersection(*map(set, three))
            if not seeds:  # the first seed that they have in any number format
                three = [every[key] for key in keys]
                seeds = {min(set.intersection(*map(set, three)))}
            mine, plain, limit = (statistics.fmean(one[seed] for seed in seeds) for one in three)
            assert cells[-1] == f"{100 * (mine - plain) / (limit - plain):.0f} %", (row, column)
            checked += 1
    assert checked > 7


def test_numbers_in_the_findings_are_looked_up() -> None:
    """Of those typed by hand there are only noise fractions and what the protocol says."""
    text = re.sub(r"{{.*?}}", "", (BENCHMARK / "findings.md").read_text(), flags=re.DOTALL)
    settings = {"0.2", "0.4", "0.8", "0.75", "0.85"}
    assert set(re.findall(r"\d+\.\d+", text)) <= settings
    said = {"100", "10", "14", "25", "40", "60", "75", "95", "32", "16"}
    said |= {"1,000", "9,000", "10,000", "50,000"}
    assert set(re.findall(r"(?<![\d.,])\d+(?:,\d+)*(?![\d.,]\d)", text)) - {"0"} <= said
    assert "{{" in (BENCHMARK / "findings.md").read_text()


SAID = {
    "README.md": {"3.10", "17 %", "90 %", "2.0"},
    "docs/drop_in.md": {"1.2", "59.5 %", "54.0 %", "40 %", "30 %", "21 times",
                        "47 bytes", "47 MB", "770 MB"},
    "docs/equations.md": {"1712.05055", "3.1", "5.1"},
    "docs/experiments.md": {"40 %", "0.2", "0.8", "0.9", "17 times"},
    "docs/many_machines.md": {"24 bytes", "30 seconds", "2.13", "2.4", "150 MB"},
    "docs/training.md": {
        "1.0", "40 %", "0.1", "0.2", "0.05", "20 %", "0.5", "20 minutes", "5 %", "21 %", "75 %",
        "0.01", "1 GB", "1.5", "2.8",
    },
    "docs/your_files.md": {"1 GB", "20 seconds"},
}  # fmt: skip
"""Numbers that may be typed by hand: settings, versions, sections and numbers of the paper, and
what tests above look up."""

_UNITS = "%|percent|points|times|seconds|minutes|hours|s\\b|ms\\b|[KMG]i?B|bytes"


_WORDS = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]


_MADE = ("docs/results.md", "docs/real_noise.md")
"""Pages that are made from stored results as a whole, which other tests check."""


@pytest.mark.parametrize("file", [file for file in _WORDS if file not in _MADE])
def test_no_other_number_stands_in_the_words(file: str) -> None:
    """A measurement belongs into a block, or a page, that is made from stored results."""
    text = (ROOT / file).read_text()
    for apart in (r"```.*?```", r"<!-- (\w+) -->.*?<!-- /\1 -->", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(apart, " ", text, flags=re.DOTALL)
    found = re.findall(rf"\d+(?:[.,]\d+)*\s(?:{_UNITS})|\d+\.\d+", text)
    assert {" ".join(number.split()) for number in found} <= SAID.get(file, set())


def test_the_table_of_the_audit() -> None:
    assert [result["case"] for result in audit_results()] == [case.name for case in AUDITED]
    assert audit_markdown(audit_results()).strip() in block("docs/audit.md", "audit")


@pytest.mark.parametrize("result", audit_results(), ids=lambda result: result["case"])
def test_the_audit_is_as_good_as_what_the_same_run_gives(result: dict[str, Any]) -> None:
    same = ("area under the margin", "cleanlab, same run", "cleanlab margin, same run")
    crossed = ("cleanlab, cross-validated", "cleanlab margin, cross-validated")
    for score in ("average_precision", "auroc"):
        ours = result["ours"][score]
        assert all(ours >= result[name][score] - 5e-5 for name in same)
        assert all(ours > result[name][score] for name in crossed)
    assert result["time_ratio"] <= 0.2


@pytest.mark.parametrize("result", audit_results(), ids=lambda result: result["case"])
def test_the_number_of_wrong_labels(result: dict[str, Any]) -> None:
    if "uniform" in result["case"]:
        assert abs(result["estimated"] - result["wrong"]) <= 0.2 * result["wrong"]


def test_the_table_of_large_data() -> None:
    view = read_json(ROOT / "results/bench/view_cost.json")
    many = read_json(ROOT / "results/bench/many_samples.json")
    shared = read_json(ROOT / "results/bench/sharing_cost.json")
    half, whole = (shared[f"batch_{size}"] for size in (256, 512))
    table = block("docs/many_machines.md", "large")
    for text in (
        f"| {view['view_ratio'][0]:.2f} times the images a second | 0.9 |",
        f"| {whole['faster'][0]:.2f} times the images a second | 1.8 |",
        f"| {half['faster'][0]:.2f} times the images a second | |",
        f"| {100 * max(half['exchange'][0], whole['exchange'][0]):.1f} % of a step | 2 % |",
        f"| {many['step_ratio'][0]:.2f} of the time | 1.05 |",
        f"| {many['bytes_a_sample']:.0f} bytes | 64 |",
        f"| {many['start_seconds']:.1f} s | 30 s |",
        f"| {many['checkpoint_seconds']:.1f} s | 10 s |",
    ):
        assert text in table
    assert view["holds"]
    assert many["holds"]
    assert shared["holds"]


def test_the_tables_of_the_campaign() -> None:
    result = read_json(CAMPAIGN / "seed-26.json")
    assert campaign_markdown(result) == block("docs/your_files.md", "campaign")
    parts = result["parts"]
    assert {name.partition(":")[0] for name in parts} == set(PARTS)
    tried = {name.removeprefix("files: ") for name in parts if name.startswith("files")}
    assert tried <= set(DOORS)
    later = sorted(set(DOORS) - tried)
    assert f"Not in this table, because they came later: {', '.join(later)}." in " ".join(
        (ROOT / "docs/your_files.md").read_text().split()
    )
    assert not any(count["failed"] for count in parts.values())
    assert sum(count["tries"] for name, count in parts.items() if "files" in name) >= 3_000
    assert sum(count["tries"] for name, count in parts.items() if "kills" in name) >= 200
    assert max(count.get("slowest", 0.0) for count in parts.values()) < SECONDS
    assert max(count.get("largest", 0) for count in parts.values()) < MEMORY


def test_the_table_of_the_fixes_that_were_taken_back() -> None:
    result = read_json(CAMPAIGN / "reverted.json")
    assert [row["fix"] for row in result["fixes"]] == list(FIXES)
    assert all(row["kind"] for row in result["fixes"])
    assert reverted_markdown(result) == block("docs/your_files.md", "reverted")
