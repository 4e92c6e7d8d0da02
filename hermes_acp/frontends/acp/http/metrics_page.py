"""The metrics of sessions, clients and the process itself, as text for Prometheus."""

import os
import platform
from typing import Final

import anyio

from hermes_acp import __version__
from hermes_acp.frontends.acp.http.remote_clients import RemoteClients
from hermes_acp.frontends.acp.messages import metrics as about
from hermes_acp.telemetry.metrics import Histogram, Metric, histogram_text, metric_text
from hermes_acp.telemetry.session_metrics import SessionMetrics

LAG_INTERVAL_S: Final = 1.0
LAG_BOUNDS_S: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)

BUILD: Final = Metric("hermes_build_info", about.BUILD, ("version", "python"))
CONNECTIONS: Final = Metric("hermes_connections", about.CONNECTIONS, ("transport",))
SESSIONS: Final = Metric("hermes_sessions_open", about.SESSIONS)
RUNNING: Final = Metric("hermes_turns_running", about.RUNNING)
QUESTIONS: Final = Metric("hermes_questions_open", about.QUESTIONS)
TURNS: Final = Metric("hermes_turns_total", about.TURNS, ("reason",))
TURN_S: Final = Metric("hermes_turn_duration_seconds", about.TURN_S)
TOKENS: Final = Metric("hermes_tokens_total", about.TOKENS, ("kind",))
CACHED_TOKENS: Final = Metric("hermes_cached_tokens_total", about.CACHED_TOKENS)
REQUESTS: Final = Metric("hermes_model_requests_total", about.REQUESTS, ("provider", "outcome"))
MODEL_S: Final = Metric(
    "hermes_model_request_duration_seconds",
    about.MODEL_S,
)
FIRST_S: Final = Metric(
    "hermes_model_first_word_seconds",
    about.FIRST_S,
)
CALLS: Final = Metric("hermes_tool_calls_total", about.CALLS, ("tool", "outcome"))
CALL_S: Final = Metric("hermes_tool_call_duration_seconds", about.CALL_S)
LAG: Final = Metric("hermes_event_loop_lag_seconds", about.LAG)
RSS: Final = Metric("process_resident_memory_bytes", about.RSS)
CPU: Final = Metric("process_cpu_seconds_total", about.CPU)
FILES: Final = Metric("process_open_fds", about.FILES)


class MetricsPage:
    """The metrics of one server."""

    def __init__(self, sessions: SessionMetrics, clients: RemoteClients) -> None:
        self._sessions = sessions
        self._clients = clients
        self._lag_s = Histogram(LAG_BOUNDS_S)

    async def watch_lag(self) -> None:
        """Measure how late the event loop is; runs in the background."""
        while True:
            due_s = anyio.current_time() + LAG_INTERVAL_S
            await anyio.sleep_until(due_s)
            self._lag_s.observe(anyio.current_time() - due_s)

    def text(self) -> str:
        """Return the metrics in Prometheus's text format."""
        sessions = self._sessions
        parts = (
            metric_text(BUILD, "gauge", {(__version__, platform.python_version()): 1}),
            metric_text(CONNECTIONS, "gauge", {(k,): n for k, n in self._clients.by_kind().items()}),
            metric_text(SESSIONS, "gauge", sessions.open_sessions),
            metric_text(RUNNING, "gauge", sessions.running_turns),
            metric_text(QUESTIONS, "gauge", sessions.open_questions),
            metric_text(TURNS, "counter", sessions.turns.values),
            histogram_text(TURN_S, sessions.turn_s),
            metric_text(TOKENS, "counter", sessions.tokens.values),
            metric_text(CACHED_TOKENS, "counter", sessions.cached_tokens.values),
            metric_text(REQUESTS, "counter", sessions.model_requests.values),
            histogram_text(MODEL_S, sessions.model_s),
            histogram_text(FIRST_S, sessions.first_word_s),
            metric_text(CALLS, "counter", sessions.tool_calls.values),
            histogram_text(CALL_S, sessions.tool_s),
            histogram_text(LAG, self._lag_s),
            _process_text(),
        )
        return "".join(parts)


def _process_text() -> str:
    """Return the metrics of this process; memory and open files are included only on Linux."""
    times = os.times()
    text = metric_text(CPU, "counter", times.user + times.system)
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
        count = len(os.listdir("/proc/self/fd"))
    except OSError:
        return text
    return (
        metric_text(RSS, "gauge", pages * os.sysconf("SC_PAGE_SIZE"))
        + text
        + metric_text(FILES, "gauge", count)
    )
