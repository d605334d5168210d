"""Read and write files; a file is written as a whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mentornet.errors import MentorNetError

__all__ = ["as_json", "read_json", "write_bytes", "write_json", "write_text"]


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically: a reader finds the old file or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, f"{path}") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, content: str) -> None:
    """Write `content` to `path` atomically, as UTF-8."""
    write_bytes(path, content.encode())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write `content` to `path` atomically, as JSON."""
    write_text(path, as_json(content))


def as_json(content: Mapping[str, Any]) -> str:
    """Return `content` as indented JSON, in its own order; NaN is an error."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; errors name the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MentorNetError(f"{path} is missing") from None
    except OSError as error:
        raise MentorNetError(f"{path} cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise MentorNetError(f"{path} is not JSON ({error}); was it cut short?") from None
    if not isinstance(content, dict):
        raise MentorNetError(f"{path} must hold a JSON object, got {type(content).__name__}")
    return content
