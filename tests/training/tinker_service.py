"""A scripted service for the `tinker` package: it answers every request at once, and learns nothing.

Runs in the environment that `bash tests/install.sh train` creates: `python tinker_service.py PORT LOG`. Each request
is a line of the log: its path and the fields that tests need.
"""

import json
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, cast

PROTO = "application/x-protobuf"
Answer = Mapping[str, Any]


class Service:
    """The state of the service: its futures, by number, and the loss, which decreases with each step."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lock = Lock()
        self._futures: dict[str, Answer | bytes] = {}
        self._loss = 8.0
        self._messages: Any = import_module("tinker.proto.tinker_public_pb2")
        self._answers: dict[str, Callable[[Answer], Answer]] = {
            "create_session": lambda _: {"type": "create_session", "session_id": "session-1"},
            "sessions/session-1/finish": lambda _: {},
            "session_heartbeat": lambda _: {"type": "session_heartbeat"},
            "client/config": lambda _: {},
            "client/dynamic_config": lambda _: {},
            "telemetry": lambda _: {"status": "accepted"},
            "create_model": lambda _: self._later({"type": "create_model", "model_id": "model-1"}),
            "get_info": self._info,
            "load_weights": lambda body: self._later(
                {"type": "load_weights", "path": body["path"], "model_id": "model-1"}
            ),
            "optim_step": lambda _: self._later({"metrics": {}}),
            "save_weights": lambda body: self._later(
                {"type": "save_weights", "path": f"tinker://model-1/weights/{body['path']}"}
            ),
            "save_weights_for_sampler": lambda body: self._later(
                {
                    "type": "save_weights_for_sampler",
                    "path": f"tinker://model-1/sampler_weights/{body['path']}",
                }
            ),
        }

    def answer(self, path: str, body: bytes, kind: str) -> Answer | bytes:
        """Return the answer to a request; bytes are a protobuf message."""
        name = path.removeprefix("/api/v1/")
        if kind == PROTO:
            request = self._messages.ForwardBackwardRequest()
            request.ParseFromString(body)
            self._write(name, {"bytes": len(body)})
            return self._learn()
        fields = cast("Answer", json.loads(body or b"{}"))
        if name == "retrieve_future":
            return self._futures[str(fields["request_id"])]
        self._write(name, fields)
        return self._answers[name](fields)

    def _info(self, _body: Answer) -> Answer:
        data = {"model_name": "base", "tokenizer_id": "base"}
        return {
            "type": "get_info",
            "model_data": data,
            "model_id": "model-1",
            "is_lora": True,
            "lora_rank": 16,
        }

    def _learn(self) -> Answer:
        output = self._messages.ForwardBackwardOutput()
        output.loss_fn_output_type = "ArrayRecord"
        with self._lock:
            self._loss *= 0.9
            output.metrics["loss:sum"] = self._loss
        return self._later(cast("bytes", output.SerializeToString()))

    def _later(self, answer: Answer | bytes) -> Answer:
        with self._lock:
            number = f"future-{len(self._futures) + 1}"
            self._futures[number] = answer
        return {"request_id": number, "model_id": "model-1"}

    def _write(self, name: str, fields: Answer) -> None:
        with self._lock, self._log.open("a") as log:
            log.write(json.dumps([name, fields]) + "\n")


def handler_of(service: Service) -> type[BaseHTTPRequestHandler]:
    """Return the handler of a service's requests."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = service.answer(self.path, body, self.headers.get("Content-Type", ""))
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", PROTO if isinstance(answer, bytes) else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Write no log."""

    return Handler


if __name__ == "__main__":
    ThreadingHTTPServer(
        ("127.0.0.1", int(sys.argv[1])), handler_of(Service(Path(sys.argv[2])))
    ).serve_forever()
