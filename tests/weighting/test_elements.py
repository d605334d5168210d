"""Elements of samples: their numbers, what is remembered of each, and what is found by it."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import average_precision_score
from torch import Tensor, nn

from mentornet import MentorLoss
from mentornet.randomness import generator, seeded
from mentornet.weighting.elements import Elements

SENTENCES, LONGEST, WORDS, TAGS = 240, 10, 60, 4


def corpus(wrong: float = 0.3) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sentences of words, their lengths, given tags (−100 beyond the end) and which are wrong."""
    draw = generator(0)
    words = torch.randint(WORDS, (SENTENCES, LONGEST), generator=draw)
    lengths = torch.randint(3, LONGEST + 1, (SENTENCES,), generator=draw)
    tags = torch.randint(TAGS, (WORDS,), generator=draw)[words]
    is_wrong = torch.rand(words.shape, generator=draw) < wrong
    other = (tags + torch.randint(1, TAGS, words.shape, generator=draw)) % TAGS
    given = torch.where(is_wrong, other, tags)
    given[torch.arange(LONGEST) >= lengths[:, None]] = -100
    return words, lengths, given, is_wrong


def train(criterion: MentorLoss, epochs: int = 12, size: int = 40) -> nn.Module:
    """Tag each word by itself; each batch is as long as its longest sentence."""
    words, lengths, given, _ = corpus()
    with seeded(0):
        student = nn.Sequential(nn.Embedding(WORDS, 16), nn.ReLU(), nn.Linear(16, TAGS))
    adam = torch.optim.Adam(student.parameters(), lr=0.05)
    for epoch in range(epochs):
        for index in torch.randperm(SENTENCES, generator=generator(1, epoch)).split(size):
            longest = int(lengths[index].max())
            loss = criterion(student(words[index, :longest]), given[index, :longest], index=index)
            adam.zero_grad()
            loss.backward()
            adam.step()
    return student


def test_three_wrong_tokens_in_ten_are_found() -> None:
    """The weights, the estimate and the audit of tokens; 47 bytes are kept of each."""
    _, lengths, given, is_wrong = corpus()
    steps = 12 * SENTENCES // 40
    criterion = MentorLoss(total_steps=steps, level="token", samples=SENTENCES, elements=lengths)
    train(criterion)
    labelled = given != -100
    share = is_wrong[labelled].float().mean().item()
    estimate = criterion.noise_estimate()
    assert estimate.low < share < estimate.high
    assert estimate.rate == pytest.approx(share, abs=0.05)
    table = criterion.audit(["noun", "verb", "name", "rest"]).table
    assert len(table) == lengths.sum()
    truth = is_wrong[table["sample"].tolist(), table["place"].tolist()]
    assert average_precision_score(truth, 1 - table["label_quality"]) >= 0.98
    row = table.iloc[0]
    label = int(given[row["sample"], row["place"]])
    assert row["given_label"] == ["noun", "verb", "name", "rest"][label]
    assert criterion.records is not None
    assert criterion.records.bytes_per_sample == 47
    assert len(criterion.records.loss) == lengths.sum() + 1


def test_without_elements_each_sample_is_remembered_as_a_whole() -> None:
    _, _, given, is_wrong = corpus()
    criterion = MentorLoss(total_steps=72, level="token", samples=SENTENCES)
    train(criterion)
    assert criterion.records is not None
    assert len(criterion.records.loss) == SENTENCES
    counts = (is_wrong & (given != -100)).sum(1) / (given != -100).sum(1)
    together = torch.stack([criterion.records.loss, counts])
    assert together.corrcoef()[0, 1] > 0.9
    share = is_wrong[given != -100].float().mean().item()
    assert criterion.noise_estimate().rate == pytest.approx(share, abs=0.08)
    assert len(criterion.audit().table) == SENTENCES


def test_records_of_elements_are_where_they_belong() -> None:
    """By hand: two samples of 2 and 3 elements; what has no label leaves no trace."""
    criterion = MentorLoss("uniform", 9, 0.0, level="token", samples=2, elements=[2, 3])
    logits = torch.randn(2, 3, 4, generator=generator(0))
    labels = torch.tensor([[1, -100, 2], [3, 0, -100]])
    losses = nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    criterion(logits, labels, index=torch.tensor([1, 0]))
    assert criterion.records is not None
    kept = criterion.records
    expected = [losses[1, 0], losses[1, 1], losses[0, 0], losses[0, 2]]
    assert torch.equal(kept.loss[[0, 1, 2, 4]], torch.stack(expected))
    assert kept.given_label.tolist() == [3, 0, 1, -1, 2, -1]
    assert kept.seen[3] == 0
    assert criterion.weights.shape == labels.shape
    assert torch.equal(criterion.weights, (labels != -100).float())
    assert criterion.metrics()["mean_weight"] == 1.0


