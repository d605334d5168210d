"""What the rows of the paper's tables do to the loss of a sample."""

from __future__ import annotations

from mentornet.methods.goldberger import NoiseLayer
from mentornet.methods.reed import reed_hard, reed_soft

__all__ = ["NoiseLayer", "reed_hard", "reed_soft"]
