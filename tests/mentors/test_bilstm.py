from __future__ import annotations

import torch

from mentornet.mentors import BiLSTMConfig, BiLSTMMentor
from tests.samples import some_features


def test_the_papers_sizes() -> None:
    """App. D: 10 LSTM units each way, embeddings of 2 and 5, fc1 of 20."""
    mentor = BiLSTMMentor()
    lstm = 2 * (4 * 10 * 2 + 4 * 10 * 10 + 4 * 10)
    embeddings = 10 * 2 + 100 * 5
    fc1, fc2 = (20 + 2 + 5) * 20 + 20, 20 + 1
    assert mentor.num_parameters == lstm + embeddings + fc1 + fc2


def test_forward_by_hand() -> None:
    """Fig. 1 layer by layer, for one sample, T = 1, in plain arithmetic on the parameters."""
    mentor = BiLSTMMentor(BiLSTMConfig(num_classes=10), seed=5).double()
    features = some_features(1, history=1, dtype=torch.float64)
    pair = torch.tensor([features.loss.item(), features.difference.item()], dtype=torch.float64)
    encoded = []
    for direction in range(2):
        gates = mentor.lstm.input[direction] @ pair + mentor.lstm.bias[direction, :, 0]
        write, _, show, new = gates.view(4, 10)
        encoded.append(show.sigmoid() * torch.tanh(write.sigmoid() * new.tanh()))
    joined = torch.cat(
        [
            *encoded,
            mentor.label.weight[features.label[0]],
            mentor.epoch.weight[features.progress[0]],
        ]
    )
    hidden = torch.tanh(mentor.fc1.weight @ joined + mentor.fc1.bias)
    expected = torch.sigmoid(mentor.fc2.weight @ hidden + mentor.fc2.bias)
    torch.testing.assert_close(mentor.weigh(features), expected.detach())
