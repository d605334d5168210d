"""Classifiers of Hugging Face transformers as students: `hf:FOLDER` or `hf:NAME`.

Only plain files are read (JSON, text and safetensors). No code of a model's own is run and nothing
is unpickled. A run keeps the files that describe the network, so it does not need the folder later.
"""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from mentornet.errors import MentorNetError, cut, first_line
from mentornet.files import read_json
from mentornet.students.image_processor import PROCESSOR, read_preprocessing
from mentornet.students.preprocessing import Preprocessing, TokenInputs, check_channels

__all__ = ["HuggingFaceImages", "HuggingFaceTexts", "hugging_face", "keep_description"]

_CONFIG = "config.json"
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model")
_DESCRIPTION = (
    _CONFIG, PROCESSOR, *_TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "merges.txt", "sentencepiece.bpe.model",
)  # fmt: skip
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_USUAL_LENGTH = 512  # pieces that a network reads, if its config does not say


class HuggingFaceImages:
    """A factory of students that read images.

    Args:
        folder: the folder of a model.
        weights: whether the weights are read, which the folder must then have.

    Attributes:
        preprocessing: how the network's own processor prepares images.
    """

    reads: ClassVar[str] = "images"

    def __init__(self, folder: Path, *, weights: bool = True) -> None:
        self.folder, self.weights = folder, weights
        self.preprocessing: Preprocessing = read_preprocessing(folder)

    def __call__(self, channels: int = 3, classes: int = 2) -> nn.Module:
        """Return the network; its last layer has K outputs and is not trained."""
        from transformers import AutoModelForImageClassification

        check_channels(channels)
        network = _load(AutoModelForImageClassification, self.folder, self.weights, classes)
        return _Images(network)


class HuggingFaceTexts:
    """A factory of students that read texts, as word pieces.

    The features of a text are the mean of the last states of its pieces, which suits any encoder;
    heads of classifiers differ, and some are not trained.

    Args:
        folder: the folder of a model.
        weights: whether the weights are read, which the folder must then have.

    Attributes:
        preprocessing: an example of what it reads.
        longest: the most pieces that it reads.
    """

    reads: ClassVar[str] = "tokens"

    def __init__(self, folder: Path, *, weights: bool = True) -> None:
        self.folder, self.weights = folder, weights
        self.preprocessing = TokenInputs()
        self.longest = _longest(folder)

    def __call__(self, channels: int = 0, classes: int = 2) -> nn.Module:
        """Return the network; its last layer has K outputs and is not trained."""
        from transformers import AutoModel

        del channels  # the vocabulary is that of its tokenizer
        return _Texts(_load(AutoModel, self.folder, self.weights, None), classes)


class _Images(nn.Module):
    """A classifier of transformers, which returns more than logits."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.network(pixel_values=images).logits
        return logits


class _Texts(nn.Module):
    """The mean of the last states of a text's pieces, and a linear layer on it."""

    def __init__(self, network: Any, classes: int) -> None:
        super().__init__()
        self.network = network
        self.classify = nn.Linear(network.config.hidden_size, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        longest = max(1, int((tokens > 0).sum(1).amax()))
        there = tokens[:, :longest] > 0
        ids = (tokens[:, :longest].long() - 1).clamp(min=0)
        states = self.network(input_ids=ids, attention_mask=there.long()).last_hidden_state
        mask = there[:, :, None].to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        logits: Tensor = self.classify(mean)
        return logits


def hugging_face(source: str | Path, *, weights: bool = True) -> Any:
    """Return the factory of a model's folder, or of its name on the Hugging Face hub.

    Args:
        source: a folder, or a name such as `google/vit-base-patch16-224`, which is downloaded.
        weights: whether the weights are read.
    """
    folder = Path(source).expanduser()
    if not folder.is_dir():
        folder = _downloaded(f"{source}")
    for names in (_CONFIG,), _WEIGHTS if weights else ():
        if names and not any((folder / name).is_file() for name in names):
            raise MentorNetError(
                f"{cut(f'{folder}', 200)} has no {names[0]}; name the folder of a model that was "
                "saved by save_pretrained of transformers"
            )
    if (folder / PROCESSOR).is_file():
        return HuggingFaceImages(folder, weights=weights)
    if any((folder / name).is_file() for name in _TOKENIZERS):
        return HuggingFaceTexts(folder, weights=weights)
    raise MentorNetError(
        f"{cut(f'{folder}', 200)} has neither {PROCESSOR}, which a network for images needs, nor "
        "the files of a tokenizer, for texts; add them with save_pretrained of the processor or "
        "the tokenizer"
    )


def keep_description(source: Path, folder: Path) -> None:
    """Copy the files that describe a network into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _DESCRIPTION:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)


def _load(kind: Any, folder: Path, weights: bool, classes: int | None) -> Any:
    """Return a network of transformers, with or without its weights."""
    from transformers import AutoConfig

    labels = {} if classes is None else {"num_labels": classes}
    with _quiet():
        try:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False, **labels)
            if not weights:
                return kind.from_config(config, trust_remote_code=False)
            return kind.from_pretrained(
                folder, config=config, ignore_mismatched_sizes=True, use_safetensors=True,
                trust_remote_code=False,
            )  # fmt: skip
        except Exception as error:  # whatever is wrong with its files
            raise MentorNetError(
                f"{cut(f'{folder}', 200)} cannot be loaded by transformers: {first_line(error)}"
            ) from error


def _longest(folder: Path) -> int:
    """Return how many pieces a network reads; RoBERTa's positions begin at 2."""
    content = read_json(folder / _CONFIG)
    found = content.get("max_position_embeddings", content.get("n_positions"))
    if type(found) is not int or found < 4:
        return _USUAL_LENGTH
    return found - 2 if "roberta" in f"{content.get('model_type')}" else found


def _downloaded(name: str) -> Path:
    """Return the folder of a model from the hub, which is downloaded if it is not there yet."""
    from huggingface_hub import snapshot_download

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        with _quiet():
            return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise MentorNetError(
            f"student 'hf:{cut(name, 100)}' is no folder, and no model of that name can be "
            f"downloaded ({first_line(error)}); name the folder of a model, as in hf:models/vit"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the progress and the hints of transformers, except errors."""
    from transformers.utils import logging as theirs

    level, shown = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        theirs.set_verbosity(level)
        if shown:
            theirs.enable_progress_bar()
