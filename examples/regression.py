"""Regression with gross outliers: any loss, through `losses=`.

    python examples/regression.py

A fifth of 1,500 targets are nonsense, far away from the others. `MentorLoss` takes the squared
error of each sample. It knows neither the unit of the target nor how large errors usually are, so
it compares each error with the median of all. The outliers stand out, `noise_estimate()` counts
them, and their weight falls to 0. The same works for the losses of preferences (DPO) or any other
loss a sample.
"""

from __future__ import annotations

import torch
from sklearn.metrics import average_precision_score
from torch import nn

from mentornet import MentorLoss

SAMPLES, EPOCHS, BATCH = 1500, 30, 50


def train(criterion: MentorLoss | None, epochs: int = EPOCHS) -> tuple[float, torch.Tensor]:
    """Train on targets with outliers; return the error on clean ones, and what is an outlier."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(SAMPLES + 1000, 6, generator=draw)
    clean = inputs @ torch.randn(6, generator=draw) + (2 * inputs[:, 0]).sin()
    targets = clean + 0.3 * torch.randn(len(clean), generator=draw)
    outlier = torch.rand(len(clean), generator=draw) < 0.2
    targets = torch.where(outlier, 20 * torch.randn(len(clean), generator=draw), targets)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        student = nn.Sequential(
            nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
        )
    adam = torch.optim.Adam(student.parameters(), lr=0.003)
    for _ in range(epochs):
        for index in torch.randperm(SAMPLES, generator=draw).split(BATCH):
            losses = (student(inputs[index])[:, 0] - targets[index]) ** 2
            loss = losses.mean() if criterion is None else criterion(losses=losses, index=index)
            adam.zero_grad()
            loss.backward()
            adam.step()
    with torch.no_grad():
        error = (student(inputs[SAMPLES:])[:, 0] - clean[SAMPLES:]).square().mean().sqrt()
    return error.item(), outlier[:SAMPLES]


def main(epochs: int = EPOCHS) -> tuple[float, float, float, float]:
    """Compare with the plain loss, and find the outliers."""
    plain, _ = train(None, epochs)
    criterion = MentorLoss(total_steps=epochs * SAMPLES // BATCH, samples=SAMPLES)
    mentored, outlier = train(criterion, epochs)
    estimate, table = criterion.noise_estimate(), criterion.audit().table
    is_wrong = outlier[table["index"].tolist()]
    found = float(average_precision_score(is_wrong, 1 - table["label_quality"]))
    print(f"squared error  root mean squared error of {plain:.2f} on clean targets")
    print(f"MentorLoss     {mentored:.2f}")
    print(estimate)
    print(f"outliers are found with an average precision of {found:.3f}")
    return plain, mentored, estimate.rate, found


if __name__ == "__main__":
    main()
