"""Who makes the runs: what is missing only, nothing lost, nobody in each other's way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy.page import markdown
from mentornet.errors import MentorNetError
from mentornet.experiments import engines, runs, work
from mentornet.experiments.cells import Table, select
from mentornet.experiments.comparison import compare, gap_closed
from mentornet.experiments.engines import run_locally, run_on_ray
from mentornet.experiments.results import Results
from mentornet.experiments.runs import Run
from mentornet.experiments.work import make_job
from mentornet.files import read_json
from mentornet.training import RunFolder
from tests.experiments.tables import broken, config, run_in_forks, run_in_this_process, tiny
from tests.processes import forked
from tests.training.runs import streamed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny table, made once."""
    folder = tmp_path_factory.mktemp("tiny")
    for run in tiny().runs():
        make_job(run, folder)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a long run comes to if nobody disturbs it."""
    return make_job(long_run(), tmp_path_factory.mktemp("whole"))


def test_a_result_has_its_conditions(made: Path) -> None:
    for run in tiny().runs():
        found = Results(made).find(run)
        assert found is not None
        assert found["digest"] == run.digest
        assert {"commit", "torch", "processor", "cores"} <= found["conditions"].keys()
        assert found["run"]["seconds"] > 0
        assert len(found["curve"]["test_accuracy"]) == 2
        assert found["kind"] == "training"
        assert found["config"]["method"]["method"] == run.config.method.method


def test_tuning_is_on_given_labels_and_stored(made: Path) -> None:
    run = next(run for run in tiny().runs() if run.tuning)
    found = Results(made).find(run)
    assert found is not None
    tried = found["tried"]
    assert [trial["set"] for trial in tried] == [["beta=0.7"], ["beta=0.9"]]
    best = max(tried, key=lambda trial: float(trial["validation_accuracy"]))
    assert found["config"]["method"]["set"] == best["set"]
    (folder,) = (path for path in (made / "runs").glob("tuning-*0.2*"))
    trial = read_json(folder / "beta-0.7" / "data.json")
    assert trial["train_images"] < 192  # a tenth is held out


def test_tuning_serves_every_seed(made: Path, tmp_path: Path) -> None:
    run = next(run for run in tiny().runs() if run.tuning)
    both = [run, run.with_seed(1)]
    for outcome in run_in_forks(both, tmp_path, processes=2):  # one tunes for both
        assert outcome.error is None
    first, second = (Results(tmp_path).find(one) for one in both)
    assert first is not None
    assert second is not None
    assert first["tried"] == second["tried"]
    assert len(list((tmp_path / "runs").glob("tuning-*"))) == 1
    third = Path(shutil.copytree(made, tmp_path / "moved", ignore=shutil.ignore_patterns("runs")))
    make_job(run.with_seed(2), third)  # what was tried is in the first seed's result
    assert not list((third / "runs").glob("tuning-*"))
    same = Results(made).find(run)
    assert same is not None
    assert first["run"]["accuracy_last"] == same["run"]["accuracy_last"]


def test_a_run_may_have_workers_of_its_own(tmp_path: Path) -> None:
    """Samples that are streamed, as ImageNet's in Table 4, are decoded by further processes."""
    photos = streamed(tmp_path / "photos", classes=2, each=12, batch_size=8, workers=1)
    (outcome,) = run_locally([Run(photos)], tmp_path / "out", processes=1)
    assert outcome.error is None


def test_runs_at_the_same_time_take_turns_with_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert engines._gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert engines._gpus() == ["5", "7"]


def where(job: Run, folder: str, *, parent: int | None) -> dict[str, Any]:
    return {"process": os.getpid(), "gpu": os.environ.get("CUDA_VISIBLE_DEVICES")}


def test_a_process_makes_one_job_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_gpus", lambda: ["5", "7"])
    jobs = [tiny().cells[0].run.with_seed(seed) for seed in range(6)]
    outcomes = list(run_in_forks(jobs, tmp_path, processes=2, make=where))
    assert {outcome.run.seed for outcome in outcomes} == set(range(6))
    made = {(one.result or {})["process"]: (one.result or {})["gpu"] for one in outcomes}
    assert 1 <= len(made) <= 2
    assert set(made.values()) <= {"5", "7"}
    assert len(set(made.values())) == len(made)  # each process has its own


