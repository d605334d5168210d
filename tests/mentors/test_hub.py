"""A mentor's folder as `huggingface_hub` sees it: a card it reads, files it pulls."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard, snapshot_download

from mentornet import Mentor
from mentornet.mentors import shipped

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FOLDER = shipped()["pd"]


class Hub(BaseHTTPRequestHandler):
    """Just enough of the Hub to pull one repository, me/mentor, from."""

    def do_HEAD(self) -> None:
        self.do_GET(body=False)

    def do_GET(self, *, body: bool = True) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/me/mentor/tree/"):
            tree = [
                {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": "0" * 40}
                for file in sorted(FOLDER.iterdir())
            ]
            content, kind = json.dumps(tree).encode(), "application/json"
        elif path.startswith("/api/models/me/mentor"):
            names = [{"rfilename": file.name} for file in sorted(FOLDER.iterdir())]
            about = {"id": "me/mentor", "modelId": "me/mentor", "sha": COMMIT, "siblings": names}
            content, kind = json.dumps(about).encode(), "application/json"
        else:
            content = (FOLDER / path.rpartition("/")[2]).read_bytes()
            kind = "application/octet-stream"
        self.send_response(200)
        self.send_header("Content-Length", f"{len(content)}")
        self.send_header("Content-Type", kind)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_hub_reads_the_card() -> None:
    for folder in shipped().values():
        data = ModelCard.load(folder / "README.md").data
        assert data.license == "apache-2.0"
        assert data.library_name == "mentornet"
        assert "noisy-labels" in data.tags


def test_what_is_pulled_is_the_mentor(endpoint: str, tmp_path: Path) -> None:
    pulled = snapshot_download("me/mentor", endpoint=endpoint, cache_dir=tmp_path, token=False)
    ours, theirs = Mentor.from_pretrained("pd"), Mentor.from_pretrained(pulled)
    for name, value in ours.state_dict().items():
        assert torch.equal(value, theirs.state_dict()[name])
