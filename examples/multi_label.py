"""Several classes a sample: one weight for each pair of sample and class.

    python examples/multi_label.py

Each of 800 samples may belong to any of six classes, most to one or none. A fifth of all entries
of the label matrix is flipped. `MentorLoss(level="class")` takes the place of
`nn.BCEWithLogitsLoss()` and weighs each entry by itself, as one label of a sample may be wrong and
the others correct. It compares the ones of each class apart from its zeros, as ones are rare.
"""

from __future__ import annotations

import torch
from sklearn.metrics import average_precision_score
from torch import nn

from mentornet import MentorLoss

SAMPLES, FEATURES, CLASSES, EPOCHS, BATCH = 800, 16, 6, 25, 40


def train(criterion: nn.Module, epochs: int = EPOCHS) -> tuple[float, torch.Tensor]:
    """Train on flipped labels; return the average precision on clean test labels, and the flips."""
    draw = torch.Generator().manual_seed(0)
    direction = torch.randn(FEATURES, CLASSES, generator=draw)
    inputs = torch.randn(SAMPLES + 1000, FEATURES, generator=draw)
    true = (inputs @ direction > 4).long()
    flipped = torch.rand(true.shape, generator=draw) < 0.2
    given = torch.where(flipped, 1 - true, true)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        student = nn.Sequential(nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, CLASSES))
    adam = torch.optim.Adam(student.parameters(), lr=0.01)
    for _ in range(epochs):
        for index in torch.randperm(SAMPLES, generator=draw).split(BATCH):
            if isinstance(criterion, MentorLoss):
                loss = criterion(student(inputs[index]), given[index], index=index)
            else:
                loss = criterion(student(inputs[index]), given[index].float())
            adam.zero_grad()
            loss.backward()
            adam.step()
    with torch.no_grad():
        scores = student(inputs[SAMPLES:]).sigmoid()
    return float(average_precision_score(true[SAMPLES:], scores)), flipped[:SAMPLES]


def main(epochs: int = EPOCHS) -> tuple[float, float, float]:
    """Compare with the plain loss, and find the flipped labels."""
    plain, _ = train(nn.BCEWithLogitsLoss(), epochs)
    criterion = MentorLoss(
        total_steps=epochs * SAMPLES // BATCH, level="class", samples=SAMPLES, elements=CLASSES
    )
    mentored, flipped = train(criterion, epochs)
    table = criterion.audit(["sea", "beach", "sunset", "people", "boat", "dog"]).table
    is_wrong = flipped[table["sample"].tolist(), table["place"].tolist()]
    found = float(average_precision_score(is_wrong, 1 - table["label_quality"]))
    print(f"binary cross-entropy  {plain:.3f} average precision on clean test labels")
    print(f"MentorLoss            {mentored:.3f}")
    print(criterion.noise_estimate())
    print(f"flipped labels are found with an average precision of {found:.3f}; the first of them:")
    print(table[["sample", "given_label", "predicted_label", "label_quality"]].head(3))
    return plain, mentored, found


if __name__ == "__main__":
    main()
