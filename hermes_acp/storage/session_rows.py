"""Rows of the session list, read from session records."""

from pathlib import Path

from msgspec import Struct, structs

from hermes_acp.core.event_types import SessionImported
from hermes_acp.core.events import (
    ArchiveChanged,
    ChildChanged,
    Event,
    HistoryCompacted,
    RootsChanged,
    SessionOpened,
    StepEnded,
    TitleChanged,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.messages import words_in
from hermes_acp.core.record.titles import title_of
from hermes_acp.storage.record_lines import decode_lines


class SessionUsage(Struct, frozen=True):
    """The tokens that a session has used and, if the prices are known, their cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class SessionRow(Struct, frozen=True):
    """A session in a list; times are seconds since the epoch. `usage` is None until it is read."""

    id: str
    cwd: str
    title: str
    created_at: float
    updated_at: float
    is_archived: bool = False
    more_roots: tuple[str, ...] = ()
    usage: SessionUsage | None = None


def row_of(path: Path) -> SessionRow | None:
    """Return the list row of a record, or None if it cannot be read."""
    try:
        if not path.is_file():  # reading a pipe would wait for a writer
            return None
        content = path.read_bytes()
        updated_at = path.stat().st_mtime
    except OSError:
        return None
    row: SessionRow | None = None
    usage = SessionUsage()
    for event, _ in decode_lines(content):
        usage = _with_usage(usage, event)
        match event:
            case SessionOpened():
                row = SessionRow(
                    event.session_id, event.cwd, "", event.created_at, updated_at, more_roots=event.roots[1:]
                )
            case _ if row:
                row = _with_event(row, event)
            case _:
                pass
    return structs.replace(row, usage=usage) if row else None


def _with_event(row: SessionRow, event: Event) -> SessionRow:
    match event:
        case RootsChanged():
            return structs.replace(row, more_roots=event.more_roots)
        case TitleChanged():
            return structs.replace(row, title=event.title)
        case UserSaid() if not row.title:  # the process ended before it titled the session
            return structs.replace(row, title=title_of(words_in(event.parts)))
        case SessionImported():
            return structs.replace(row, cwd=event.cwd, more_roots=())
        case ArchiveChanged():
            return structs.replace(row, is_archived=event.is_archived)
        case _:
            return row


def _with_usage(usage: SessionUsage, event: Event) -> SessionUsage:
    match event:
        case StepEnded(usage=spent) | HistoryCompacted(usage=spent):
            return structs.replace(
                usage,
                input_tokens=usage.input_tokens + spent.input_tokens,
                output_tokens=usage.output_tokens + spent.output_tokens,
            )
        case UsageChanged():
            return structs.replace(usage, cost_usd=event.cost_usd)
        case ChildChanged() if event.cost_usd:
            return structs.replace(usage, cost_usd=(usage.cost_usd or 0.0) + event.cost_usd)
        case _:
            return usage
