"""Small local servers that implement the published sandbox APIs of Daytona and Vercel, and run commands here.

Sources: the OpenAPI models in `daytona_api_client` and `daytona_toolbox_api_client`; the API client in
`vercel.sandbox`.
"""

import io
import json
import subprocess
import tarfile
from collections.abc import Generator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

KEY = "key-of-a-test"
VARIABLES = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}


def shell(argv: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Run something as a sandbox would: with its own environment and session."""
    return subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=VARIABLES,
        start_new_session=True,
    )


class Service(ThreadingHTTPServer):
    """A server that remembers the live sandboxes and every call."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.living: set[str] = set()
        self.stopped: set[str] = set()
        self.created: list[dict[str, Any]] = []
        self.calls: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Shared parts of both services: bodies in any transfer encoding, answers in JSON."""

    protocol_version = "HTTP/1.1"

    @property
    def service(self) -> Service:
        assert isinstance(self.server, Service)
        return self.server

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces: list[bytes] = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, value: object, code: int = 200) -> None:
        self.send(json.dumps(value).encode(), "application/json", code)

    def send(self, content: bytes, kind: str, code: int = 200) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        path = self.path.split("?")[0]
        self.service.calls.append(f"{method} {path}")
        body = self.body()
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            self.answer({"message": "who is this?", "error": {"code": "forbidden", "message": "no"}}, 401)
        else:
            self.serve(method, path.strip("/").split("/"), body)

    def serve(self, method: str, path: list[str], body: bytes) -> None:
        raise NotImplementedError


class Daytona(Handler):
    """Daytona's API, and below `/toolbox` the contents of each sandbox."""

    def serve(self, method: str, path: list[str], body: bytes) -> None:
        match method, path:
            case "POST", ["api", "sandbox"]:
                self.service.created.append(json.loads(body))
                name = f"box-{len(self.service.created)}"
                self.service.living.add(name)
                self.answer(self._sandbox(name))
            case "GET", ["api", "sandbox", name] if name in self.service.living:
                self.answer(self._sandbox(name))
            case "POST", ["api", "sandbox", name, ("stop" | "start") as what] if name in self.service.living:
                (self.service.stopped.add if what == "stop" else self.service.stopped.discard)(name)
                self.answer(self._sandbox(name))
            case "DELETE", ["api", "sandbox", name] if name in self.service.living:
                self.service.living.discard(name)
                self.answer({**self._sandbox(name), "state": "destroyed"})
            case "POST", ["toolbox", name, *_] if name in self.service.stopped:
                self.answer({"message": "the sandbox is stopped"}, 400)
            case "POST", ["toolbox", name, "process", "execute"] if name in self.service.living:
                done = shell(["/bin/sh", "-c", json.loads(body)["command"]])
                self.answer({"exitCode": done.returncode, "result": done.stdout.decode("utf-8", "replace")})
            case "POST", ["toolbox", name, "files", *_] if name in self.service.living:
                self._take_files(body)
                self.answer({})
            case _:
                self.answer({"message": f"nothing at {'/'.join(path)}"}, 404)

    def _sandbox(self, name: str) -> dict[str, Any]:
        return {
            "id": name, "organizationId": "org", "name": name, "user": "daytona", "env": {}, "labels": {},
            "public": False, "networkBlockAll": False, "target": "here", "cpu": 1, "gpu": 0, "memory": 1,
            "disk": 1, "kvm": False, "toolboxProxyUrl": f"{self.service.url}/toolbox",
            "state": "stopped" if name in self.service.stopped else "started",
        }  # fmt: skip

    def _take_files(self, body: bytes) -> None:
        """Write the files in a form; each has a path beside it."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + body)
        fields = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        for name, part in fields.items():
            if str(name).endswith("path"):
                file = fields[str(name).removesuffix("path") + "file"]
                Path(str(part.get_content()).strip()).write_bytes(bytes(file.get_content()))


class Vercel(Handler):
    """Vercel's sandboxes; each has one session of its own name."""

    def serve(self, method: str, path: list[str], body: bytes) -> None:
        match method, path:
            case "POST", ["v3", "sandboxes"]:
                self.service.created.append(json.loads(body))
                name = f"box-{len(self.service.created)}"
                self.service.living.add(name)
                self.answer(self._sandbox(name))
            case "GET", ["v2", "sandboxes", name] if name in self.service.living:
                if "resume=true" in self.path:
                    self.service.stopped.discard(name)
                self.answer(self._sandbox(name))
            case "POST", ["v2", "sandboxes", "sessions", name, "stop"] if name in self.service.living:
                self.service.stopped.add(name)
                self.answer(self._sandbox(name))
            case "POST", ["v2", "sandboxes", "sessions", name, *_] if name in self.service.stopped:
                self.answer({"error": {"code": "sandbox_stopped", "message": "it is stopped"}}, 410)
            case "DELETE", ["v2", "sandboxes", name] if name in self.service.living:
                self.service.living.discard(name)
                self.answer(self._sandbox(name, "stopped"))
            case "POST", ["v2", "sandboxes", "sessions", name, "cmd"] if name in self.service.living:
                self._run(name, json.loads(body))
            case "POST", ["v2", "sandboxes", "sessions", name, "fs", "write"] if name in self.service.living:
                with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as tar:
                    for entry in tar.getmembers():
                        file = tar.extractfile(entry)
                        (Path("/") / entry.name).write_bytes(file.read() if file else b"")
                self.answer({})
            case _:
                self.answer({"error": {"code": "not_found", "message": "/".join(path)}}, 404)

    def _sandbox(self, name: str, status: str = "") -> dict[str, Any]:
        status = status or ("stopped" if name in self.service.stopped else "running")
        about = {"status": status, "cwd": "/vercel/sandbox", "projectId": "project"}
        return {
            "sandbox": {"name": name, "currentSessionId": name, "persistent": False, **about},
            "session": {"id": name, "sourceSandboxName": name, **about},
            "routes": [],
        }

    def _run(self, name: str, asked: dict[str, Any]) -> None:
        """Answer in lines: the command as it starts, its output, the command as it ended."""
        done = shell([asked["command"], *asked["args"]])
        about = {
            "id": "cmd", "name": asked["command"], "args": asked["args"], "cwd": "/", "sessionId": name,
            "startedAt": 1, "exitCode": None,
        }  # fmt: skip
        lines = [
            {"command": about},
            {"stream": "stdout", "data": done.stdout.decode("utf-8", "replace")},
            {"command": {**about, "exitCode": done.returncode}},
        ]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        self.send(content.encode(), "application/x-ndjson")


@contextmanager
def serving(handler: type[Handler]) -> Generator[Service]:
    """Run a service in a thread."""
    service = Service(handler)
    thread = Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        thread.join(10)
        service.server_close()
