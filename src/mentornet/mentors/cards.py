"""The card of a mentor: what it approximates, how well, and how it was made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from mentornet.curricula import Curriculum, make_curriculum
from mentornet.errors import MentorNetError
from mentornet.files import read_json, write_json, write_text
from mentornet.mentors.mentor import Mentor

__all__ = ["CARD", "PAGE", "Card", "read_card", "write_card"]

CARD = "card.json"
PAGE = "README.md"


@dataclass(frozen=True)
class Card:
    """Facts about a mentor that approximates a predefined curriculum.

    Args:
        curriculum: its name.
        settings: its hyper-parameters.
        objective: `implicit` or `explicit`.
        features: what it learned from, one of `FEATURES`.
        samples: how many of them.
        features_seed: what they were drawn with.
        mse: mean squared error to v* over those.
        mse_grid: the same over the paper's grid.
        command: what made it.
        mentornet_version: with which version.
        torch_version: and which torch.
    """

    curriculum: str
    settings: dict[str, float | bool]
    objective: str
    features: str
    samples: int
    features_seed: int
    mse: float
    mse_grid: float
    command: str
    mentornet_version: str
    torch_version: str

    def target(self) -> Curriculum:
        """The curriculum it approximates."""
        return make_curriculum(self.curriculum, **self.settings)


def write_card(card: Card, mentor: Mentor, folder: Path, name: str) -> None:
    """Write the card for programs (`card.json`) and for people (`README.md`).

    Args:
        card: the facts.
        mentor: whose they are.
        folder: where the mentor is saved.
        name: what to call it by in `from_pretrained`.
    """
    write_json(folder / CARD, asdict(card))
    write_text(folder / PAGE, _page(card, mentor, name))


def read_card(folder: Path) -> Card:
    """The card in a mentor's folder."""
    content = read_json(folder / CARD)
    missing = {field.name for field in fields(Card)} ^ content.keys()
    if missing:
        raise MentorNetError(f"{folder / CARD} has missing or unknown keys: {sorted(missing)}")
    return Card(**content)


def _page(card: Card, mentor: Mentor, name: str) -> str:
    summary = (type(card.target()).__doc__ or "").strip().split("\n")[0]
    facts = {
        "approximates": f"`{card.curriculum}`",
        "settings": ", ".join(f"{key} = {value}" for key, value in card.settings.items()) or "none",
        "architecture": f"`{mentor.name}`, {mentor.num_parameters} parameters",
        "history": f"{mentor.config.history}",
        "taught on": f"{card.samples:,} {card.features} features (seed {card.features_seed})",
        "mean squared error": f"{card.mse:.1e} on those, {card.mse_grid:.1e} on the paper's grid",
        "objective": card.objective,
        "made by": f"`{card.command}`",
        "with": f"mentornet {card.mentornet_version}, torch {card.torch_version}",
    }
    rows = "\n".join(f"| {name} | {fact} |" for name, fact in facts.items())
    return f"""---
license: apache-2.0
library_name: mentornet
tags: [mentornet, noisy-labels, curriculum-learning, sample-weighting]
---

# A mentor for the curriculum `{card.curriculum}`

{summary}

| | |
|---|---|
{rows}

```python
from mentornet import Mentor

mentor = Mentor.from_pretrained("{name}")
```
"""
