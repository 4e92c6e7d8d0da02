"""A server that implements the part of the Hugging Face Hub's API that downloads a public model.

Source: Hugging Face Hub API endpoints; the requests of `huggingface_hub`.
"""

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

REPOSITORY: Final = "Systran/faster-whisper-tiny"
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
LARGE: Final = 1 << 20
"""Files above this are stored with Git LFS, by their digests."""


class HubServer(ThreadingHTTPServer):
    """One repository with the files of a folder; records the requests, and can damage one file."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.damaged = ""
        self.asked: list[str] = []
        self.tokens: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def entries(self) -> list[dict[str, object]]:
        listed: list[dict[str, object]] = [{"rfilename": "README.md", "size": 7, "blobId": "0" * 40}]
        for path in sorted(self.folder.iterdir()):
            size = path.stat().st_size
            entry: dict[str, object] = {"rfilename": path.name, "size": size, "blobId": digest(path, "sha1")}
            if size > LARGE:
                entry["lfs"] = {"size": size, "sha256": digest(path, "sha256"), "pointerSize": 130}
            listed.append(entry)
        return listed


def digest(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> HubServer:
        assert isinstance(self.server, HubServer)
        return self.server

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.asked.append(f"{self.command} {path}")
        self.hub.tokens += self.headers.get_all("authorization") or []
        start = f"/{REPOSITORY}/resolve/{COMMIT}/"
        if path in (f"/api/models/{REPOSITORY}", f"/api/models/{REPOSITORY}/revision/{COMMIT}"):
            about = {"id": REPOSITORY, "sha": COMMIT, "private": False, "siblings": self.hub.entries()}
            self._send(200, json.dumps(about).encode(), {"content-type": "application/json"})
        elif path.startswith(f"/api/models/{REPOSITORY}/tree/{COMMIT}"):
            self._send(200, json.dumps(self._tree()).encode(), {"content-type": "application/json"})
        elif path.startswith(start) and (file := self.hub.folder / path.removeprefix(start)).is_file():
            self._send_file(file)
        else:
            self._send(404, b"", {"x-error-code": "RepoNotFound"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _tree(self) -> list[dict[str, object]]:
        return [
            {
                "type": "file",
                "path": each["rfilename"],
                "size": each["size"],
                "oid": each["blobId"],
                **(
                    {"lfs": {**lfs, "oid": lfs["sha256"]}} if isinstance(lfs := each.get("lfs"), dict) else {}
                ),
            }
            for each in self.hub.entries()
        ]

    def _send_file(self, file: Path) -> None:
        content = file.read_bytes()
        kind = "sha256" if len(content) > LARGE else "sha1"
        headers = {"x-repo-commit": COMMIT, "etag": f'"{digest(file, kind)}"'}
        if file.name == self.hub.damaged:
            content = content[:-1] + bytes([content[-1] ^ 1])
        first = int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        if first:
            headers["content-range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        self._send(206 if first else 200, content[first:], headers)

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""


@contextmanager
def hub_server(folder: Path) -> Generator[HubServer]:
    """Serve the files of a folder as a repository."""
    with HubServer(folder) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
