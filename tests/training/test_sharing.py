"""Several processes come to what one comes to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import distributed as dist
from torch import nn

from mentornet.cli import main
from mentornet.config import TrainConfig
from mentornet.data import augment, load_data
from mentornet.distributed import Processes
from mentornet.errors import MentorNetError
from mentornet.randomness import generator
from mentornet.students import synced
from mentornet.training import RunFolder, train
from tests.processes import run_ranks
from tests.training import sharing, stopping
from tests.training.runs import outcome
from tests.training.sharing import SETTINGS, config

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """All methods, by one process and by two."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    for method in SETTINGS:
        train(config(method), one / method)
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         "-m", "tests.training.sharing", f"{two}", *SETTINGS],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return one, two


@pytest.mark.parametrize("method", list(SETTINGS))
def test_two_equal_one(method: str, both: tuple[Path, Path]) -> None:
    """100 steps, mentors learned on the way, samples that move between the processes."""
    assert_close(both[0] / method, both[1] / method)
    one, two = (RunFolder(folder / method).read_summary() for folder in both)
    assert one["accuracy_last"] == two["accuracy_last"]
    assert one["notes"] == two["notes"] or method == "mentornet-dd"


def assert_close(one: Path, other: Path) -> None:
    (weights, records), (same, too) = outcome(one), outcome(other)
    assert weights.keys() == same.keys()
    for name in weights:
        assert torch.allclose(weights[name].float(), same[name].float(), atol=1e-5), name
    for column in (
        "given_label", "true_label", "learned_epoch", "forgotten", "predicted_label",
        "suggested_label",
    ):  # fmt: skip
        assert (records[column] == too[column]).all(), column
    for column in ("mean_weight", "last_weight", "margin", "support"):
        assert np.allclose(records[column], too[column], atol=1e-4), column
    assert np.allclose(np.stack(records["loss"]), np.stack(too["loss"]), atol=1e-4)


def test_two_go_on_as_one(both: tuple[Path, Path], tmp_path: Path) -> None:
    """Stopped after epoch 9 of 20, between the two lessons of its mentor."""
    out = tmp_path / "run"
    ended = run_ranks(tmp_path, stopping.main, f"{out}", "mentornet-dd", "9")
    assert "StoppedError" in ended[0][1]
    assert all(code != 0 for code, _ in ended)
    assert len(RunFolder(out).read_metrics()) == 9
    train(config("mentornet-dd"), out, resume=True)
    assert_close(both[0] / "mentornet-dd", out)


def test_one_goes_on_as_two(both: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(stopping.StoppedError):
        train(config("mentornet-dd"), out, observer=stopping.StopsAfter(9))
    assert len(RunFolder(out).read_metrics()) == 9
    check_ended(run_ranks(tmp_path, stopping.main, f"{out}", "mentornet-dd", "0"))
    assert_close(both[0] / "mentornet-dd", out)


def check_ended(ended: list[tuple[int, str]]) -> None:
    """All have ended well."""
    for code, told in ended:
        assert code == 0, told[-3000:]


def test_three_share_what_they_cannot_divide(both: tuple[Path, Path], tmp_path: Path) -> None:
    """Batches of 32 and 31: parts of 11, 11 and 10, or 11, 10 and 10."""
    words = (f"{tmp_path}", "mentornet-pd")
    check_ended(run_ranks(tmp_path, sharing.main, *words, processes=3))
    assert_close(both[0] / "mentornet-pd", tmp_path / "mentornet-pd")


def test_a_killed_rank_is_started_again(both: tuple[Path, Path], tmp_path: Path) -> None:
    """SIGKILL to each in turn; torchrun restarts all, and the run goes on from its checkpoint."""
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        "--max-restarts", "2", "-m", "tests.training.sharing", f"{tmp_path}", "mentornet-dd",
    ]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as running:
        metrics = tmp_path / "mentornet-dd" / "metrics.jsonl"
        killed: list[int] = []
        for rank, epochs in ((0, 5), (1, 9)):
            while not metrics.exists() or len(metrics.read_text().splitlines()) < epochs:
                assert running.poll() is None
                time.sleep(0.02)
            killed.append(int((tmp_path / f"pid-{rank}").read_text()))
            os.kill(killed[-1], signal.SIGKILL)
        try:
            _, errors = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 0, errors[-3000:]
    assert int((tmp_path / "pid-1").read_text()) not in killed
    (weights, records), (same, too) = (
        outcome(folder / "mentornet-dd") for folder in (both[1], tmp_path)
    )
    for name in weights:
        assert torch.equal(weights[name], same[name]), (
            name
        )  # bit for bit: as many processes as before
    assert (records["last_weight"] == too["last_weight"]).all()
    assert (np.stack(records["loss"]) == np.stack(too["loss"])).all()


