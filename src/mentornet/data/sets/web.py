"""Download of a file over http. It is resumed if the server can, and retried if the line drops."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from mentornet.errors import MentorNetError
from mentornet.version import __version__

__all__ = ["CHUNK", "Report", "fetch", "write_part"]

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each new try, after tries that brought nothing."""

TIMEOUT = 30.0
"""After this many seconds without a byte the connection counts as lost."""

CHUNK = 1 << 18

Report = Callable[[int, int], None]
"""Called with the number of bytes that have arrived, and the total, or 0 if it is unknown."""


class _Dropped(Exception):  # noqa: N818 - never leaves this file
    """The connection was lost; a new one may work."""


class _Unreachable(_Dropped):
    """There was no connection at all."""


def fetch(address: str, part: Path, report: Report) -> None:
    """Complete `part` from `address`; at most `len(PAUSES)` tries in a row may bring nothing."""
    start = furthest = _size(part)
    failures = 0
    while True:
        try:
            return _connect(address, part, report)
        except _Dropped as error:
            have = _size(part)
            if isinstance(error, _Unreachable) and have == start:
                raise MentorNetError(
                    f"{address} cannot be reached ({error}); without internet, set "
                    "MENTORNET_DATA to the folder that holds the data, or name that folder in the "
                    "setting folder, or name a local copy or another address in the setting mirror"
                ) from None
            if have > furthest:
                furthest, failures = have, 0
            if failures == len(PAUSES):
                raise MentorNetError(
                    f"{address}: the connection was lost again and again ({error}); "
                    f"{have} bytes have arrived, and a new start continues from there"
                ) from None
        time.sleep(PAUSES[failures])
        failures += 1


def _connect(address: str, part: Path, report: Report) -> None:
    """One connection: fetch the rest of `part`, or the whole file if the server cannot resume."""
    have = _size(part)
    response = _open(address, have)
    if response is None:
        return
    with response:
        resumed = have > 0 and response.status == 206
        if resumed and not _starts_at(have, response):
            part.unlink()
            raise _Dropped("the server did not send the range that was asked for")
        done = have if resumed else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() else 0
        write_part(part, "ab" if resumed else "wb", _chunks(response), done, total, report)
    if _size(part) < total:
        raise _Dropped(f"it ended {total - _size(part)} bytes early")


def _open(address: str, have: int) -> HTTPResponse | None:
    """The response of the server, or None if there are no bytes beyond those we have."""
    opener = OpenerDirector()  # unlike build_opener: no ftp and no file, even after a redirect
    for handler in (
        ProxyHandler, UnknownHandler, HTTPHandler, HTTPSHandler,
        HTTPDefaultErrorHandler, HTTPRedirectHandler, HTTPErrorProcessor,
    ):  # fmt: skip
        opener.add_handler(handler())
    headers = {"User-Agent": f"mentornet/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        response: HTTPResponse = opener.open(Request(address, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:
            return None  # the checksum will show whether the file is complete
        if error.code in (408, 429) or error.code >= 500:
            raise _Dropped(f"{error.code} {error.reason}") from None
        raise MentorNetError(
            f"{address}: {error.code} {error.reason}; is the address right?"
        ) from None
    except URLError as error:
        raise _Unreachable(str(getattr(error.reason, "strerror", None) or error.reason)) from None
    except (InvalidURL, ValueError) as error:
        raise MentorNetError(f"{address} is not an address: {error}") from None
    except (OSError, HTTPException) as error:
        raise _Dropped(str(error) or type(error).__name__) from None
    return response


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            chunk = response.read1(CHUNK)
        except (OSError, HTTPException) as error:
            raise _Dropped(str(error) or type(error).__name__) from None
        if not chunk:
            return
        yield chunk


def write_part(
    part: Path, mode: str, chunks: Iterator[bytes], done: int, total: int, report: Report
) -> None:
    """Append the chunks to `part`, or start it again; a full disk is reported to the user."""
    try:
        with part.open(mode) as file:
            for chunk in chunks:
                file.write(chunk)
                done += len(chunk)
                report(done, total)
    except OSError as error:
        raise MentorNetError(f"{part} cannot be written: {error.strerror}") from None


def _starts_at(place: int, response: HTTPResponse) -> bool:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return found is not None and int(found[1]) == place


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
