"""The card of a mentor: what it approximates or was learned from, how well, and how."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from mentornet.curricula import Curriculum, make_curriculum
from mentornet.errors import MentorNetError
from mentornet.files import read_json, write_json, write_text
from mentornet.mentors.mentor import Mentor

__all__ = ["CARD", "PAGE", "Card", "LearnedCard", "read_card", "write_card"]

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

    @property
    def about(self) -> str:
        """What it does, in a line."""
        settings = " ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.curriculum} {settings}".strip()


@dataclass(frozen=True)
class LearnedCard:
    """Facts about a mentor that was learned from the verified samples of a run (DD).

    Args:
        data: what the student was trained on.
        noise: how its labels were corrupted.
        noise_rate: the share of wrong labels that came out.
        student: which student, how large.
        epochs: of the run.
        verified: samples with verdicts, one in five held out.
        verified_wrong: how many of them have a wrong label.
        mse: mean of (v − v*)² on those held out, over all epochs.
        mse_pd: the same for the mentor "pd".
        auroc: how well v tells right from wrong labels there.
        accuracy_last: of the student of that run, on the test set.
        command: what made it.
        mentornet_version: with which version.
        torch_version: and which torch.
    """

    data: str
    noise: str
    noise_rate: float
    student: str
    epochs: int
    verified: int
    verified_wrong: int
    mse: float
    mse_pd: float
    auroc: float
    accuracy_last: float
    command: str
    mentornet_version: str
    torch_version: str

    @property
    def about(self) -> str:
        """What it does, in a line."""
        return f"learned on {self.data}, {self.noise}"


def write_card(card: Card | LearnedCard, mentor: Mentor, folder: Path, name: str) -> None:
    """Write the card for programs (`card.json`) and for people (`README.md`).

    Args:
        card: the facts.
        mentor: whose they are.
        folder: where the mentor is saved.
        name: what to call it by in `from_pretrained`.
    """
    write_json(folder / CARD, asdict(card))
    facts = _facts_of_learned(card) if isinstance(card, LearnedCard) else _facts(card)
    write_text(folder / PAGE, _page(*facts, mentor, name))


def read_card(folder: Path) -> Card | LearnedCard:
    """The card in a mentor's folder."""
    content = read_json(folder / CARD)
    kind = Card if "curriculum" in content else LearnedCard
    missing = {field.name for field in fields(kind)} ^ content.keys()
    if missing:
        raise MentorNetError(f"{folder / CARD} has missing or unknown keys: {sorted(missing)}")
    return kind(**content)


def _facts(card: Card) -> tuple[str, str, dict[str, str]]:
    """Title, summary and facts."""
    summary = (type(card.target()).__doc__ or "").strip().split("\n")[0]
    facts = {
        "approximates": f"`{card.curriculum}`",
        "settings": ", ".join(f"{key} = {value}" for key, value in card.settings.items()) or "none",
        "taught on": f"{card.samples:,} {card.features} features (seed {card.features_seed})",
        "mean squared error": f"{card.mse:.1e} on those, {card.mse_grid:.1e} on the paper's grid",
        "objective": card.objective,
        "made by": f"`{card.command}`",
        "with": f"mentornet {card.mentornet_version}, torch {card.torch_version}",
    }
    return f"A mentor for the curriculum `{card.curriculum}`", summary, facts


def _facts_of_learned(card: LearnedCard) -> tuple[str, str, dict[str, str]]:
    """Title, summary and facts."""
    facts = {
        "learned on": f"{card.data}, {card.noise}: {card.noise_rate:.1%} of the labels are wrong",
        "student": f"{card.student}, {card.epochs} epochs, {card.accuracy_last:.1%} at the end",
        "verified samples": f"{card.verified:,}, of which {card.verified_wrong:,} are wrong",
        "held out": "one verified sample in five",
        "mean of (v − v*)² there": f"{card.mse:.3f}, that of the mentor `pd` {card.mse_pd:.3f}",
        "AUROC of v there": f"{card.auroc:.3f}",
        "reads the label": "no, so it serves any number of classes",
        "run made by": "`mentornet train --config run.toml --out RUN`, run.toml as here",
        "made by": f"`{card.command}`",
        "with": f"mentornet {card.mentornet_version}, torch {card.torch_version}",
    }
    summary = (
        "MentorNet DD: learned from the losses of verified samples in every epoch of a run, to be "
        "taken to other data."
    )
    return f"A data-driven mentor from {card.data} at {card.noise}", summary, facts


def _page(title: str, summary: str, facts: dict[str, str], mentor: Mentor, name: str) -> str:
    network = {
        "architecture": f"`{mentor.name}`, {mentor.num_parameters} parameters",
        "history": f"{mentor.config.history}",
    }
    rows = "\n".join(f"| {key} | {fact} |" for key, fact in (network | facts).items())
    return f"""---
license: apache-2.0
library_name: mentornet
tags: [mentornet, noisy-labels, curriculum-learning, sample-weighting]
---

# {title}

{summary}

| | |
|---|---|
{rows}

```python
from mentornet import Mentor

mentor = Mentor.from_pretrained("{name}")
```
"""
