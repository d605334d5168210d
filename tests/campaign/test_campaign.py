"""A small part of the campaign, and proof that it finds what it looks for."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from campaign.__main__ import main
from campaign.kills import kill_runs
from campaign.ledger import Ledger
from campaign.nodes import Node
from campaign.parts import replay
from campaign.readers import Hand, try_files, turns
from campaign.stored_fields import changes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits processes as Linux does")

CHEAP = [
    "labels.npz", "labels.npy", "labels.npy, pickled", "labels.pt", "labels.pt of old PyTorch",
    "transition.npy", "transition.csv", "manifest.csv", "manifest.parquet", "image folder",
    "texts.csv", "rows.csv", "rows.parquet", "vectors.npz, labelled", "saved dataset",
    "saved dataset, ordered", "saved dataset, vectors", "saved dataset, images",
    "image folder, streamed", "CIFAR-10", "CIFAR-100", "CIFAR-10 in Parquet",
    "archive of CIFAR-10", "IDX", "ImageNet", "WebVision", "shards", "shards of others",
    "verdicts.csv", "labels.csv", "vectors.npy", "vectors.npz", "vectors.parquet",
]  # fmt: skip


def test_files_of_strangers(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, seed=26)
    try_files(ledger, tmp_path, seconds=60, workers=1, doors=CHEAP, most=12)
    assert ledger.starting("files") >= 100
    assert not ledger.failed(), f"{ledger.faults()}\n{ledger.table()}"


def test_the_folder_may_be_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    node = json.loads(Node.of("transition.csv", b"1,x\n").text())
    case = {"part": "files: transition.csv", "door": "transition.csv", "node": node}
    Path("case.json").write_text(json.dumps(case))
    assert main(["--replay", "case.json", "--out", "here"]) == 0
    assert capsys.readouterr().out == "held\n"


def test_a_mistake_of_the_campaign_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(hand: Hand, asked: object) -> None:
        raise RuntimeError("no specimen")

    monkeypatch.setattr(Hand, "try_case", fail)
    with pytest.raises(RuntimeError, match="no specimen"):
        try_files(Ledger(tmp_path, 0), tmp_path, seconds=9, workers=1, doors=["transition.csv"])


def test_a_killed_run_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, seed=1)
    kill_runs(ledger, tmp_path, seconds=60, most=1)
    assert ledger.starting("kills") >= 1
    assert not ledger.failed(), ledger.faults()


_HARM = """
import json, os, socket, sys
from pathlib import Path
from campaign import worker
from campaign.doors import DOORS, Door

worker.MEMORY, worker.SECONDS, kept = 1 << 26, 0.5, []

def spin():
    while True:
        sum(range(1000))
        if __import__("time").process_time() > begin + 1: return

def loop():
    global begin
    begin = __import__("time").process_time()
    spin()

def elsewhere(folder):
    open(sys.argv[1] + "/elsewhere", "w").close()

HARM = {
    "trace": lambda folder: {}["key"],
    "message": lambda folder: (_ for _ in ()).throw(worker.MentorNetError("two\\nlines")),
    "code": lambda folder: os.system("true"),
    "code ": elsewhere,
    "code  ": lambda folder: __import__("evil"),
    "memory": lambda folder: len(bytearray(1 << 28)),
    "memory ": lambda folder: bytearray(1 << 40),
    "files": lambda folder: kept.append(open(folder / "a.txt")),
    "slow": lambda folder: loop(),
    "": lambda folder: (_ for _ in ()).throw(worker.MentorNetError("a.txt is odd")),
}
home = Path(sys.argv[1])
for number, (name, read) in enumerate(HARM.items()):
    DOORS[name] = Door(lambda folder: None, read)
    place = home / "specimens" / f"{list(DOORS).index(name):02d}"
    place.mkdir(parents=True)
    (place / "a.txt").write_text("a")
it = worker.Worker(home / "specimens", home / "worker")
sys.path.insert(0, ".")
it.warm.update(HARM)
for name in HARM:
    print(json.dumps(it.try_case({"door": name, "number": 0, "seed": 0})), flush=True)
os._exit(0)
"""


def test_it_sees_traces_code_memory_files_and_time(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HARM, f"{tmp_path}"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    faults = [json.loads(line)["fault"].partition(":")[0] for line in done.stdout.splitlines()]
    assert faults == [
        "trace", "message", "code", "code", "code", "memory", "memory", "files", "slow", "",
    ]  # fmt: skip


def test_a_failure_is_kept_and_replays(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, seed=5)
    node = json.loads(Node.of("transition.csv", b"1,x\n").text())
    case = {"door": "transition.csv", "node": node}
    ledger.add("files: transition.csv", "trace: made up", case)
    ledger.add("files: transition.csv", "", None)
    (kept,) = (tmp_path / "failures").iterdir()
    assert replay(json.loads(kept.read_text()), tmp_path) == ""
    again = Ledger(tmp_path, seed=5)
    again.counts = ledger.counts
    assert "| files: transition.csv | 2 | 1 | 1 | 5 |" in again.table()
    assert "trace: made up (1 times)" in again.faults()


def test_it_continues_where_it_was_stopped(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, seed=2)
    for _ in range(3):
        ledger.add("files: IDX", "")
    ledger.save()
    again = Ledger(tmp_path, seed=2)
    assert list(turns(["IDX", "shards"], again, most=4)) == [
        ("IDX", 3), ("shards", 0), ("shards", 1), ("shards", 2), ("shards", 3),
    ]  # fmt: skip


def test_every_stored_field_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"format": 1, "names": ["a"]}')
    made = [
        zlib.decompress(base64.b64decode(node.content)) for node in changes(tmp_path, path.name)
    ]
    contents = [json.loads(content) for content in made]
    assert {"names": ["a"]} in contents
    assert {"format": 1} in contents
    assert {"format": 99, "names": ["a"]} in contents
    assert {"format": 1, "names": [None]} in contents
