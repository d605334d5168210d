"""What the README says of the demo is what was measured."""

from __future__ import annotations

from pathlib import Path

from mentornet.experiments.demo import markdown, summarise
from mentornet.files import read_json

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_recorded_demo() -> None:
    recorded = read_json(ROOT / "results" / "demo" / "demo.json")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.partition("<!-- demo -->\n")[2].partition("<!-- /demo -->")[0]
    assert markdown(summarise(recorded["results"])) in block
    assert recorded["conditions"]["torch"] in block


def test_the_recorded_demo_shows_what_it_should() -> None:
    """PD and DD at least 15 points above FullModel and within 4 of the oracle, over 3 seeds."""
    full, pd, dd, oracle = summarise(read_json(ROOT / "results" / "demo" / "demo.json")["results"])
    assert full.seeds == 3
    for mentored in (pd, dd):
        assert mentored.last >= full.last + 0.15
        assert mentored.last >= oracle.last - 0.04


def test_markdown() -> None:
    results = [
        {"method": name, "seed": seed, "accuracy_last": 0.5 + seed / 10, "accuracy_best": 0.9,
         "seconds": 1.0}
        for seed in (0, 1)
        for name in ("full-model", "mentornet-pd", "mentornet-dd", "oracle")
    ]  # fmt: skip
    assert "| FullModel | 55.0 (50.0–60.0) | 90.0 |" in markdown(summarise(results))
