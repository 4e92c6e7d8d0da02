"""Measure the cost of telemetry: the time per span, and the CPU usage at 50 deltas per second.

Run: python -m bench.telemetry
The events of turns are folded into spans, which go through the library's own batching to a collector that discards
them. The time is that of the thread that runs sessions; encoding and sending happen in other threads.
"""

import http.server
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    StepEnded,
    TextSaid,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.messages import RequestTiming, Usage
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.telemetry.traces.otel_export import OtelExport
from hermes_acp.telemetry.traces.otel_settings import ExportSettings
from hermes_acp.telemetry.traces.session_spans import SessionSpans
from hermes_acp.telemetry.traces.spans import FinishedSpan

TURNS, STEPS, DELTAS = 150, 5, 50
SPANS = TURNS * (2 * STEPS + 1)
ROUNDS = 5


class _Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def turn(number: int) -> list[Event]:
    """Return the events of a turn without deltas."""
    events: list[Event] = [TurnStarted(f"turn_{number}")]
    for step in range(STEPS):
        name, call = f"msg_{number}_{step}", f"call_{number}_{step}"
        timing = RequestTiming(time.time() - 1, 0.9, 0.2)
        events += [
            StepEnded(name, usage=Usage(9000, 100, 8000), provider="acme", model="large", timing=timing),
            CallProposed(call, "read_file", "Read", "read"),
            CallStarted(call),
            CallEnded(call, "read_file", "completed", "text"),
        ]
    return [*events, TurnEnded(f"turn_{number}", "done", steps=STEPS)]


def cpu_us(work: Callable[[], None]) -> float:
    """Return the minimum CPU time of this thread over several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.thread_time()
        work()
        best = min(best, time.thread_time() - began)
    return best * 1e6


def play(take: Callable[[FinishedSpan], None], turns: list[list[Event]]) -> None:
    """Fold the events of turns and export their spans."""
    spans = SessionSpans("ses_bench", "0", Redactor(()).clean, with_contents=False)
    for events in turns:
        for event in events:
            for span in spans.after(event, time.time()):
                take(span)


def ignore(words: str) -> None:
    """Ignore what the library reports."""


def main() -> None:
    """Print the costs; the library reads the collector's address from the environment of the process."""
    if "--measure" not in sys.argv:
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Sink) as sink:
            threading.Thread(target=sink.serve_forever, daemon=True).start()
            endpoint = f"http://127.0.0.1:{sink.server_address[1]}"
            words = [
                "env",
                f"OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}",
                sys.executable,
                "-m",
                "bench.telemetry",
            ]
            subprocess.run([*words, "--measure"], check=True)
        return
    export = OtelExport(ExportSettings(("otlp",), ("otlp",)), "0", ignore)
    turns = [turn(number) for number in range(TURNS)]
    span_us = cpu_us(partial(play, export.take, turns)) / SPANS
    spans = SessionSpans("ses_bench", "0", Redactor(()).clean, with_contents=False)
    deltas = [TextSaid("msg", "some words of an answer")] * 10_000
    delta_us = cpu_us(lambda: [list(spans.after(delta, time.time())) for delta in deltas].clear()) / len(
        deltas
    )
    print(
        f"{span_us:.1f} µs per span; {delta_us:.2f} µs per delta: "
        f"{DELTAS * delta_us / 1e4:.4f} % CPU at {DELTAS} a second"
    )
    export.close(5)


if __name__ == "__main__":
    main()
