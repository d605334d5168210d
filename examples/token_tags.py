"""Tagging words while three in ten tags are wrong: one weight for each token.

    python examples/token_tags.py

Sentences are made up from 300 words, each of which belongs to one of five tags. Three in ten given
tags are wrong. `MentorLoss(level="token")` gives every token a weight of its own, so that the rest
of a sentence is still learned. Padding has the label −100, as for `nn.CrossEntropyLoss`. Long
words are two tokens here: `groups=` lets both share one weight, as the sub-words of a tokenizer
should.

`elements=` says how many words each sentence has. It asks for a memory of every word (47 bytes),
with which `noise_estimate()` is better and `audit()` names the words whose tags are probably
wrong.
"""

from __future__ import annotations

import torch
from sklearn.metrics import average_precision_score
from torch import nn

from mentornet import MentorLoss

SENTENCES, LONGEST, WORDS, TAGS = 400, 12, 300, 5
EPOCHS, BATCH = 15, 40


def main(epochs: int = EPOCHS) -> tuple[float, float]:
    """Train a tagger; return the estimated share of wrong tags, and how well they are found."""
    draw = torch.Generator().manual_seed(0)
    words = torch.randint(WORDS, (SENTENCES, LONGEST), generator=draw)
    lengths = torch.randint(4, LONGEST + 1, (SENTENCES,), generator=draw)
    tags = torch.randint(TAGS, (WORDS,), generator=draw)[words]
    wrong = torch.rand(words.shape, generator=draw) < 0.3
    given = torch.where(
        wrong, (tags + torch.randint(1, TAGS, tags.shape, generator=draw)) % TAGS, tags
    )
    given[torch.arange(LONGEST) >= lengths[:, None]] = -100

    # Each word becomes two tokens, its halves; both have its tag and its number in the sentence.
    tokens = torch.stack([2 * words, 2 * words + 1], 2).flatten(1)
    labels = given.repeat_interleave(2, 1)
    number = torch.arange(LONGEST).repeat_interleave(2).expand_as(tokens)

    with torch.random.fork_rng():
        torch.manual_seed(0)
        tagger = nn.Sequential(nn.Embedding(2 * WORDS, 32), nn.ReLU(), nn.Linear(32, TAGS))
    adam = torch.optim.Adam(tagger.parameters(), lr=0.02)
    criterion = MentorLoss(
        total_steps=epochs * SENTENCES // BATCH, level="token", samples=SENTENCES, elements=lengths
    )
    for _ in range(epochs):
        for index in torch.randperm(SENTENCES, generator=draw).split(BATCH):
            loss = criterion(
                tagger(tokens[index]), labels[index], groups=number[index], index=index
            )
            adam.zero_grad()
            loss.backward()
            adam.step()

    estimate = criterion.noise_estimate()
    table = criterion.audit(["noun", "verb", "name", "place", "rest"]).table
    is_wrong = wrong[table["sample"].tolist(), table["place"].tolist()]
    found = float(average_precision_score(is_wrong, 1 - table["label_quality"]))
    print(estimate)
    print(f"wrong tags are found with an average precision of {found:.3f}; the first of them:")
    print(table[["sample", "place", "given_label", "predicted_label", "label_quality"]].head(3))
    return estimate.rate, found


if __name__ == "__main__":
    main()