def test_the_mentors_learned_are_the_same(both: tuple[Path, Path]) -> None:
    names = [sorted(p.name for p in (folder / "mentornet-dd" / "mentors").iterdir())
             for folder in both]  # fmt: skip
    assert names[0] == names[1]
    assert names[0]


def refused(out: str) -> None:
    """Everything that processes refuse to start, one after the other."""
    rank = int(os.environ["RANK"])
    assert main(["train", "digits", "--method", "elr", "--out", out]) == 2
    print("the method was refused", file=sys.stderr)
    assert main(["train", "digits", "--seed", f"{rank}", "--epochs", "1", "--out", out]) == 2
    print("the config was refused", file=sys.stderr)
    splits = load_data("digits")
    assert isinstance(splits.train.tensor, torch.Tensor)
    splits.train.tensor[7, 0, 3, 3] += rank
    with pytest.raises(MentorNetError) as caught:
        train(TrainConfig("digits"), out, splits=splits)
    print(f"mentornet: {caught.value}\nthe data was refused", file=sys.stderr)


def test_what_two_processes_refuse_to_start(tmp_path: Path) -> None:
    """A method for one process, and processes that have other configs or other data."""
    ended = run_ranks(tmp_path, refused, f"{tmp_path}/run")
    check_ended(ended)
    assert len(ended) == 2
    differ = "mentornet: rank 1 has a config or data that differ from rank 0's"
    for _, told in ended:
        said = [line.partition(";")[0] for line in told.splitlines() if line]
        assert said == [
            "mentornet: elr runs in one process only", "the method was refused",
            differ, "the config was refused", differ, "the data was refused",
        ]  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_shares_cover_the_batch() -> None:
    for world in (1, 2, 3, 5):
        for count in (5, 8, 31):
            parts = [Processes(rank, world).share(count) for rank in range(world)]
            joined = [place for part in parts for place in range(part.start, part.stop)]
            assert joined == list(range(count))
            sizes = {part.stop - part.start for part in parts}
            assert max(sizes) - min(sizes) <= 1


def test_a_part_is_augmented_as_in_the_whole() -> None:
    pixels = torch.randint(256, (9, 3, 8, 8), generator=generator(0), dtype=torch.uint8)
    whole = augment(pixels, generator=generator(1))
    for rank in range(2):
        mine = Processes(rank, 2).share(9)
        part = augment(pixels[mine], generator=generator(1), part=(mine, 9))
        assert torch.equal(part, whole[mine])


def test_alone_nothing_is_exchanged() -> None:
    losses, classes = torch.tensor([1.5, float("nan")]), torch.tensor([3, 2**52])
    seen, same = Processes().gather([losses, classes])
    assert torch.allclose(seen, losses, equal_nan=True)
    assert torch.equal(same, classes)
    Processes().wait()
    Processes().check_same("abc", "anything")
    assert Processes().agree(True)


