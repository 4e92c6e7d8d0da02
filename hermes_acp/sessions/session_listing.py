"""Keep the list of sessions up to date with the open ones.

New sessions are listed at once. Changes follow a moment later and are written in batches. The list is updated before
this process reads it, so only other processes can notice the delay.
"""

from contextlib import suppress
from typing import Final

import anyio

from hermes_acp.core.errors import StorageError
from hermes_acp.core.events import Event, RootsChanged, TitleChanged, TurnEnded, TurnStarted
from hermes_acp.core.messages import Usage
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.record.session_record import Record
from hermes_acp.storage.session_rows import SessionRow, SessionUsage
from hermes_acp.storage.session_store import SessionStore, is_child

SETTLE_DELAY_S: Final = 0.1
"""The delay lets an answer be sent before the list is updated, and batches the updates of consecutive turns."""


class SessionListing:
    """Writes changes of open sessions to the list."""

    def __init__(self, store: SessionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._changed: dict[str, tuple[Record, float]] = {}
        self._unread: set[str] = set()
        self._has_changes = anyio.Event()
        self._has_newcomers = anyio.Event()
        self._writing = anyio.Lock()

    def enter(self, record: Record) -> None:
        """Add a new session to the list, in the background."""
        self._has_newcomers.set()
        self.note(record)

    def note(self, record: Record) -> None:
        """Schedule a list update for a changed session; those of child agents are not listed."""
        if is_child(record.session_id):
            return
        self._changed[record.session_id] = (record, self._clock.now())
        if record.title:
            self._unread.add(record.session_id)
        self._has_changes.set()

    async def keep(self) -> None:
        """Update the list and the search index whenever something has changed; runs in the background."""
        while True:
            await self._has_changes.wait()
            with anyio.move_on_after(SETTLE_DELAY_S):
                await self._has_newcomers.wait()
            self._has_changes, self._has_newcomers = anyio.Event(), anyio.Event()
            await self.try_to_settle()
            unread, self._unread = self._unread, set()
            with suppress(StorageError):  # without an index, the records still contain everything
                if unread:
                    await self._store.words.follow(unread)
                while not self._has_changes.is_set() and await self._store.list_more():
                    pass  # the index was lost

    async def try_to_settle(self) -> None:
        """Settle if possible. A failed update of the list does not interrupt conversations and is retried."""
        try:
            await self.settle()
        except StorageError:
            return

    async def settle(self) -> None:
        """Write all changes so far; concurrent callers wait. On StorageError, the changes are kept for a retry."""
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
        """Delete a session from the store and the list; ignore an unknown one. Raises Busy or StorageError."""
        async with self._writing:
            self._changed.pop(session_id, None)
            await self._store.delete(session_id)


class ListingAudience:
    """The audience that keeps one session's list entry up to date."""

    def __init__(self, listing: SessionListing, record: Record) -> None:
        self._listing = listing
        self._record = record

    def show(self, event: Event) -> None:
        """Record changes that lists show: the title, the folders, and activity.

        A turn counts from its start, so that a session is listed correctly even if its process dies during the turn.
        """
        if isinstance(event, TitleChanged | RootsChanged | TurnStarted | TurnEnded):
            self._listing.note(self._record)

    async def drained(self) -> None:
        """Return at once: there is nothing to wait for."""


def _row_of(record: Record, updated_at: float) -> SessionRow:
    used = sum(record.used_at.values(), Usage())
    return SessionRow(
        record.session_id,
        record.cwd,
        record.title,
        record.created_at,
        updated_at,
        is_archived=record.is_archived,
        more_roots=record.roots[1:],
        usage=SessionUsage(used.input_tokens, used.output_tokens, record.usage.cost_usd),
    )
