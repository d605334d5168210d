"""Processes find those of their own start, and notice who is gone."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import torch

from mentornet.distributed.meeting import meet, patience
from mentornet.distributed.watch import Watch, watching
from mentornet.errors import MentorNetError


def new_store() -> Any:
    return torch._C._distributed_c10d.HashStore()


def meeting(store: Any, world: int = 3) -> set[str]:
    with ThreadPoolExecutor(world) as pool:
        return set(pool.map(lambda rank: meet(store, rank, world), range(world)))


def test_all_hear_one_name_and_another_at_the_next_start() -> None:
    store = new_store()
    first, second = meeting(store), meeting(store)
    assert len(first) == len(second) == 1
    assert first != second


def test_word_of_a_dead_process_misleads_nobody() -> None:
    """A rank has called and died before rank 0 came; its successor is the one that is met."""
    store = new_store()
    store.set("mentornet/hello/1", "dead")
    assert len(meeting(store, 2)) == 1


@pytest.mark.parametrize(
    ("rank", "message"), [(0, "for rank 1, which did not answer"), (1, "for rank 0, which did not")]
)
def test_who_does_not_come_is_named(
    rank: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MENTORNET_PATIENCE", "1")
    with pytest.raises(MentorNetError, match=message):
        meet(new_store(), rank, 2)


@pytest.mark.parametrize("given", ["soon", "0", "-3", "nan", ""])
def test_patience_is_a_number_of_seconds(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MENTORNET_PATIENCE", given)
    with pytest.raises(MentorNetError, match="MENTORNET_PATIENCE must be 1 to 86400 seconds"):
        patience()


def test_silence_is_noticed_and_done_is_not_silence() -> None:
    store = new_store()
    zero, one, two = (Watch(store, rank, 3, 0.2) for rank in range(3))
    for watch in (one, two, zero):
        watch.exchange(1)
    assert zero.silent() == []
    one.say_done()
    zero.exchange(2)
    time.sleep(0.3)
    two.exchange(2)
    zero.exchange(3)
    assert zero.silent() == []
    time.sleep(0.3)
    zero.exchange(4)
    assert zero.silent() == [2]
    assert two.silent() == [0]


def test_a_lost_connection_is_one_line() -> None:
    lost = RuntimeError("[/pytorch/gloo/transport/tcp/pair.cc:534] Connection closed by peer")
    with pytest.raises(MentorNetError, match="rank 1 has lost another process and ends"):  # noqa: SIM117
        with watching(new_store(), 1, 2):
            raise lost
    with pytest.raises(RuntimeError, match="a bug of ours"), watching(new_store(), 1, 2):
        raise RuntimeError("a bug of ours")


def test_an_end_in_good_order_is_told() -> None:
    store = new_store()
    with watching(store, 1, 2):
        pass
    store.set_timeout(timedelta(seconds=1))
    assert store.get("1") == b"done"
