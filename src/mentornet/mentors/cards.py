"""The card of a mentor: what it was fitted to, how, and how well."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from mentornet.curricula import Curriculum, make_curriculum
from mentornet.errors import MentorNetError, cut
from mentornet.files import read_json, write_json, write_text
from mentornet.mentors.mentor import Mentor
from mentornet.schema import typed

__all__ = ["CARD", "PAGE", "Card", "LearnedCard", "read_card", "write_card"]

CARD = "card.json"
PAGE = "README.md"


@dataclass(frozen=True)
class Card:
    """Facts about a mentor that approximates a predefined curriculum.

    Args:
        curriculum: the name of the curriculum.
        settings: the hyper-parameters of the curriculum.
        objective: `implicit` or `explicit`.
        features: the kind of features that it was fitted on, one of `FEATURES`.
        samples: the number of those features.
        features_seed: the seed that they were drawn with.
        mse: the mean squared error to v* on those features.
        mse_grid: the mean squared error to v* on the paper's grid.
        command: the command that made the mentor.
        mentornet_version: the version of mentornet that made it.
        torch_version: the version of torch that made it.
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
        """Return the curriculum that the mentor approximates."""
        return make_curriculum(self.curriculum, **self.settings)

    @property
    def about(self) -> str:
        """One line that says what the mentor does."""
        settings = " ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.curriculum} {settings}".strip()


@dataclass(frozen=True)
class LearnedCard:
    """Facts about a mentor that was learned from the verified samples of a run (DD).

    Args:
        data: the dataset that the student was trained on.
        noise: the label noise of that dataset.
        noise_rate: the share of its labels that are wrong; None if that is not known.
        student: the name and size of the student.
        epochs: the number of epochs of the run.
        verified: the number of verified samples; one in five was held out.
        verified_wrong: how many of them have a wrong label.
        mse: the mean of (v − v*)² on the held-out samples, over all epochs.
        mse_pd: the same for the mentor "pd".
        auroc: how well v separates correct from wrong labels of the held-out samples.
        accuracy_last: the accuracy of the run's student on the test set after the last epoch.
        command: the command that made the mentor.
        mentornet_version: the version of mentornet that made it.
        torch_version: the version of torch that made it.
    """

    data: str
    noise: str
    noise_rate: float | None
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
        """One line that says what the mentor does."""
        return f"learned on {self.data}, {self.noise}"


def write_card(card: Card | LearnedCard, mentor: Mentor, folder: Path, name: str) -> None:
    """Write the card for programs (`card.json`) and for people (`README.md`).

    Args:
        card: the facts to write.
        mentor: the mentor that they are about.
        folder: the folder that the mentor is saved in.
        name: the name to load it by, in `from_pretrained`.
    """
    write_json(folder / CARD, asdict(card))
    facts = _facts_of_learned(card) if isinstance(card, LearnedCard) else _facts(card)
    write_text(folder / PAGE, _page(*facts, mentor, name))


def read_card(folder: Path) -> Card | LearnedCard:
    """Return the card in a mentor's folder."""
    content = read_json(folder / CARD)
    kind: type[Card | LearnedCard] = Card if "curriculum" in content else LearnedCard
    missing = {field.name for field in fields(kind)} ^ content.keys()
    if missing:
        names = cut(", ".join(sorted(missing)))
        raise MentorNetError(f"{folder / CARD} has missing or unknown keys: {names}")
    return typed(kind, content, f"{folder / CARD}")


def _facts(card: Card) -> tuple[str, str, dict[str, str]]:
    """Return the title, the summary and the facts."""
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
    """Return the title, the summary and the facts."""
    share = "an unknown share" if card.noise_rate is None else f"{card.noise_rate:.1%}"
    facts = {
        "learned on": f"{card.data}, {card.noise}: {share} of the labels are wrong",
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