def test_conditions_are_those_when_a_run_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tiny().cells[0].run
    commits = iter(("first", "second", "third"))
    monkeypatch.setattr(work, "conditions", lambda: {"commit": next(commits)})

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runs, "_train", killed)
        with pytest.raises(KeyboardInterrupt):
            make_job(run, tmp_path)
    found = make_job(run, tmp_path)
    assert found["conditions"] == {"commit": "first"}
    assert found["went_on_under"] == [{"commit": "second"}]


def test_what_is_there_is_not_made_again(made: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in made.glob("*.json")}
    started = time.monotonic()
    for run in tiny().runs():
        make_job(run, made)
    assert time.monotonic() - started < 2
    assert {path: path.stat().st_mtime_ns for path in made.glob("*.json")} == before


def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    good = tiny().cells[0].run
    outcomes = {
        outcome.run.digest: outcome
        for outcome in run_in_forks([broken(), good], tmp_path, processes=1)
    }
    assert "unknown data 'no-such-folder'" in (outcomes[broken().digest].error or "")
    assert outcomes[good.digest].result is not None


def _child_of(pid: int) -> int | None:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(fields[1]) == pid and b"spawn_main" in words:
                return int(entry.name)
    return None


def long_run() -> Run:
    return Run(config("full-model", epochs=60))


