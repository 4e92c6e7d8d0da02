"""The `hermes-acp sessions export-traces` command: send the traces of a past session to the configured collector."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from anyio.to_thread import run_sync

from hermes_acp import __version__
from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.config.settings import load_variables
from hermes_acp.core.errors import BadRequest, ConfigError, StorageError
from hermes_acp.frontends.cli.messages import session_messages
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript
from hermes_acp.telemetry.redaction import Redactor, secrets_among
from hermes_acp.telemetry.traces.otel_settings import ExportSettings, read_export_settings
from hermes_acp.telemetry.traces.session_spans import SessionSpans
from hermes_acp.telemetry.traces.spans import FinishedSpan


async def export_traces(store: SessionStore, options: argparse.Namespace) -> int:
    """Send the spans of a session and its child agents; return the exit code.

    Raises SessionNotFound, BadRequest if there are no turns, or ConfigError if no collector accepts the spans.
    """
    environment = read_environment()
    settings = read_export_settings(environment.variables)
    if settings is None or not settings.traces:
        problems = " ".join(settings.problems) if settings else session_messages.NO_COLLECTOR
        raise ConfigError(problems or session_messages.NO_COLLECTOR, hint=session_messages.COLLECTOR_HINT)
    session_id = StoredSessions(store).find(options.id)
    spans = await run_sync(_spans_of, StoredSessions(store).path(session_id), environment, settings)
    if not spans:
        raise BadRequest(session_messages.NO_SPANS)
    await run_sync(_send, settings, spans)
    print(session_messages.traces_sent(session_id, len(spans)))
    return 0


def _spans_of(path: Path, environment: Environment, settings: ExportSettings) -> list[FinishedSpan]:
    clean = Redactor(secrets_among(load_variables(environment))).clean
    children = sorted(path.with_suffix("").glob("*.jsonl"))
    spans: list[FinishedSpan] = []
    for record in (path, *children):
        fold = SessionSpans(record.stem, __version__, clean, with_contents=settings.with_contents)
        spans += _folded(fold, record)
    return spans


def _folded(fold: SessionSpans, record: Path) -> Iterator[FinishedSpan]:
    """Yield the spans of one record. An event from a version that recorded no times gets the previous event's time."""
    try:
        events = Transcript.read_timed(record)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(session_messages.record_unreadable(str(record), reason)) from error
    last = 0.0
    for event, at in events:
        last = last if at is None else at
        yield from fold.after(event, last)


def _send(settings: ExportSettings, spans: list[FinishedSpan]) -> None:
    from hermes_acp.config.installation import extra_hint

    try:
        from hermes_acp.telemetry.traces.otel_export import send_spans
    except ImportError as error:
        raise ConfigError(session_messages.OTEL_MISSING, hint=extra_hint("otel")) from error
    reasons: list[str] = []
    try:
        is_sent = send_spans(settings, __version__, spans, reasons.append)
    except ValueError as error:
        raise ConfigError(session_messages.traces_not_sent(str(error))) from error
    if not is_sent:
        raise ConfigError(
            session_messages.traces_not_sent(" ".join(dict.fromkeys(reasons))),
            hint=session_messages.COLLECTOR_HINT,
        )
