"""What `MentorLoss` costs: a step of the fast student with it, against one with cross-entropy.

    make bench

Forward, loss, backward, update, at B = 128 and B = 512, images of 3 × 32 × 32, the two in turn.
Held to 1.02. Three ways: as it comes; with `samples=` and `index=`, which adds records of
every sample; and with a mentor network. Then the student and the loss are compiled as one graph,
and both are asked for the same number. The figures go to results/bench/drop_in_cost.json.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.timing import alternate, ratio
from mentornet import MentorLoss
from mentornet.experiments.conditions import conditions
from mentornet.files import write_json
from mentornet.randomness import generator
from mentornet.students import make_student

RESULT = Path(__file__).parents[1] / "results" / "bench" / "drop_in_cost.json"
LIMIT = 1.02
ROUNDS = {128: 120, 512: 40}
SAMPLES = 50_000

CRITERIA: dict[str, Callable[[], nn.Module]] = {
    "cross-entropy": nn.CrossEntropyLoss,
    "MentorLoss": lambda: MentorLoss(total_steps=10_000, burn_in=0.0),
    "MentorLoss, samples": lambda: MentorLoss(total_steps=10_000, burn_in=0.0, samples=SAMPLES),
    "MentorLoss, pd": lambda: MentorLoss("pd", 10_000, 0.0),
}


def student() -> Any:
    made: Any = make_student("fast", channels=3, classes=10)
    return made.to(memory_format=torch.channels_last)


def batch(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = generator(0)
    images = torch.randn(size, 3, 32, 32, generator=draw).to(memory_format=torch.channels_last)
    return images, torch.randint(10, (size,), generator=draw)


def steps(name: str, size: int) -> Callable[[], None]:
    network, criterion = student(), CRITERIA[name]()
    images, labels = batch(size)
    options = {"index": torch.arange(size)} if name.endswith("samples") else {}
    sgd = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)

    def step() -> None:
        loss = criterion(network(images), labels, **options)
        sgd.zero_grad()
        loss.backward()
        sgd.step()

    return step


def compiled_agrees() -> bool:
    images, labels = batch(128)
    network, plain, fused = student(), MentorLoss(total_steps=10), MentorLoss(total_steps=10)

    @torch.compile(fullgraph=True)
    def step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = fused(network(images), labels)
        return loss

    ours = [step(images, labels).item() for _ in range(3)]
    theirs = [plain(network(images), labels).item() for _ in range(3)]
    return torch.allclose(torch.tensor(ours), torch.tensor(theirs), rtol=1e-3)


def main() -> int:
    results: dict[str, Any] = {}
    failed = False
    for size, rounds in ROUNDS.items():
        functions = {name: steps(name, size) for name in CRITERIA}
        seconds = alternate(functions, rounds=rounds, calls=1)
        for name in list(CRITERIA)[1:]:
            median, lower, upper = ratio(seconds, name, "cross-entropy")
            print(f"B = {size}: {name} / cross-entropy {median:.3f} ({lower:.3f}–{upper:.3f})")
            results[f"{name}, B = {size}"] = {"median": median, "quartiles": [lower, upper]}
            failed |= median > LIMIT
    agrees = compiled_agrees()
    print(f"compiled with its student as one graph: {'agrees' if agrees else 'DIFFERS'}")
    results["compiled as one graph"] = agrees
    write_json(RESULT, {"limit": LIMIT, "results": results, "conditions": conditions()})
    return int(failed or not agrees)


if __name__ == "__main__":
    sys.exit(main())
