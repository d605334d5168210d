"""scikit-learn: a classifier for data in which some of `y` is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)
from torch import Tensor, nn

from mentornet.errors import MentorNetError
from mentornet.integrations.out_of_fold import OutOfFold
from mentornet.integrations.verified_rows import known_classes
from mentornet.randomness import generator, seeded
from mentornet.weighting import MentorLoss, NoiseEstimate, scale_weight_decay, weighted_mean

__all__ = ["MentorClassifier"]

_ORDER, _START, _DROPOUT = 1, 2, 3  # streams of randomness
_BY_CLASS = "whether a label is wrong depends on the true class, and on nothing else"


class MentorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns from labels of which some are wrong, and says which.

    With `estimator`, it trains any classifier of scikit-learn, or of XGBoost or LightGBM, a few
    times on parts of the data, finds the labels that the predictions contradict (see `OutOfFold`),
    and trains it with weights in the end. This is best for tables and for features of a pretrained
    network. Without `estimator`, it trains a network with `MentorLoss`, by default a multi-layer
    perceptron on standardised columns. With `mentor="uniform"` and `burn_in=0` that network is
    trained with plain cross-entropy.

    Args:
        module: a function (inputs, classes) that returns the network; None for the perceptron.
            The network gets `X` as float32, not standardised.
        estimator: a classifier with `predict_proba`, which is cloned; then the settings of the
            network and of its training have no effect.
        folds: the number of parts; each is predicted by a clone that was trained on the others.
        rounds: how often these clones are trained again with weights.
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
        label_issues_: whether each training label looks wrong, `(N,)`, boolean.
        label_quality_: the score of each training label, `(N,)`, in [0, 1]; low is suspect. With
            `estimator` it is the probability that the label is correct; else see
            `mentornet.audit.rank`.
        suggested_labels_: the label that each training sample probably should have, `(N,)`.
        sample_weight_: the weight with which each given label was trained last, `(N,)`. Another
            classifier can be trained with it.
        noise_estimate_: the share of wrong labels, with an interval and its assumption.
        estimator_: the trained classifier, with `estimator`.
        module_: the trained network, without it.
        label_weights_: another name of `sample_weight_`.
        n_iter_: the number of epochs, or of rounds.

    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> y = np.repeat(["no", "yes"], 20)
    >>> MentorClassifier(epochs=40).fit(X, y).predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        module: Callable[[int, int], nn.Module] | None = None,
        *,
        estimator: Any = None,
        folds: int = 5,
        rounds: int = 3,
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
        self.estimator = estimator
        self.folds = folds
        self.rounds = rounds
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

    def fit(
        self, X: Any, y: Any, clean_index: Any = None, *, sample_weight: Any = None,
        true_y: Any = None,
    ) -> MentorClassifier:  # fmt: skip
        """Train on labels that may be wrong.

        Verdicts on some labels help much, above all if labels are wrong by a system, such as those
        of rules. Check some at random, not only suspects, and give what you found as `true_y`.

        Args:
            X: the samples, `(N, F)`, or whatever `estimator` takes.
            y: their given labels, `(N,)`.
            clean_index: the samples whose label is known to be correct, as row numbers or as a
                boolean column `(N,)`. In cross-validation use the column, which is split together
                with the rows.
            sample_weight: a weight of each sample, `(N,)`, besides those that are found.
            true_y: the true labels where somebody has looked, `(N,)`; None or NaN elsewhere.
        """
        self._check_settings()
        if self.estimator is None:
            X, y = validate_data(self, X, y, dtype=np.float32, ensure_min_samples=2)
        else:
            X, y = self._accepted(X, reset=True), column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            if y.dtype.kind == "f":
                assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_, given = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"MentorClassifier needs at least 2 classes, the data has {len(self.classes_)} "
                f"class: {self.classes_[0]!r}"
            )
        known = known_classes(clean_index, true_y, given, self.classes_)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        seed = _seed(self.random_state)
        if self.estimator is not None:
            self._judge(X, given, known, np.ones(len(given)) if weight is None else weight, seed)
            return self
        inputs = self._standardised(X, first=True)
        scale = None if weight is None else torch.from_numpy(weight).float().to(self.device)
        self._train(inputs, torch.from_numpy(given).to(self.device), known, scale, seed)
        return self

    def _judge(
        self,
        X: Any,
        given: NDArray[np.int64],
        known: NDArray[np.int64],
        weight: NDArray[np.float64],
        seed: int,
    ) -> None:
        """Find wrong labels by out-of-fold predictions, and train the classifier with weights."""
        folds = min(self.folds, len(given))
        way = OutOfFold(self.estimator, len(self.classes_), folds, self.rounds, seed)
        true, _ = way.judge(X, given, known, weight)
        self.estimator_ = way.fit(X, true, weight)
        self.label_quality_ = true[np.arange(len(given)), given]
        best = true.argmax(1)
        self.label_issues_ = best != given
        self.suggested_labels_ = self.classes_[best]
        self.sample_weight_ = self.label_weights_ = self.label_quality_ * weight
        rate = float(1 - self.label_quality_.mean())
        self.noise_estimate_ = NoiseEstimate.around(rate, len(given), _BY_CLASS)
        self.n_iter_ = self.rounds

    def _train(
        self,
        inputs: Tensor,
        given: Tensor,
        known: NDArray[np.int64],
        scale: Tensor | None,
        seed: int,
    ) -> None:
        """Train the network with `MentorLoss`; `scale` are the user's own weights, `(N,)`."""
        count, classes = len(inputs), len(self.classes_)
        with seeded(generator(seed, _START).initial_seed()):
            make = self.module or self._perceptron
            network = make(inputs.shape[1], classes).to(self.device)
        batches = max(1, round(count / self.batch_size))
        total = self.epochs * batches
        criterion = MentorLoss(
            self.mentor, total, self.burn_in, samples=count, seed=seed,
            by_class=classes if self.by_class else None,
        ).to(self.device)  # fmt: skip
        verified = np.flatnonzero(known >= 0)
        if len(verified):
            true = torch.from_numpy(known[verified])
            correct = true == given.cpu()[verified]
            criterion.learn_from(torch.from_numpy(verified), correct, true)
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
                logits = network(inputs[index])
                loss = criterion(logits, given[index], index=index)
                if scale is not None:
                    loss = _scaled(criterion, logits, given[index], index, scale[index])
                adam.zero_grad()
                loss.backward()
                adam.step()
                schedule.step()
        self._finish(network.eval(), criterion)

    def _finish(self, network: nn.Module, criterion: MentorLoss) -> None:
        assert criterion.records is not None
        self.module_, self.criterion_, self.n_iter_ = network, criterion, self.epochs
        self.label_weights_ = criterion.records.weight.cpu().numpy()
        self.sample_weight_ = self.label_weights_
        self.label_issues_ = self.label_weights_ < 0.5
        self.noise_estimate_ = criterion.noise_estimate()
        ranking = criterion.audit()
        self.label_quality_ = ranking.quality
        self.suggested_labels_ = self.classes_[ranking.evidence.suggested_label]

    @torch.no_grad()
    def predict_proba(self, X: Any) -> NDArray[np.floating[Any]]:
        """Return the probability of every class, `(N, K)`, in the order of `classes_`."""
        check_is_fitted(self)
        if self.estimator is not None:
            some = self.estimator_.predict_proba(self._accepted(X, reset=False))
            every = np.zeros((len(some), len(self.classes_)))
            every[:, self.estimator_.true_classes_] = some
            return every
        X = validate_data(self, X, dtype=np.float32, reset=False)
        parts = self._standardised(X).split(4096)
        found = torch.cat([self.module_(part).double().softmax(1) for part in parts])
        return found.cpu().numpy()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every sample, `(N,)`."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def _accepted(self, X: Any, *, reset: bool) -> Any:
        """Return samples for `estimator`: data frames and texts as they are, else an array."""
        first = X[0] if isinstance(X, list | tuple | np.ndarray) and len(X) else None
        if hasattr(X, "iloc") or isinstance(first, str):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

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
        for name, least in (("epochs", 1), ("batch_size", 1), ("rounds", 1), ("folds", 2)):
            if getattr(self, name) < least:
                raise MentorNetError(f"{name} must be ≥ {least}, got {getattr(self, name)}")
        if self.estimator is not None:
            if self.module is not None:
                raise MentorNetError("give either module or estimator, not both")
            if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
                raise MentorNetError(
                    f"estimator must be a classifier, such as LogisticRegression(), got "
                    f"{self.estimator!r}"
                )
            if not hasattr(self.estimator, "predict_proba"):
                raise MentorNetError(
                    f"estimator must have predict_proba, and {self.estimator!r} has none; "
                    "CalibratedClassifierCV(estimator) adds it"
                )
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


def _scaled(
    criterion: MentorLoss, logits: Tensor, given: Tensor, index: Tensor, scale: Tensor
) -> Tensor:
    """Return the loss of a step that `criterion` has weighted, with the user's own weights too."""
    known = criterion.engine.known
    label = given if known is None else known.correct(given, index)
    losses = nn.functional.cross_entropy(logits, label, reduction="none")
    return weighted_mean(criterion.weights * scale, losses)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
