"""Segmentation with wrong pixels: one weight for each pixel.

    python examples/segmentation.py

Images show bright discs on a dark ground, with noise. Annotators were careless: in each image a
patch has been labelled as the other class. `MentorLoss(level="pixel")` gives every pixel a weight,
so that a wrong patch is left out and the rest of its image is learned. Without `elements=` each
image is remembered as a whole, which takes 47 bytes an image; `audit()` then names the images that
have most wrong pixels.
"""

from __future__ import annotations

import torch
from torch import nn

from mentornet import MentorLoss

IMAGES, SIDE, PATCH, EPOCHS, BATCH = 120, 24, 11, 12, 12


def discs(seed: int, count: int) -> tuple[torch.Tensor, ...]:
    """Return images, true labels, and given labels of which a patch is wrong in every image."""
    draw = torch.Generator().manual_seed(seed)
    grid = torch.arange(SIDE).float()
    centre = torch.rand(count, 2, generator=draw) * SIDE
    away = (grid - centre[:, :1])[:, :, None] ** 2 + (grid - centre[:, 1:])[:, None] ** 2
    true = (away < 64).long()
    images = true + 0.7 * torch.randn(true.shape, generator=draw)
    corner = torch.randint(SIDE - PATCH, (count, 2), generator=draw)
    inside = (grid >= corner[..., None]) & (grid < corner[..., None] + PATCH)
    wrong = inside[:, 0, :, None] & inside[:, 1, None]
    return images[:, None], true, torch.where(wrong, 1 - true, true)


def network() -> nn.Module:
    """Return a small network from images `(B, 1, H, W)` to logits `(B, 2, H, W)`."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(),
        nn.Conv2d(16, 2, 1),
    )  # fmt: skip


def train(criterion: nn.Module, epochs: int = EPOCHS) -> float:
    """Train on the given labels, and return the share of right pixels in new images."""
    images, _, given = discs(0, IMAGES)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        student = network()
    adam = torch.optim.Adam(student.parameters(), lr=0.01)
    draw = torch.Generator().manual_seed(0)
    options = {} if isinstance(criterion, nn.CrossEntropyLoss) else {"index": torch.arange(IMAGES)}
    for _ in range(epochs):
        for batch in torch.randperm(IMAGES, generator=draw).split(BATCH):
            here = {name: numbers[batch] for name, numbers in options.items()}
            loss = criterion(student(images[batch]), given[batch], **here)
            adam.zero_grad()
            loss.backward()
            adam.step()
    new, true, _ = discs(1, 60)
    with torch.no_grad():
        return (student(new).argmax(1) == true).float().mean().item()


def main(epochs: int = EPOCHS) -> tuple[float, float, float]:
    """Train with cross-entropy and with weights for pixels; return both, and the estimate."""
    plain = train(nn.CrossEntropyLoss(), epochs)
    criterion = MentorLoss(total_steps=epochs * IMAGES // BATCH, level="pixel", samples=IMAGES)
    mentored = train(criterion, epochs)
    estimate = criterion.noise_estimate()
    print(f"cross-entropy  {plain:.1%} of the pixels of new images are right")
    print(f"MentorLoss     {mentored:.1%}")
    print(f"{PATCH**2 / SIDE**2:.0%} of the given labels are wrong; {estimate}")
    return plain, mentored, estimate.rate


if __name__ == "__main__":
    main()
