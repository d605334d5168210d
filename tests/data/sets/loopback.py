"""A web server on this machine that can be told to misbehave."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Server:
    """What it serves, how it behaves, and what it was asked for.

    Attributes:
        files: content by path.
        ranges: whether it continues where asked to.
        lie: how far off the start of a range is.
        drops: for each request to come, the bytes after which the connection breaks.
        statuses: for each request to come, an error to answer with, or 0.
        lengths: whether it says how long a file is.
        redirects: where a path has moved to.
        asked: path and Range of every request.
    """

    files: dict[str, bytes]
    ranges: bool = True
    lie: int = 0
    drops: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    lengths: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    port: int = 0

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.asked.append((request.path, wanted))
        status = self.statuses.pop(0) if self.statuses else 0
        content = self.files.get(request.path)
        if request.path in self.redirects:
            request.send_response(302)
            request.send_header("Location", self.redirects[request.path])
            request.end_headers()
            return
        if status or content is None:
            request.send_error(status or 404)
            return
        start = 0
        if self.ranges and wanted:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                request.send_error(416)
                return
            start += self.lie
            request.send_response(206)
            last = len(content) - 1
            request.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
        else:
            request.send_response(200)
        body = content[start:]
        if self.lengths:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.drops.pop(0)] if self.drops else body)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Inside, `server` answers at its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
