"""Networks of timm as students: `timm:NAME`, where timm is installed."""

from __future__ import annotations

from torch import nn

from mentornet.errors import MentorNetError, cut, first_line
from mentornet.students.preprocessing import Preprocessing, check_channels

__all__ = ["PREFIX", "TimmImages"]

PREFIX = "timm:"


class TimmImages:
    """A factory of students: a network of timm with its pretrained weights.

    Attributes:
        preprocessing: how timm prepares images for it.

    Args:
        name: the network's name in timm, such as `resnet18.a1_in1k`.
        weights: whether its pretrained weights are loaded.
    """

    def __init__(self, name: str, *, weights: bool = True) -> None:
        self.name, self.weights = name, weights
        try:
            import timm
        except Exception as error:  # torchvision, which it needs, may not load
            raise MentorNetError(
                f"student 'timm:{cut(name)}' needs timm, which cannot be imported "
                f"({first_line(error)}); install timm and torchvision"
            ) from error
        self._timm = timm
        if not timm.is_model(name):
            raise MentorNetError(f"timm has no network {cut(name)!r}; timm.list_models() lists all")
        facts = timm.data.resolve_data_config(
            pretrained_cfg=timm.get_pretrained_cfg(name).to_dict()
        )
        red, green, blue = (255 * value for value in facts["mean"])
        deviation = [255 * value for value in facts["std"]]
        self.preprocessing = Preprocessing(
            int(facts["input_size"][-1]),
            (red, green, blue),
            (deviation[0], deviation[1], deviation[2]),
        )

    def __call__(self, channels: int = 3, classes: int = 2) -> nn.Module:
        """Return the network; its last layer has K outputs and is not trained."""
        check_channels(channels)
        try:
            network: nn.Module = self._timm.create_model(
                self.name, pretrained=self.weights, num_classes=classes
            )
        except Exception as error:
            raise MentorNetError(
                f"student 'timm:{cut(self.name)}' cannot be loaded: {first_line(error)}"
            ) from error
        return network
