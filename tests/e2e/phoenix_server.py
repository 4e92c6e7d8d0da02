"""A real Arize Phoenix, in its own environment, which `tests/install.sh all` creates.

Source: Phoenix's own API for starting it and reading what it stored.
"""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import anyio
import httpx2
from anyio.to_thread import run_sync
from msgspec import Struct

from tests.ports import quiet_port

COMMAND: Final = Path(sys.prefix, "phoenix", "bin", "phoenix")
PROJECT: Final = "openinference.project.name"
START_S: Final = 300
WAIT_S: Final = 60
POLL_S: Final = 0.1


class StoredSpan(Struct, frozen=True):
    """A span as Phoenix returns it."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str | None
    status: str
    attributes: dict[str, Any]


class Phoenix(Struct, frozen=True):
    """A running server."""

    http: httpx2.Client
    folder: Path

    @property
    def endpoint(self) -> str:
        """Return the address for traces."""
        return f"{self.http.base_url}".rstrip("/") + "/v1/traces"

    def spans(self, project: str) -> list[StoredSpan]:
        """Return all spans in a project, in order of their start; none if the project does not exist yet."""
        answer = self.http.get(f"/v1/projects/{project}/spans", params={"limit": 1000})
        if answer.status_code == 404:
            return []
        found = sorted(answer.raise_for_status().json()["data"], key=lambda span: span["start_time"])
        return [
            StoredSpan(
                span["name"],
                span["span_kind"],
                span["context"]["trace_id"],
                span["context"]["span_id"],
                span["parent_id"],
                span["status_code"],
                span["attributes"],
            )
            for span in found
        ]

    async def spans_once(self, project: str, number: int) -> list[StoredSpan]:
        """Wait until a project has that many spans; they are stored some time after they are received."""
        spans: list[StoredSpan] = []
        with anyio.move_on_after(WAIT_S):
            while len(spans) < number:
                spans = await run_sync(self.spans, project)
                await anyio.sleep(POLL_S)
        assert len(spans) >= number, [span.name for span in spans]
        return spans

    def listed(self, project: str, what: str) -> list[dict[str, Any]]:
        """Return a project's `traces` or `sessions`."""
        return self.http.get(f"/v1/projects/{project}/{what}").raise_for_status().json()["data"]

    def stored(self) -> bytes:
        """Return everything that it wrote to disk."""
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())


@contextmanager
def phoenix(folder: Path) -> Generator[Phoenix]:
    """Run a server while the block runs."""
    port = quiet_port()
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(quiet_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    process = subprocess.Popen(
        [COMMAND, "serve"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=variables,
    )
    output = _Output(process)
    try:
        assert output.has_started.wait(START_S), output.text()
        assert process.poll() is None, output.text()
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=WAIT_S) as client:
            yield Phoenix(client, folder)
    finally:
        process.kill()
        output.join()
        process.wait()


class _Output(Thread):
    """Reads a server's output; a server that exits counts as started too, so that nobody waits for it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(daemon=True)
        self.has_started = Event()
        self._process = process
        self._lines: list[bytes] = []
        self.start()

    def run(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                self._lines.append(line)
                if b"Uvicorn running on" in line:
                    self.has_started.set()
        self.has_started.set()

    def text(self) -> str:
        return b"".join(self._lines).decode(errors="replace")