def test_verdicts_on_tokens_are_taught() -> None:
    """A correct token has weight 1, a wrong one 0, and a known true label is learned."""
    _, lengths, given, is_wrong = corpus()
    criterion = MentorLoss("pd", 500, 0.0, level="token", samples=SENTENCES, elements=lengths)
    assert criterion.elements is not None
    sample, place = criterion.elements.places(torch.arange(30))
    correct = ~is_wrong[sample, place]
    criterion.learn_from(range(30), correct)
    logits = torch.randn(SENTENCES, LONGEST, TAGS, generator=generator(3), requires_grad=True)
    criterion(logits, given, index=torch.arange(SENTENCES))
    assert torch.equal(criterion.weights[sample, place], correct.float())
    taught = MentorLoss("uniform", 500, 0.0, level="token", samples=SENTENCES, elements=lengths)
    true = torch.where(correct, given[sample, place], (given[sample, place] + 1) % TAGS)
    taught.learn_from(range(30), correct, true)
    relabelled = given.clone()
    relabelled[sample, place] = true
    loss = taught(logits, given, index=torch.arange(SENTENCES))
    expected = nn.functional.cross_entropy(logits.flatten(0, 1), relabelled.flatten())
    torch.testing.assert_close(loss, expected)


def test_verdicts_on_pairs_are_0_or_1() -> None:
    criterion = MentorLoss("uniform", 9, 0.0, level="class", samples=9, elements=3)
    logits = torch.randn(9, 3, generator=generator(0), requires_grad=True)
    labels = torch.randint(2, (9, 3), generator=generator(1))
    number = torch.arange(0, 27, 2)
    correct = number % 4 == 0
    true = torch.where(correct, labels.flatten()[number], 1 - labels.flatten()[number])
    criterion.learn_from(number, correct, true)
    flipped = labels.flatten().index_copy(0, number, true).view(9, 3).float()
    expected = nn.functional.binary_cross_entropy_with_logits(logits, flipped)
    torch.testing.assert_close(criterion(logits, labels, index=torch.arange(9)), expected)


@pytest.mark.parametrize("mentor", ["auto", "pd"])
def test_restored_the_rest_is_the_same_bit_for_bit(mentor: str) -> None:
    words, lengths, given, _ = corpus()
    logits = torch.randn(*words.shape, TAGS, generator=generator(2), requires_grad=True)
    made = [
        MentorLoss(mentor, 10, level="token", samples=SENTENCES, elements=lengths) for _ in "ab"
    ]
    index = torch.arange(SENTENCES)
    for _ in range(5):
        made[0](logits, given, index=index)
    made[1].load_state_dict({name: part.clone() for name, part in made[0].state_dict().items()})
    for _ in range(5):
        assert torch.equal(*(one(logits, given, index=index) for one in made))
        assert torch.equal(made[0].weights, made[1].weights)


@pytest.mark.parametrize(
    ("level", "shape", "places"), [("pixel", (6, 4, 3, 3), (6, 3, 3)), ("class", (6, 4), (6, 4))]
)
def test_levels_compile_in_one_graph(
    level: str, shape: tuple[int, ...], places: tuple[int, ...]
) -> None:
    each = torch.Size(places[1:]).numel()
    torch.compiler.reset()
    eager, fused = (MentorLoss(total_steps=9, level=level, samples=9, elements=each) for _ in "ab")
    compiled = torch.compile(
        lambda logits, labels, index: fused(logits, labels, index=index),
        fullgraph=True, backend="aot_eager",
    )  # fmt: skip
    for step in range(2):
        logits = torch.randn(shape, generator=generator(step), requires_grad=True)
        labels = torch.randint(2, places, generator=generator(step, 1))
        labels[0] = -100
        index = torch.randperm(9, generator=generator(step, 2))[:6]
        torch.testing.assert_close(
            compiled(logits, labels, index), eager(logits, labels, index=index)
        )
        torch.testing.assert_close(fused.weights, eager.weights)
    state = dict(fused.state_dict()), dict(eager.state_dict())
    torch.testing.assert_close(*state, equal_nan=True)


def test_the_number_of_an_element_and_back() -> None:
    elements = Elements(4, [3, 0, 2, 1])
    number = 0
    for sample, count in enumerate([3, 0, 2, 1]):
        for place in range(count):
            unlabelled = torch.arange(3) >= count
            found = elements.numbers(torch.tensor([sample]), 3, unlabelled)
            assert found[place] == number
            assert elements.places(torch.tensor([number])) == (
                torch.tensor([sample]), torch.tensor([place]),
            )  # fmt: skip
            number += 1
    assert elements.total == number
