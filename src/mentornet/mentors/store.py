"""Save a mentor to a folder (`config.json`, `model.safetensors`), and load it from there."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch.overrides import TorchFunctionMode

from mentornet.errors import MentorNetError, cut, first_line, short
from mentornet.files import read_json, reading, write_bytes, write_json
from mentornet.mentors.architectures import ARCHITECTURES, make_mentor
from mentornet.mentors.mentor import Mentor
from mentornet.names import check_keys, did_you_mean, pick
from mentornet.version import __version__

__all__ = [
    "CONFIG", "FORMAT", "INDEX", "OF_EVIDENCE", "PRETRAINED", "WEIGHTS", "load_mentor",
    "mentor_folder", "save_mentor", "shipped",
]  # fmt: skip

CONFIG = "config.json"
INDEX = "series.json"
"""The file that makes a folder a series of mentors; see `MentorSeries`."""
OF_EVIDENCE = "universal.json"
"""The file in place of `CONFIG` of a mentor that reads no losses; see `UniversalMentor`."""
WEIGHTS = "model.safetensors"
FORMAT = 1
"""The version of the folder's format; it rises when older versions cannot read new folders."""

_OF_A_RUN = "mentors"  # where a run keeps those that it learned
_ABOUT = ("format", "mentornet_version", "architecture")  # keys that are not sizes
_LARGEST = 1 << 30  # bytes of a mentor's weights
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

PRETRAINED = Path(__file__).parent / "pretrained"


def shipped() -> dict[str, Path]:
    """Return the folders of the mentors and series that ship with the package, by name."""
    found = [*PRETRAINED.glob(f"*/{CONFIG}"), *PRETRAINED.glob(f"*/{INDEX}")]
    return {path.parent.name: path.parent for path in sorted(found)}


def save_mentor(mentor: Mentor, folder: Path) -> None:
    """Write `mentor` to `folder`; each file is replaced as a whole.

    The file of weights has a copy of the config. If a crash leaves files of two mentors in one
    folder, loading them therefore raises an error.
    """
    if folder.exists() and not folder.is_dir():
        raise MentorNetError(f"a mentor is saved into a folder, but {folder} is a file")
    config = _describe(mentor)
    tensors = {name: tensor.contiguous() for name, tensor in mentor.state_dict().items()}
    write_bytes(folder / WEIGHTS, save(tensors, metadata={"config": json.dumps(config)}))
    write_json(folder / CONFIG, config)


def load_mentor(name_or_path: str | Path) -> Mentor:
    """Load the shipped mentor of that name, or the one in that folder, on the CPU in eval mode."""
    folder = mentor_folder(name_or_path)
    if (folder / INDEX).exists():
        raise MentorNetError(
            f"{folder} holds a series of mentors, not one; name one of its folders, or load it "
            "with MentorSeries.from_pretrained"
        )
    config = read_json(folder / CONFIG)
    _check_format(config, folder)
    tensors, written_with = _read_weights(folder / WEIGHTS)
    # The sizes may be anything; the weights that are there are not.
    with torch.device("meta"), _Unfilled():
        mentor = _from_config(config, folder)
    if written_with is not None and written_with != json.dumps(config):
        raise MentorNetError(
            f"{folder / CONFIG} and {WEIGHTS} do not belong together; save the mentor again"
        )
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES or not tensor.isfinite().all():
            raise MentorNetError(f"{folder / WEIGHTS}: {cut(name)} must hold finite numbers")
    try:
        mentor.load_state_dict(tensors, assign=True)
    except RuntimeError as error:
        reason = " ".join(f"{error}".split())
        raise MentorNetError(
            f"{folder / WEIGHTS} does not hold a {mentor.name!r} mentor of the sizes in "
            f"{CONFIG}: {cut(reason, 300)}"
        ) from None
    return mentor.eval().requires_grad_(False)


class _Unfilled(TorchFunctionMode):
    """Leaves parameters as they are made, because the weights of a file will replace them.

    To draw normal numbers for a tensor without storage, torch imports its compiler, which takes
    a second.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = kwargs or {}
        if getattr(func, "__module__", None) == torch.nn.init.__name__:
            return given["tensor"] if "tensor" in given else args[0]
        return func(*args, **given)


def _describe(mentor: Mentor) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "mentornet_version": __version__,
        "architecture": mentor.name,
        **asdict(mentor.config),
    }


def mentor_folder(name_or_path: str | Path) -> Path:
    """Return the folder of a shipped mentor or series, or that path; of a run, its mentors."""
    folder = Path(name_or_path)
    known = shipped()
    if (folder / _OF_A_RUN / INDEX).exists():
        return folder / _OF_A_RUN
    if (folder / CONFIG).exists() or (folder.is_dir() and str(name_or_path) not in known):
        return folder
    if str(name_or_path) in known:
        return known[str(name_or_path)]
    if (PRETRAINED / name_or_path / OF_EVIDENCE).exists():
        raise MentorNetError(
            f"mentor {str(name_or_path)!r} reads averaged predictions, not losses; it is used by "
            "EarlyLoss and by the method mentornet-early"
        )
    raise MentorNetError(
        f"there is no mentor {str(name_or_path)!r}: it is neither a folder nor a shipped mentor; "
        f"{did_you_mean(str(name_or_path), known)}"
    )


def _check_format(config: dict[str, Any], folder: Path) -> None:
    written = config.get("format")
    if not isinstance(written, int) or isinstance(written, bool):
        raise MentorNetError(f"{folder / CONFIG} has no format number; is it a mentor's folder?")
    if written < 1:
        raise MentorNetError(f"{folder / CONFIG} has format {short(written)}; they begin at 1")
    if written > FORMAT:
        by = cut(f"{config.get('mentornet_version')}")
        raise MentorNetError(
            f"{folder} was written by mentornet {by} in format {short(written)}; mentornet "
            f"{__version__} reads formats up to {FORMAT}: upgrade mentornet"
        )


def _from_config(config: dict[str, Any], folder: Path) -> Mentor:
    name = str(config.get("architecture"))
    sizes = {key: value for key, value in config.items() if key not in _ABOUT}
    try:
        known = {
            field.name for field in fields(pick(ARCHITECTURES, name, "architecture").config_type)
        }
        check_keys(sizes, known, f"{name} has no size")
        check_keys(known, sizes, "there is no")
        return make_mentor(name, **sizes)
    except (MentorNetError, RuntimeError) as error:  # torch raises the latter for huge sizes
        raise MentorNetError(f"{folder / CONFIG}: {first_line(error, 500)}") from None


def _read_weights(path: Path) -> tuple[dict[str, torch.Tensor], str | None]:
    if not path.is_file():
        raise MentorNetError(f"{path} is missing")
    size = path.stat().st_size
    if size > _LARGEST:
        raise MentorNetError(f"{path} has {size:,} bytes; at most {_LARGEST:,} are read")
    with reading(path):
        try:
            with safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                return tensors, (file.metadata() or {}).get("config")
        except SafetensorError as error:
            reason = first_line(error)
            raise MentorNetError(f"{path} cannot be read ({reason}); was it cut short?") from None
