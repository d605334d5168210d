"""A plain loop with `MentorLoss`, by one process, or by several with DDP."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from mentornet import EarlyLoss, MentorLoss, scale_weight_decay
from mentornet.distributed import Processes
from mentornet.randomness import generator, seeded

COUNT, BATCH, STEPS = 96, 24, 60


def clouds() -> tuple[Tensor, Tensor, Tensor]:
    """Two clouds of points, their labels, and which third of the labels is wrong."""
    draw = generator(0)
    truth = torch.randint(2, (COUNT,), generator=draw)
    points = torch.randn(COUNT, 4, generator=draw) + 2.0 * truth[:, None]
    wrong = torch.rand(COUNT, generator=draw) < 0.33
    return points, torch.where(wrong, 1 - truth, truth), wrong


def take_steps(
    student: nn.Module, sgd: torch.optim.Optimizer, criterion: nn.Module, processes: Processes
) -> None:
    """60 steps on the clouds."""
    points, given, _ = clouds()
    for step in range(STEPS):
        whole = torch.randperm(COUNT, generator=generator(2, step))[:BATCH]
        index = whole[processes.share(BATCH)]
        loss = criterion(student(points[index]), given[index], index=index)
        sgd.zero_grad()
        loss.backward()
        sgd.step()


def loop() -> dict[str, Any]:
    """60 steps on two clouds of points, a third of the labels wrong, a third of them verified."""
    _, _, wrong = clouds()
    with seeded(1):
        module = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    processes = Processes.join()
    student: nn.Module = module if processes.alone else DistributedDataParallel(module)
    sgd = torch.optim.SGD(module.parameters(), lr=0.2, momentum=0.9, weight_decay=0.01)
    criterion = MentorLoss(total_steps=STEPS, samples=COUNT, updates=(0.4, 0.7))
    criterion.learn_from(torch.arange(0, COUNT, 3), ~wrong[::3])
    scale_weight_decay(sgd, criterion)
    take_steps(student, sgd, criterion, processes)
    state = {name: part for name, part in criterion.state_dict().items() if torch.is_tensor(part)}
    return {"student": module.state_dict(), "criterion": state, "notes": criterion.notes}


def tagging_loop() -> dict[str, Any]:
    """24 steps on sentences: each process pads to its own longest one, and has its own labels."""
    draw = generator(0)
    words = torch.randint(40, (COUNT, 9), generator=draw)
    lengths = torch.randint(2, 10, (COUNT,), generator=draw)
    given = torch.where(torch.rand(words.shape, generator=draw) < 0.3, (words + 1) % 4, words % 4)
    given[torch.arange(9) >= lengths[:, None]] = -100
    with seeded(1):
        module = nn.Sequential(nn.Embedding(40, 8), nn.Tanh(), nn.Linear(8, 4))
    processes = Processes.join()
    student: nn.Module = module if processes.alone else DistributedDataParallel(module)
    sgd = torch.optim.SGD(module.parameters(), lr=1.0)
    criterion = MentorLoss(
        total_steps=24, burn_in=0.3, level="token", samples=COUNT, elements=lengths
    )
    for step in range(24):
        whole = torch.randperm(COUNT, generator=generator(2, step))[:BATCH]
        whole = whole[lengths[whole].argsort()]  # so that the first process has short sentences
        index = whole[processes.share(BATCH)]
        longest = int(lengths[index].max())
        loss = criterion(student(words[index, :longest]), given[index, :longest], index=index)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    return {"student": module.state_dict(), "criterion": criterion.state_dict(), "notes": []}


def early_loop() -> dict[str, Any]:
    """60 steps on two clouds of points, a third of the labels wrong, with `EarlyLoss`."""
    with seeded(1):
        module = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    processes = Processes.join()
    student: nn.Module = module if processes.alone else DistributedDataParallel(module)
    sgd = torch.optim.SGD(module.parameters(), lr=0.1)
    criterion = EarlyLoss(total_steps=STEPS, samples=COUNT, classes=2)
    take_steps(student, sgd, criterion, processes)
    return {"student": module.state_dict(), "criterion": criterion.state_dict(), "notes": []}


def judge(out: str) -> None:
    """Write what one of the processes comes to."""
    torch.save(early_loop(), f"{out}-{Processes.here().rank}")


def tag(out: str) -> None:
    """Write what one of the processes comes to."""
    torch.save(tagging_loop(), f"{out}-{Processes.here().rank}")


def main(out: str) -> None:
    """Write what one of the processes comes to."""
    torch.save(loop(), f"{out}-{Processes.here().rank}")
