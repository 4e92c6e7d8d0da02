"""The records of child agents, beside those of the sessions they belong to.

Knows: how one is named and begun, and how those that a killed process left open are closed. Does not know: what a
child does. All agents below a session, however deep, have their records in the one folder that is deleted with it.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from hermes_acp.core.errors import Busy, StorageTrouble
from hermes_acp.core.events import SessionOpened
from hermes_acp.core.ports import Clock, Ids
from hermes_acp.core.record import Record
from hermes_acp.storage.sessions import SessionStore
from hermes_acp.storage.transcript import Transcript


class Children:
    """Begins the records of child agents in one home folder."""

    def __init__(self, store: SessionStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def begin(self, parent: Record) -> tuple[Transcript, Record]:
        """Begin the record of a session's new child; a cancel loses nothing that was begun. Raises StorageTrouble."""
        first = parent.session_id.partition(".")[0]
        opened = SessionOpened(
            f"{first}.{self._ids.fresh('child')}",
            parent.cwd,
            parent.roots,
            self._clock.now(),
            parent_id=parent.session_id,
        )
        record = Record()
        record.apply(opened)
        begun: list[Transcript] = []
        with anyio.CancelScope(shield=True):
            begun.append(await anyio.to_thread.run_sync(self._create, opened))
        return begun[0], record

    def _create(self, opened: SessionOpened) -> Transcript:
        transcript = self._store.create(opened.session_id)
        try:
            transcript.append(opened)
        except BaseException:
            transcript.close()
            raise
        return transcript


def close_loose_ends(paths: Iterable[Path]) -> None:
    """Lawfully close what a killed process left open in records; one that is in use, or cannot be written, stays."""
    for path in paths:
        with suppress(Busy, StorageTrouble):
            transcript, events, _ = Transcript.reopen(path)
            try:
                record = Record()
                for event in events:
                    record.apply(event)
                for end in record.loose_ends():
                    transcript.append(end)
            finally:
                transcript.close()


def read_only(session_id: str) -> StorageTrouble:
    """Say why a child's session cannot be continued."""
    return StorageTrouble(
        f"Session {session_id!r} is the record of a child agent: it can be read and not continued.",
        hint=f"Continue {session_id.partition('.')[0]!r}.",
    )
