"""The list of sessions, kept up with those that are open.

Knows: which events a list shows, that it has a new session at once and what happens in it a moment later, and that
several changes are one writing. Does not know: how sessions are begun, what a list looks like. Whoever asks this
process for the list has it brought up to date first; only another one may see the moment.
"""

from typing import Final

import anyio

from hermes_acp.core.errors import StorageError
from hermes_acp.core.events import Event, RootsChanged, TitleChanged, TurnEnded, TurnStarted
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.record.session_record import Record
from hermes_acp.storage.session_store import SessionRow, SessionStore

SETTLE_DELAY_S: Final = 0.1
"""So that an answer goes before its bookkeeping, and turns that follow each other at once are written down together."""


class SessionListing:
    """Writes down what changed in open sessions."""

    def __init__(self, store: SessionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._changed: dict[str, tuple[Record, float]] = {}
        self._unread: set[str] = set()
        self._has_changes = anyio.Event()
        self._has_newcomers = anyio.Event()
        self._writing = anyio.Lock()

    def enter(self, record: Record) -> None:
        """Put a new session into the list, in the background."""
        self._has_newcomers.set()
        self.note(record)

    def note(self, record: Record) -> None:
        """Let the list follow a change of a session before long."""
        self._changed[record.session_id] = (record, self._clock.now())
        if record.title:
            self._unread.add(record.session_id)
        self._has_changes.set()

    async def keep(self) -> None:
        """Bring list and search up to date whenever something changed; runs beside everything else."""
        while True:
            await self._has_changes.wait()
            with anyio.move_on_after(SETTLE_DELAY_S):
                await self._has_newcomers.wait()
            self._has_changes, self._has_newcomers = anyio.Event(), anyio.Event()
            await self.try_to_settle()
            unread, self._unread = self._unread, set()
            if unread:
                await self._store.follow_words(unread)

    async def try_to_settle(self) -> None:
        """Settle if that can be done: a list that cannot be kept stops no conversation; the changes are tried again."""
        try:
            await self.settle()
        except StorageError:
            return

    async def settle(self) -> None:
        """Write down every change so far; who comes second waits. Raises StorageError, with the changes kept."""
        async with self._writing:
            if not self._changed:
                return
            changed, self._changed = self._changed, {}
            try:
                await self._store.put(*(_row_of(record, noted_at) for record, noted_at in changed.values()))
            except BaseException:
                self._changed = changed | self._changed
                raise

    async def delete(self, session_id: str) -> None:
        """Remove a session from store and list; an unknown one is no mistake. Raises Busy, StorageError."""
        async with self._writing:
            self._changed.pop(session_id, None)
            await self._store.delete(session_id)


class ListingAudience:
    """The audience that lets the list follow one session."""

    def __init__(self, listing: SessionListing, record: Record) -> None:
        self._listing = listing
        self._record = record

    def show(self, event: Event) -> None:
        """Notice what a list shows: the title, the folders, and that something happens.

        A turn counts from its start, so that one whose end is the process's is not listed as of the turn before.
        """
        if isinstance(event, TitleChanged | RootsChanged | TurnStarted | TurnEnded):
            self._listing.note(self._record)

    async def drained(self) -> None:
        """Keep up: noticing is done at once."""


def _row_of(record: Record, updated_at: float) -> SessionRow:
    return SessionRow(
        record.session_id,
        record.cwd,
        record.title,
        record.created_at,
        updated_at,
        is_archived=record.is_archived,
        more_roots=record.roots[1:],
    )
