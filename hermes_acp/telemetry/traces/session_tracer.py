"""The observer of a process's sessions that exports their spans and measurements.

The library is imported in a worker thread when the first turn starts; spans wait until then. An error here is reported
and ends the export, but not a turn.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.events import Event, Noticed, TurnStarted
from hermes_acp.core.ports.runtime_ports import Clock, Log, StartTask
from hermes_acp.core.ports.session_ports import RecordedSession
from hermes_acp.telemetry.traces.otel_settings import ExportSettings
from hermes_acp.telemetry.traces.session_spans import SessionSpans
from hermes_acp.telemetry.traces.spans import FinishedSpan

MAX_WAITING_SPANS: Final = 4096
CLOSE_TIMEOUT_S: Final = 0.7
MIN_CLOSE_S: Final = 0.1
BROKEN: Final = "Telemetry is off: {why}"
NOT_INSTALLED: Final = "Telemetry is configured but not installed, so nothing is exported. {hint}"


class SpanExport(Protocol):
    """Exports spans."""

    def take(self, span: FinishedSpan) -> None:
        """Export a span; never waits."""
        ...

    def close(self, timeout_s: float) -> None:
        """Send the remaining data within the time limit. Blocks."""
        ...


class TracerServices(Struct, frozen=True):
    """The dependencies of a tracer.

    `open_export` imports the library and blocks; `start` starts a background task; `install_hint` says how to install
    what is missing.
    """

    clock: Clock
    start: StartTask
    open_export: Callable[[ExportSettings], SpanExport]
    log: Log
    report_bug: Callable[[BaseException], None]
    install_hint: Callable[[], str]


class SessionTracer:
    """Exports the spans of all sessions of a process."""

    def __init__(self, settings: ExportSettings, version: str, services: TracerServices) -> None:
        """Initialise without importing anything."""
        self._settings = settings
        self._version = version
        self._services = services
        self._sessions: dict[str, SessionSpans] = {}
        self._export: SpanExport | None = None
        self._waiting: deque[FinishedSpan] = deque(maxlen=MAX_WAITING_SPANS)
        self._opening = anyio.Lock()
        self._is_asked = False
        self._is_off = not (settings.traces or settings.metrics)
        self._news: list[str] = list(settings.problems)

    @property
    def is_on(self) -> bool:
        """Whether spans are exported, as far as is known so far."""
        return bool(self._settings.traces) and not self._is_off

    def opened(self, session: RecordedSession) -> "TracedSession":
        """Return the audience for a session that was opened."""
        return TracedSession(self, session)

    def closed(self, session_id: str) -> None:
        """Forget a session that was closed."""
        self._sessions.pop(session_id, None)

    def news(self) -> Sequence[str]:
        """Return notices for users, each only once."""
        news, self._news = self._news, []
        return news

    def show(self, session: RecordedSession, event: Event) -> None:
        """Export the spans that an event of a session ends."""
        if self._is_off:
            return
        try:
            if not self._is_asked and isinstance(event, TurnStarted):
                self._is_asked = True
                self._services.start(partial(self._open, session))
            for span in self._spans_of(session).after(event, self._services.clock.now()):
                if self._export:
                    self._export.take(span)
                else:
                    self._waiting.append(span)
        except Exception as error:
            self._turn_off()
            self._services.report_bug(error)

    def _spans_of(self, session: RecordedSession) -> SessionSpans:
        session_id = session.record.session_id
        if session_id not in self._sessions:
            self._sessions[session_id] = SessionSpans(
                session_id,
                self._version,
                session.ledger.clean,
                with_contents=self._settings.with_contents,
                record=session.record,
            )
        return self._sessions[session_id]

    async def _open(self, session: RecordedSession | None) -> None:
        """Import the library and pass on the spans that waited for it; `session` is notified if that fails."""
        async with self._opening:
            if self._export or self._is_off:
                return
            try:
                self._export = await run_sync(self._services.open_export, self._settings)
                while self._waiting:
                    self._export.take(self._waiting.popleft())
            except ImportError:
                self._turn_off()
                self._tell(session, NOT_INSTALLED.format(hint=self._services.install_hint()))
            except Exception as error:
                self._turn_off()
                self._tell(session, BROKEN.format(why=str(error) or type(error).__name__))

    def _tell(self, session: RecordedSession | None, words: str) -> None:
        self._services.log.note("telemetry_off", words=words)
        if session:
            session.ledger.emit(Noticed("warning", words))

    def _turn_off(self) -> None:
        self._is_off = True
        self._waiting.clear()
        self._sessions.clear()

    async def aclose(self) -> None:
        """Send the remaining spans. A collector that does not respond causes only a short delay."""
        ends_s = self._services.clock.monotonic() + CLOSE_TIMEOUT_S
        with anyio.move_on_after(CLOSE_TIMEOUT_S):
            if self._waiting:
                await self._open(None)
        if self._export:
            left_s = max(MIN_CLOSE_S, ends_s - self._services.clock.monotonic())
            await run_sync(self._export.close, left_s)


class TracedSession:
    """The audience that exports one session's spans."""

    def __init__(self, tracer: SessionTracer, session: RecordedSession) -> None:
        self._tracer = tracer
        self._session = session

    def show(self, event: Event) -> None:
        """Follow one event."""
        self._tracer.show(self._session, event)

    async def drained(self) -> None:
        """Return at once: there is nothing to wait for."""
