"""Add imported sessions to a home folder: all sessions in a file, or none."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import SessionImported
from hermes_acp.core.events import ChildChanged, Event, SessionOpened
from hermes_acp.core.ports.runtime_ports import Ids
from hermes_acp.storage.record_writer import write_record
from hermes_acp.storage.session_store import SESSION_ID, SessionStore, is_child
from hermes_acp.storage.tool_schema_store import OfferedTools, ToolSchemaStore
from hermes_acp.trajectories.atif_import import ImportedSession, read_trajectories, session_from
from hermes_acp.trajectories.recorded_sessions import TimedEvent
from hermes_acp.trajectories.text_cleaning import PersonalNames, TextCleaner


class PlannedSession(Struct, frozen=True):
    """A session as it will be stored: its records by ID, child agents first."""

    id: str
    records: dict[str, tuple[TimedEvent, ...]]
    tools: tuple[OfferedTools, ...]


class SessionImport:
    """Imports trajectories into one home folder."""

    def __init__(self, store: SessionStore, mask: Callable[[str], str], ids: Ids, cwd: str) -> None:
        """Initialise with the function that masks secrets and the folder in which imported sessions continue."""
        self._store = store
        self._texts = TextCleaner(mask, PersonalNames())
        self._ids = ids
        self._cwd = cwd

    def plan(self, content: bytes) -> list[PlannedSession]:
        """Return the sessions that a file would add. Blocks. Raises BadRequest."""
        sessions = [session_from(each, self._cwd) for each in read_trajectories(content)]
        digest = sha256(content).hexdigest()
        planned = [self._plan(each, digest) for each in sessions]
        ids = [each.id for each in planned]
        if twice := next((each for each in ids if ids.count(each) > 1), ""):
            raise BadRequest(f"It contains the session {twice!r} twice.")
        return planned

    def _plan(self, session: ImportedSession, digest: str) -> PlannedSession:
        claimed = session.claimed_id
        is_usable = bool(SESSION_ID.fullmatch(claimed)) and not is_child(claimed)
        root = claimed if is_usable else self._ids.fresh("ses")
        new_ids = {claimed: root}
        for child in _below(session):
            own = child.claimed_id
            is_kept = bool(SESSION_ID.fullmatch(own)) and own.startswith(f"{root}.") and own not in new_ids
            new_ids[own] = own if is_kept else f"{root}.{self._ids.fresh('child')}"
        tools = [
            *session.tools.values(),
            *(each for child in _below(session) for each in child.tools.values()),
        ]
        records: dict[str, tuple[TimedEvent, ...]] = {}
        parents = dict(_parents(session))
        for each in (*_below(session), session):
            own, above = new_ids[each.claimed_id], parents.get(each.claimed_id)
            parent = new_ids[above] if above is not None else ""
            events = [(self._own(event, own, parent, new_ids), at_ms) for event, at_ms in each.events]
            last = next((at_ms for _, at_ms in reversed(events) if at_ms is not None), None)
            events.append((SessionImported(digest, self._cwd), last))
            records[own] = tuple(events)
        return PlannedSession(root, records, tuple(tools))

    def _own(self, event: Event, own_id: str, parent: str, new_ids: dict[str, str]) -> Event:
        """Return an event with this home's IDs, and with secrets masked."""
        if isinstance(event, SessionOpened):
            event = structs.replace(event, session_id=own_id, parent_id=parent)
        elif isinstance(event, ChildChanged):
            event = structs.replace(event, child_id=new_ids.get(event.child_id, event.child_id))
        plain = msgspec.to_builtins(event)
        cleaned = self._texts.masked(plain)
        return event if cleaned == plain else msgspec.convert(cleaned, type=type(event))

    def write(self, planned: Sequence[PlannedSession], schemas: ToolSchemaStore) -> None:
        """Store planned sessions; if one cannot be stored, none is. Blocks. Raises BadRequest or StorageError."""
        written = list[str]()
        try:
            for session in planned:
                schemas.keep_all(session.tools)
                for session_id, events in session.records.items():
                    write_record(self._store.path_of(session_id), events)
                    written.append(session_id)
        except BaseException:
            for session_id in written:
                with suppress(OSError):
                    self._store.path_of(session_id).unlink()
            raise


def _below(session: ImportedSession) -> Iterator[ImportedSession]:
    for child in session.children:
        yield from _below(child)
        yield child


def _parents(session: ImportedSession) -> Iterator[tuple[str, str]]:
    """Yield the claimed IDs of each child agent and its parent."""
    for child in session.children:
        yield child.claimed_id, session.claimed_id
        yield from _parents(child)
