"""Read a session with its child agents from the records, for an export.

A damaged record is read up to the damage, and one that is being written up to its last complete line.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import ToolsOffered
from hermes_acp.core.events import Event, SessionOpened, TurnEnded, TurnStarted
from hermes_acp.storage.private_files import storage_error
from hermes_acp.storage.record_lines import decode_lines, time_before
from hermes_acp.storage.tool_schema_store import OfferedTools, ToolSchemaStore

TimedEvent = tuple[Event, int | None]
"""An event and the time it was written, in milliseconds since the epoch, or None if not recorded."""


class RecordedSession(Struct, frozen=True):
    """A session's events, with its child agents.

    `tools` contains the schemas found for the digests in the events. `unread_bytes` is the size of the content from the
    first damaged line on. `has_open_turn` says that a turn is still running or its process was killed.
    """

    id: str
    events: tuple[TimedEvent, ...]
    tools: dict[str, OfferedTools]
    children: "tuple[RecordedSession, ...]" = ()
    unread_bytes: int = 0
    has_open_turn: bool = False

    def with_descendants(self) -> "Iterator[RecordedSession]":
        """Yield the session, then all child agents below it."""
        yield self
        for child in self.children:
            yield from child.with_descendants()


def read_session(path: Path, schemas: ToolSchemaStore) -> RecordedSession:
    """Read the record at a path and those of its child agents. Blocks. Raises StorageError."""
    alone = _read_alone(path, schemas)
    folder = path.with_suffix("")
    if path.parent.name != "sessions" or not folder.is_dir():
        return alone
    below: dict[str, list[RecordedSession]] = {}
    for child_path in sorted(folder.glob("*.jsonl")):
        child = _read_alone(child_path, schemas)
        below.setdefault(_parent_of(child) or alone.id, []).append(child)
    known = {alone.id, *(child.id for children in below.values() for child in children)}
    for orphaned in [parent for parent in below if parent not in known]:
        below.setdefault(alone.id, []).extend(below.pop(orphaned))
    return _with_children(alone, below)


def _with_children(session: RecordedSession, below: dict[str, list[RecordedSession]]) -> RecordedSession:
    children = tuple(_with_children(child, below) for child in below.pop(session.id, ()))
    return RecordedSession(
        session.id, session.events, session.tools, children, session.unread_bytes, session.has_open_turn
    )


def _parent_of(session: RecordedSession) -> str:
    opened = session.events[0][0] if session.events else None
    return opened.parent_id if isinstance(opened, SessionOpened) else ""


def _read_alone(path: Path, schemas: ToolSchemaStore) -> RecordedSession:
    try:
        if not path.is_file():  # reading a pipe would wait for a writer
            raise StorageError(f"{path} is not a file.", hint="Restore it from a backup, or leave it out.")
        content = path.read_bytes()
    except OSError as error:
        raise storage_error("read the session record", path, error) from error
    events: list[TimedEvent] = []
    end, open_turn = 0, ""
    tools: dict[str, OfferedTools] = {}
    for event, end in decode_lines(content):
        at_s = time_before(content, end)
        events.append((event, None if at_s is None else round(at_s * 1000)))
        match event:
            case TurnStarted():
                open_turn = event.turn_id
            case TurnEnded():
                open_turn = ""
            case ToolsOffered() if event.digest not in tools:
                if (offered := schemas.read(event.digest)) is not None:
                    tools[event.digest] = offered
            case _:
                pass
    unread = content.find(b"\n", end) >= 0
    return RecordedSession(
        path.stem,
        tuple(events),
        tools,
        unread_bytes=len(content) - end if unread else 0,
        has_open_turn=bool(open_turn),
    )