def test_a_batch_too_small_for_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    from mentornet.training import run
    from tests.training.runs import prepared

    monkeypatch.setattr(Processes, "check_same", lambda *_: None)
    message = r"shared by 33 processes: it must be at least 33, got batches of 32; or start at most"
    with pytest.raises(MentorNetError, match=f"{message} 32 processes"):
        run._check_parts(prepared("full-model"), Processes(0, 33))
    uneven = prepared("full-model", limit=33)  # two batches, of 17 and 16
    with pytest.raises(MentorNetError, match="must be at least 17, got batches of 16"):
        run._check_parts(uneven, Processes(0, 17))
    parts = prepared("full-model", accumulate=2)
    with pytest.raises(MentorNetError, match=r"must be at least 34, got batches of 32$"):
        run._check_parts(parts, Processes(0, 17))
    for allowed, world in ((prepared("full-model"), 32), (uneven, 16), (parts, 16)):
        run._check_parts(allowed, Processes(0, world))  # one sample per process and part


def test_one_sample_per_process_needs_norms_that_are_shared() -> None:
    """PyTorch's BatchNorm1d cannot normalise one sample, and its statistics are each process's."""
    from mentornet.training.assembly import _check_norms

    shared = synced(nn.Sequential(nn.BatchNorm2d(4), nn.GroupNorm(2, 4)))
    _check_norms(shared, 32, 32)
    own = nn.Sequential(shared, nn.BatchNorm1d(4))
    with pytest.raises(MentorNetError, match=r"at least 64, got batches of 63: .* BatchNorm1d, "):
        _check_norms(own, 63, 32)
    _check_norms(own, 64, 32)


def parts_of_a_batch(first: int, second: int, side: int) -> None:
    """Forward, backward and running averages of a norm that sees the whole batch, and of ours."""
    dist.init_process_group("gloo")
    draw = generator(0)
    shape = first + second, 4, side, side
    images, wanted = (torch.randn(shape, generator=draw) for _ in range(2))
    images = 3 + 2 * images
    mine = slice(0, first) if dist.get_rank() == 0 else slice(first, None)
    for affine in (True, False):
        norms = [nn.BatchNorm2d(4, affine=affine) for _ in range(2)]
        for norm in norms if affine else ():
            norm.weight.data.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
            norm.bias.data.fill_(0.5)
        plain, twin = nn.Sequential(norms[0]), synced(nn.Sequential(norms[1]))
        whole, part = images.clone().requires_grad_(), images[mine].clone().requires_grad_()
        for _ in range(3):
            one, two = plain(whole), twin(part)
        torch.testing.assert_close(one[mine], two)
        (one * wanted).sum().backward()
        (two * wanted[mine]).sum().backward()
        assert whole.grad is not None
        torch.testing.assert_close(whole.grad[mine], part.grad, atol=1e-5, rtol=1e-4)
        for ours, theirs in zip(plain.parameters(), twin.parameters(), strict=True):
            assert theirs.grad is not None
            dist.all_reduce(theirs.grad)
            torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(dict(plain.named_buffers()), dict(twin.named_buffers()))
        torch.testing.assert_close(plain.eval()(images), twin.eval()(images))
    dist.barrier()


@pytest.mark.parametrize(("first", "second", "side"), [(6, 4, 3), (1, 1, 1)])
def test_synced_norm_is_batch_norm(first: int, second: int, side: int, tmp_path: Path) -> None:
    """Two processes with parts of a batch.

    One value per process is enough, where PyTorch's own batch norm would refuse it.
    """
    check_ended(run_ranks(tmp_path, parts_of_a_batch, first, second, side))


def test_a_norm_of_another_kind_is_left_alone() -> None:
    student = nn.Sequential(nn.GroupNorm(2, 4), nn.BatchNorm2d(4))
    changed = synced(student)
    assert isinstance(changed[0], nn.GroupNorm)  # type: ignore[index]
    assert type(changed[1]) is not nn.BatchNorm2d  # type: ignore[index]
