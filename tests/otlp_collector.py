"""A collector for OTLP over HTTP: receives exports and decodes them with the published protocol."""

import gzip
import http.server
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

WAIT_S = 60


class Span(Struct, frozen=True):
    """A span as it arrived; times are seconds since the epoch."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    started_at: float
    ended_at: float
    attributes: dict[str, Any]
    is_error: bool
    service: str

    @property
    def took_s(self) -> float:
        return self.ended_at - self.started_at


class Collector:
    """Everything received so far."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.metrics: dict[str, list[Any]] = {}
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.port = 0
        self._changed = threading.Condition()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def named(self, beginning: str) -> list[Span]:
        """Return the spans with this name prefix, in order of their start."""
        found = (span for span in self.spans if span.name.startswith(beginning))
        return sorted(found, key=lambda span: span.started_at)

    def wait_for(self, beginning: str) -> None:
        """Wait for a span with this name prefix."""
        with self._changed:
            assert self._changed.wait_for(lambda: bool(self.named(beginning)), WAIT_S), beginning

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        """Receive one export."""
        with self._changed:
            self.bodies.append(body)
            self.headers.append(headers)
            if path == "/v1/traces":
                self._take_spans(body)
            elif path == "/v1/metrics":
                self._take_metrics(body)
            self._changed.notify_all()

    def _take_spans(self, body: bytes) -> None:
        request: Any = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            service = str(_attributes(resource.resource.attributes).get("service.name", ""))
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        Span(
                            span.name,
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            span.start_time_unix_nano / 1e9,
                            span.end_time_unix_nano / 1e9,
                            _attributes(span.attributes),
                            span.status.code == 2,
                            service,
                        )
                    )

    def _take_metrics(self, body: bytes) -> None:
        request: Any = ExportMetricsServiceRequest.FromString(body)
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    points = metric.histogram.data_points or metric.sum.data_points
                    self.metrics[metric.name] = list(points)


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@contextmanager
def collecting() -> Generator[Collector]:
    """Run a collector on a free port of this machine."""
    collector = Collector()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            collector.take(self.path, body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join(WAIT_S)
