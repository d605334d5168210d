"""MentorNet in a plain PyTorch loop, beside the same loop with cross-entropy.

    python examples/plain_loop.py

Four in ten labels of scikit-learn's digits are made wrong. A network that is trained plainly first
learns the digits. In the later epochs it memorises the wrong labels, so its accuracy on clean test
images falls. MentorNet (Jiang et al., ICML 2018) gives every sample of a batch a weight v in [0, 1]
and minimises (1/B) Σ v ℓ. The weights come from a mentor, which looks at each loss, at how far it
is from the other losses, and at the progress of training. Large losses late in training are
probably those of wrong labels. Each step computes the losses, then the weights with the student
fixed, and then moves the student.

All of that is in one line, which is marked below. The mentor is not told how many labels are wrong.
"""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from torch import nn

from mentornet import MentorLoss

EPOCHS, BATCH = 60, 64


def noisy_digits(seed: int) -> tuple[torch.Tensor, ...]:
    """Return images and labels to train on, four in ten labels wrong, and clean ones to test on."""
    draw = torch.Generator().manual_seed(seed)
    pixels, digits = load_digits(return_X_y=True)
    images, labels = (
        torch.tensor(pixels / 16).float()[:, None].view(-1, 1, 8, 8),
        torch.tensor(digits),
    )
    order = torch.randperm(len(labels), generator=draw)
    images, labels = images[order], labels[order]
    wrong = torch.rand(len(labels), generator=draw) < 0.4
    another = (labels + torch.randint(1, 10, labels.shape, generator=draw)) % 10
    given = torch.where(wrong, another, labels)
    return images[:1400], given[:1400], images[1400:], labels[1400:]


def network() -> nn.Module:
    """Return a small convolutional network, the student."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 16, 10),
    )  # fmt: skip


def train(criterion: nn.Module, seed: int = 0, epochs: int = EPOCHS) -> float:
    """Train a student, and return its accuracy on clean test images after the last epoch."""
    images, given, test_images, test_labels = noisy_digits(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        student = network()
    sgd = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    draw = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for batch in torch.randperm(len(given), generator=draw).split(BATCH):
            loss = criterion(student(images[batch]), given[batch])
            sgd.zero_grad()
            loss.backward()
            sgd.step()
    student.eval()
    with torch.no_grad():
        return (student(test_images).argmax(1) == test_labels).float().mean().item()


def main(epochs: int = EPOCHS) -> tuple[float, float]:
    """Train with cross-entropy and with MentorLoss, and print both accuracies."""
    plain = train(nn.CrossEntropyLoss(), epochs=epochs)
    print(f"cross-entropy  {plain:.1%} accuracy on clean test images after the last epoch")

    steps = epochs * -(-1400 // BATCH)
    criterion = MentorLoss(total_steps=steps)  # ← the one line
    mentored = train(criterion, epochs=epochs)
    print(f"MentorLoss     {mentored:.1%}")
    print(criterion.noise_estimate())
    return plain, mentored


if __name__ == "__main__":
    main()
