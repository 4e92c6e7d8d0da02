"""Log entries, and their derivation from the events of a session record.

Entries contain names and numbers, never conversation text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp import __version__
from hermes_acp.core.event_types import EditsJudged, GrantsRevoked
from hermes_acp.core.events import (
    ArchiveChanged,
    Event,
    ModeChanged,
    Noticed,
    OptionsChanged,
    PermissionAnswered,
    RootsChanged,
    SessionOpened,
    TitleChanged,
    TurnStarted,
)
from hermes_acp.telemetry.traces import conventions as names
from hermes_acp.telemetry.traces.session_spans import SessionSpans
from hermes_acp.telemetry.traces.spans import FinishedSpan

LogKind = Literal[
    "turn", "request", "call", "approval", "run", "state", "notice", "change", "decision", "telemetry"
]
KINDS: Final[tuple[LogKind, ...]] = (
    "turn",
    "request",
    "call",
    "approval",
    "run",
    "state",
    "notice",
    "change",
    "decision",
    "telemetry",
)
OPERATIONS: Final[Mapping[str, LogKind]] = MappingProxyType(
    {
        names.INVOKE_AGENT: "turn",
        names.CHAT: "request",
        names.EXECUTE_TOOL: "call",
        names.APPROVE_CALL: "approval",
        names.INVOKE_WORKFLOW: "run",
    }
)
NS_IN_MS: Final = 1_000_000
FACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        names.TURN: "turn",
        names.STEPS: "steps",
        names.TOOL_CALLS: "calls",
        names.COST: "cost_usd",
        names.RUN: "run",
        names.PROVIDER: "provider",
        names.FIRST_CHUNK: "first_chunk_s",
        names.INPUT_TOKENS: "input_tokens",
        names.CACHED_TOKENS: "cached_tokens",
        names.OUTPUT_TOKENS: "output_tokens",
        names.TOOL_CALL: "call",
        names.COMPACTION: "compaction",
        names.RETRIED: "retried",
    }
)
"""The span attributes that are copied into entries, with their shorter names there."""


class LogEntry(Struct, frozen=True, omit_defaults=True):
    """One activity: when it ended (seconds since the epoch), its kind, a description, and its duration.

    `who` is `agent`, `user`, `program` or the name of a client. `outcome` may be empty.
    """

    at: float
    kind: LogKind
    what: str
    session: str = ""
    who: str = ""
    outcome: str = ""
    took_s: float | None = None
    facts: dict[str, str | int | float | bool] = {}


def entries_of_record(
    session_id: str, events: Iterable[tuple[Event, float | None]], clean: Callable[[str], str]
) -> Iterator[LogEntry]:
    """Yield the entries of a record, in order. Untimed events get the time of the event before."""
    spans = SessionSpans(session_id, __version__, clean, with_contents=False)
    at, answered_by = 0.0, ""
    for event, time in events:
        at = at if time is None else time
        if isinstance(event, PermissionAnswered):
            answered_by = event.by
        if state := _state_of(event):
            what, who, facts = state
            yield LogEntry(
                at, "notice" if isinstance(event, Noticed) else "state", what, session_id, who, facts=facts
            )
        for span in spans.after(event, at):
            yield _entry_of(span, session_id, answered_by, at)


def _entry_of(span: FinishedSpan, session_id: str, answered_by: str, recorded_at: float) -> LogEntry:
    about = span.attributes
    kind = OPERATIONS[str(about[names.OPERATION])]
    outcome = span.error or str(
        about.get(names.ENDING) or about.get(names.OUTCOME) or about.get(names.ANSWER) or ""
    )
    who = (answered_by or "user") if kind == "approval" else "agent"
    what = str(about.get(names.TOOL_NAME) or about.get(names.REQUEST_MODEL) or kind)
    if kind in ("turn", "run"):
        what = kind
    facts = {short: about[name] for name, short in FACTS.items() if name in about}
    at = min(recorded_at, span.end_ns // NS_IN_MS / 1000)  # keep the order of the record
    took_s = round(span.duration_s, 6) if span.is_measured else None
    return LogEntry(at, kind, what, session_id, who, outcome, took_s, facts)


def _state_of(event: Event) -> tuple[str, str, dict[str, str | int | float | bool]] | None:
    """Return a change of session state as its name, its author and the new non-text values, or None."""
    match event:
        case SessionOpened():
            return "opened", "", {"cwd": event.cwd}
        case TurnStarted():
            facts: dict[str, str | int | float | bool] = {"turn": event.turn_id, "resumed": event.goes_on}
            return "turn started", "", facts | ({"run": event.run_id} if event.run_id else {})
        case ModeChanged():
            return "mode", "user", {"mode": event.mode}
        case OptionsChanged():
            options = event.options
            return "options", "user", {"model": options.model or "", "backend": options.backend or ""}
        case RootsChanged():
            return "folders", "user", {"folders": len(event.more_roots)}
        case TitleChanged():
            return "title", "", {}
        case ArchiveChanged():
            return ("archived" if event.is_archived else "restored"), "user", {}
        case GrantsRevoked():
            return "grants revoked", "user", {"grants": len(event.grants)}
        case EditsJudged():
            return f"edits {event.verdict}", "user", {"path": event.path, "hunks": len(event.spans)}
        case Noticed(level=level) if level != "info":
            return level, "program", {}
        case _:
            return None
