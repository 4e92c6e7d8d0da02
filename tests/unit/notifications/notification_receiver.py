"""A local HTTP server that receives notifications, as a service of its kind would."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Event, Thread
from typing import Any


class Receiver:
    """Requests that arrived, in order. `answers` are the status codes for the next requests; later requests get 200."""

    def __init__(self) -> None:
        self.received: Queue[tuple[str, Any]] = Queue()
        self.answers: list[int] = []
        self.holds = Event()
        """Requests get no answer while this is set."""
        self.is_over = Event()
        self.port = 0

    def next(self) -> tuple[str, Any]:
        """Wait for a request; return its path and its content."""
        return self.received.get(timeout=60)


@contextmanager
def receiver() -> Generator[Receiver]:
    place = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            place.received.put((self.path, json.loads(content)))
            if place.holds.is_set():
                place.is_over.wait(30)
                return
            self.send_response(place.answers.pop(0) if place.answers else 200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    place.port = server.server_port
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield place
    finally:
        place.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()