def test_a_process_that_dies_is_reported(tmp_path: Path) -> None:
    def kill() -> None:
        metrics = Results(tmp_path).working(long_run()) / "run" / "metrics.jsonl"
        while not metrics.exists():
            time.sleep(0.05)
        child = _child_of(os.getpid())
        assert child is not None
        os.kill(child, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    good = tiny().cells[0].run
    outcomes = list(run_locally([long_run(), good], tmp_path, processes=1))
    killer.join()
    assert outcomes[0].error == "its process died (killed by SIGKILL)"
    assert outcomes[1].result is not None


def _reproduce(folder: str, runs: list[Run]) -> None:
    for outcome in run_locally(runs, Path(folder), processes=1):
        assert outcome.error is None


def test_killed_it_goes_on_where_it_was(
    whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent dies by SIGKILL; its child notices, and the next command resumes the run."""
    parent = forked().Process(target=_reproduce, args=(f"{tmp_path}", [long_run()]))
    parent.start()
    saved = RunFolder(Results(tmp_path).working(long_run()) / "run").checkpoints
    while not saved.paths():
        time.sleep(0.05)
    parent.kill()
    parent.join()
    epochs: list[int] = []
    monkeypatch.setattr(work.Orphaned, "epoch", lambda _, row: epochs.append(row["epoch"]))
    resumed = make_job(long_run(), tmp_path)  # waits for the child to be gone
    assert 1 < epochs[0] < epochs[-1] == 60
    for name in ("accuracy_last", "accuracy_best", "best_epoch"):
        assert resumed["run"][name] == whole["run"][name]
    assert resumed["curve"] == whole["curve"]


def _make_all(folder: str, runs: list[Run]) -> None:
    for outcome in run_in_this_process(runs, Path(folder), processes=1):
        assert outcome.error is None


def test_two_at_once_share_the_work(tmp_path: Path) -> None:
    runs = [run for run in tiny().runs() if run.tuning is None][:2]
    both = [forked().Process(target=_make_all, args=(f"{tmp_path}", runs)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    results = Results(tmp_path)
    results.check()
    assert len(list(tmp_path.glob("*.json"))) == len(runs)


def test_another_version_and_half_a_file(made: Path, tmp_path: Path) -> None:
    run = tiny().cells[0].run
    path = Results(tmp_path).path(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"format": 0}')
    with pytest.raises(MentorNetError, match="has format 0, this mentornet writes 2"):
        Results(tmp_path).find(run)
    path.write_text(Results(made).path(run).read_text()[:200])
    with pytest.raises(
        MentorNetError, match=r"is not JSON .* move it away, and the run is made again"
    ):
        Results(tmp_path).check()
    path.write_text(
        '{"format": 2, "digest": "d", "kind": "training", "run": {"seed": 0}, '
        '"train_accuracy": 1, "curve": {}, "config": {}, "tried": null}'
    )
    with pytest.raises(MentorNetError, match=r"has no conditions: .* move it away"):
        Results(tmp_path).check()
    whole = read_json(Results(made).path(run))
    del whole["run"]["accuracy_last"]
    path.write_text(json.dumps(whole))
    with pytest.raises(MentorNetError, match=r"has no run.accuracy_last: "):
        compare(tiny(), Results(tmp_path))
    path.write_text(json.dumps({**whole, "kind": "guess"}))
    with pytest.raises(MentorNetError, match="has no known kind: "):
        compare(tiny(), Results(tmp_path))
    path.write_text(json.dumps({**whole, "run": None}))
    with pytest.raises(MentorNetError, match=r"has no run.seed: "):
        compare(tiny(), Results(tmp_path))
    path.write_text(Results(made).path(tiny().cells[-1].run).read_text())
    with pytest.raises(MentorNetError, match="holds the result of another run"):
        compare(tiny(), Results(tmp_path))
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(MentorNetError, match="must be a folder"):
        Results(file)


def test_the_comparison(made: Path) -> None:
    table = tiny()
    entries = compare(table, Results(made))
    assert all(len(entry.values) == 1 for entry in entries.values())
    full, tuned, oracle = (
        entries[row, "0.4"].mean for row in ("full-model", "reed-soft", "oracle")
    )
    assert full is not None
    assert tuned is not None
    assert oracle is not None
    gap = gap_closed(entries, "reed-soft", "0.4")
    if oracle > full:
        assert gap == pytest.approx((tuned - full) / (oracle - full))
    else:
        assert gap is None
    text = markdown(table, entries)
    assert f"| full-model | {100 * full:.1f} | " in text
    assert "| 1 | 50 |" in text  # n, and the paper's number
    nothing = compare(table, Results(made / "elsewhere"))
    assert markdown(table, nothing) == ""
    assert gap_closed(nothing, "reed-soft", "0.4") is None


def ranged(table: Table) -> Table:
    return select(table, ["row=full-model", "column=0.2"])


def test_seeds_give_a_range(tmp_path: Path) -> None:
    table = replace(ranged(tiny()), seeds=2)
    for run in table.runs():
        make_job(run, tmp_path)
    (entry,) = compare(table, Results(tmp_path)).values()
    assert len(entry.values) == 2
    low, high = sorted(100 * value for value in entry.values)
    assert f"({low:.1f}–{high:.1f})" in markdown(table, compare(table, Results(tmp_path)))


# Ray: a cluster on this machine, a core for each worker.


@pytest.fixture(scope="module")
def cluster() -> Any:
    ray = pytest.importorskip("ray")
    here = os.pathsep.join([f"{ROOT}", f"{ROOT / 'src'}"])  # not what happens to be installed
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error",
        runtime_env={"env_vars": {"PYTHONPATH": here}},
    )  # fmt: skip
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_ray_makes_the_same(made: Path, tmp_path: Path, cluster: Any) -> None:
    del cluster
    runs = [*ranged(tiny()).runs(), broken()]
    outcomes = {outcome.run.digest: outcome for outcome in run_on_ray(runs, tmp_path)}
    same = Results(made).find(runs[0])
    found = outcomes[runs[0].digest].result
    assert found is not None
    assert same is not None
    assert found["run"]["accuracy_last"] == same["run"]["accuracy_last"]
    assert "unknown data" in (outcomes[broken().digest].error or "")


@pytest.mark.filterwarnings("ignore")
def test_ray_starts_a_killed_worker_again(
    whole: dict[str, Any], tmp_path: Path, cluster: Any
) -> None:
    """The worker dies by SIGKILL in mid-run; the task is retried and resumes the run."""
    run = long_run()
    folder = Results(tmp_path).working(run) / "run"
    killed: list[int] = []

    def kill() -> None:
        while not (folder / "metrics.jsonl").exists():
            time.sleep(0.05)
        for entry in Path("/proc").iterdir():
            try:
                at_work = entry.name.isdigit() and (entry / "cmdline").read_bytes()[:13]
            except OSError:
                continue
            if at_work == b"ray::_attempt":
                killed.append(int(entry.name))
                os.kill(killed[-1], signal.SIGKILL)

    del cluster
    killer = threading.Thread(target=kill)
    killer.start()
    (outcome,) = run_on_ray([run], tmp_path)
    killer.join()
    assert killed
    assert outcome.error is None
    assert outcome.result is not None
    assert outcome.result["curve"] == whole["curve"]


@pytest.mark.filterwarnings("ignore")
def test_no_cluster_at_the_address(tmp_path: Path) -> None:
    pytest.importorskip("ray").shutdown()
    with pytest.raises(MentorNetError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        list(run_on_ray([broken()], tmp_path, address="127.0.0.1:1"))


def test_results_are_plain_json(made: Path) -> None:
    odd: list[str] = []  # NaN and the infinities, which JSON does not know
    texts = [path.read_text() for path in made.glob("*.json")]
    for text in texts:
        json.loads(text, parse_constant=odd.append)
    assert len(texts) == 6
    assert odd == []
