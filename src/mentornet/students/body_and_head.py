"""A pretrained network cut in two: the body, which makes features, and a fresh last layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from mentornet.errors import MentorNetError, first_line
from mentornet.students.preprocessing import Preprocessing, TokenInputs

__all__ = ["BodyAndHead", "Head", "cut_in_two"]


class Head(nn.Module):
    """A linear layer on standardised features, x = (f − μ)/(σ √D).

    With them, one learning rate and one weight decay suit the features of any network. `prepare`
    sets μ and σ once. The layer starts at 0, so that all classes are equally probable.

    Args:
        features: D, the number of features.
        classes: K.
    """

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.mean: Tensor
        self.scale: Tensor
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))
        self.classify = nn.Linear(features, classes)
        nn.init.zeros_(self.classify.weight)
        nn.init.zeros_(self.classify.bias)

    @torch.no_grad()
    def prepare(self, features: Tensor) -> None:
        """Set μ and σ to those of these features, `(N, D)`."""
        deviation = features.std(0, correction=0)
        floor = 1e-3 * deviation.mean() + 1e-12  # of a feature that is constant
        self.mean.copy_(features.mean(0))
        self.scale.copy_(1 / (deviation.clamp(min=floor) * features.shape[1] ** 0.5))

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits, `(B, K)`, of features `(B, D)`."""
        logits: Tensor = self.classify((features - self.mean) * self.scale)
        return logits


class BodyAndHead(nn.Module):
    """A network whose last layer is new.

    Args:
        body: makes features, `(B, D)`.
        head: makes logits of them, `(B, K)`.
        frozen: whether the body stays as it is; then it is always in evaluation mode.

    Attributes:
        preprocessing: how its images are prepared, if that is known.
    """

    preprocessing: Preprocessing | TokenInputs | None = None

    def __init__(self, body: nn.Module, head: nn.Module, *, frozen: bool) -> None:
        super().__init__()
        self.body, self.head, self.frozen = body, head, frozen
        if frozen:
            body.requires_grad_(False)
            body.eval()

    def train(self, mode: bool = True) -> BodyAndHead:
        super().train(mode)
        if self.frozen:
            self.body.eval()
        return self

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the logits, `(B, K)`."""
        logits: Tensor = self.head(self.body(inputs).float())
        return logits


def cut_in_two(
    network: nn.Module, example: Tensor, classes: int, *, frozen: bool, name: str
) -> BodyAndHead:
    """Return the network with a new last layer; what its old one has learned is left out.

    The last layer is the linear layer with K outputs that is called last. A frozen network gets a
    `Head`, another one a plain linear layer with random weights.

    Args:
        network: a network that returns logits, `(B, K)`.
        example: inputs of the network, `(B, …)`.
        classes: K.
        frozen: whether only the new layer will be trained.
        name: what messages call the network.
    """
    place = _last_layer(network, example, classes, name)
    layer: Any = network.get_submodule(place)
    above, _, own = place.rpartition(".")
    setattr(network.get_submodule(above), own, nn.Identity())
    features = _outputs(network, example, name)
    if features.shape != (len(example), layer.in_features):
        raise MentorNetError(
            f"{name} changes the outputs of its last linear layer, {place}, so that layer cannot "
            "be replaced; let the network return them as they are"
        )
    width = layer.in_features
    head = Head(width, classes) if frozen else nn.Linear(width, classes)
    return BodyAndHead(network, head, frozen=frozen)


def _last_layer(network: nn.Module, example: Tensor, classes: int, name: str) -> str:
    """Return the name of the linear layer with K outputs that is called last."""
    called: list[str] = []
    handles = [
        module.register_forward_hook(lambda *_, place=place: called.append(place))
        for place, module in network.named_modules()
        if isinstance(module, nn.Linear) and module.out_features == classes and place
    ]
    try:
        _outputs(network, example, name)
    finally:
        for handle in handles:
            handle.remove()
    if not called:
        raise MentorNetError(
            f"{name} has no linear layer with {classes} outputs, one for each class, that could be "
            "trained anew; end the network with nn.Linear(…, classes)"
        )
    return called[-1]


@torch.no_grad()
def _outputs(network: nn.Module, example: Tensor, name: str) -> Tensor:
    before = network.training
    try:
        outputs: Tensor = network.eval()(example)
    except Exception as error:
        raise MentorNetError(
            f"{name} cannot read inputs of shape {tuple(example.shape)}: "
            f"{type(error).__name__}: {first_line(error)}"
        ) from error
    finally:
        network.train(before)
    return outputs
