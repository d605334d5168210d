"""scikit-learn: a neural classifier for data in which some of `y` is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.randomness import generator, seeded
from mentornet.weighting import MentorLoss, scale_weight_decay

__all__ = ["MentorClassifier"]

_ORDER, _START, _DROPOUT = 1, 2, 3  # streams of randomness


class MentorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A network trained with `MentorLoss`, which also says which labels look wrong.

    By default it is a multi-layer perceptron on standardised columns, which suits tables. With
    `mentor="uniform"` and `burn_in=0` the same network is trained with plain cross-entropy.

    Args:
        module: a function (inputs, classes) that returns the network; None for the perceptron.
            The network gets `X` as float32, not standardised.
        mentor: as for `MentorLoss`.
        epochs: how often each sample is seen.
        batch_size: the number of samples in a step.
        learning_rate: the highest learning rate of AdamW; it rises during a tenth of the steps and
            then falls along a cosine.
        weight_decay: the weight decay of AdamW; it is multiplied by mean(v).
        hidden: the number of units of each hidden layer of the perceptron.
        burn_in: the share of training before the mentor's weights are used. It is smaller than
            that of `MentorLoss`, because a perceptron soon memorises a small table.
        by_class: whether each sample is compared with its own class only; for rare classes.
        random_state: a whole number, or None for a different result each time.
        device: the device to train on.

    Attributes:
        classes_: the labels that were seen.
        module_: the trained network.
        label_issues_: whether each training label looks wrong, `(N,)`, boolean.
        label_weights_: the last weight v of each training sample, `(N,)`; low is suspect.
        noise_estimate_: see `MentorLoss.noise_estimate`.
        n_iter_: the number of epochs.

    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> y = np.repeat(["no", "yes"], 20)
    >>> MentorClassifier(epochs=40).fit(X, y).predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        module: Callable[[int, int], nn.Module] | None = None,
        *,
        mentor: Any = "auto",
        epochs: int = 50,
        batch_size: int = 32,
        learning_rate: float = 0.003,
        weight_decay: float = 0.01,
        hidden: tuple[int, ...] = (128, 128),
        burn_in: float = 0.1,
        by_class: bool = False,
        random_state: int | None = 0,
        device: str = "cpu",
    ) -> None:
        self.module = module
        self.mentor = mentor
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.hidden = hidden
        self.burn_in = burn_in
        self.by_class = by_class
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any, clean_index: Any = None) -> MentorClassifier:
        """Train on labels that may be wrong.

        Args:
            X: the samples, `(N, F)`.
            y: their given labels, `(N,)`.
            clean_index: the samples whose label is known to be correct, as row numbers or as a
                boolean column `(N,)`; a mentor is learned from them. In cross-validation use the
                column, which is split together with the rows.
        """
        self._check_settings()
        X, y = validate_data(self, X, y, dtype=np.float32, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, given = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"MentorClassifier needs at least 2 classes, the data has {len(self.classes_)} "
                f"class: {self.classes_[0]!r}"
            )
        seed = _seed(self.random_state)
        inputs = self._standardised(X, first=True)
        self._train(
            inputs, torch.from_numpy(given).to(self.device), _rows(clean_index, len(given)), seed
        )
        return self

    def _train(self, inputs: Tensor, given: Tensor, clean_index: Any, seed: int) -> None:
        count, classes = len(inputs), len(self.classes_)
        with seeded(generator(seed, _START).initial_seed()):
            make = self.module or self._perceptron
            network = make(inputs.shape[1], classes).to(self.device)
        batches = max(1, round(count / self.batch_size))
        total = self.epochs * batches
        criterion = MentorLoss(
            self.mentor, total, self.burn_in, samples=count, clean_index=clean_index, seed=seed,
            by_class=classes if self.by_class else None,
        ).to(self.device)  # fmt: skip
        adam = torch.optim.AdamW(
            network.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        scale_weight_decay(adam, criterion)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            adam, self.learning_rate, total_steps=max(4, total),
            pct_start=max(0.1, 2 / max(4, total)), cycle_momentum=False,
        )  # fmt: skip
        network.train()
        with seeded(generator(seed, _DROPOUT).initial_seed()):
            for index in _batches(count, batches, self.epochs, seed, self.device):
                loss = criterion(network(inputs[index]), given[index], index=index)
                adam.zero_grad()
                loss.backward()
                adam.step()
                schedule.step()
        self._finish(network.eval(), criterion)

    def _finish(self, network: nn.Module, criterion: MentorLoss) -> None:
        assert criterion.records is not None
        self.module_, self.criterion_, self.n_iter_ = network, criterion, self.epochs
        self.label_weights_: NDArray[np.float32] = criterion.records.weight.cpu().numpy()
        self.label_issues_: NDArray[np.bool_] = self.label_weights_ < 0.5
        self.noise_estimate_ = criterion.noise_estimate()

    @torch.no_grad()
    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return the probability of every class, `(N, K)`, in the order of `classes_`."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        parts = self._standardised(X).split(4096)
        found = torch.cat([self.module_(part).double().softmax(1) for part in parts])
        return found.cpu().numpy()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every sample, `(N,)`."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def _standardised(self, X: NDArray[np.float32], *, first: bool = False) -> Tensor:
        inputs = torch.from_numpy(np.ascontiguousarray(X))
        if self.module is None:
            if first:
                spread = inputs.double().std(0, correction=0)
                self._mean, self._scale = inputs.double().mean(0), spread.where(spread > 0, 1.0)
            inputs = ((inputs.double() - self._mean) / self._scale).float()
        return inputs.to(self.device)

    def _perceptron(self, inputs: int, classes: int) -> nn.Module:
        sizes = (inputs, *self.hidden)
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(sizes[-1], classes))

    def _check_settings(self) -> None:
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise MentorNetError(f"{name} must be ≥ 1, got {getattr(self, name)}")
        if isinstance(self.module, nn.Module):
            raise MentorNetError(
                "module must be a function of (inputs, classes) that returns a network, got "
                f"{type(self.module).__name__}; for example lambda inputs, classes: …"
            )
        if not self.learning_rate > 0:
            raise MentorNetError(f"learning_rate must be > 0, got {self.learning_rate:g}")


def _batches(count: int, batches: int, epochs: int, seed: int, device: str) -> Iterator[Tensor]:
    for epoch in range(epochs):
        order = torch.randperm(count, generator=generator(seed, _ORDER, epoch))
        yield from order.to(device).tensor_split(batches)


def _rows(clean_index: Any, count: int) -> Any:
    """Return row numbers, from row numbers or from a boolean column `(N,)`."""
    if clean_index is None:
        return None
    column = np.asarray(clean_index)
    if column.dtype != bool:
        return column
    if column.shape != (count,):
        raise ValueError(
            f"clean_index as a boolean column must have one entry for each of the {count} samples, "
            f"got shape {column.shape}"
        )
    return np.flatnonzero(column)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
