"""Sessions that run on another machine and are followed by clients on this machine."""

from contextlib import aclosing
from functools import partial
from typing import Final

import anyio
from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.sessions.session import Session
from hermes_acp.storage.session_store import SessionStore

RELEASED_NOTICE: Final = (
    "The session is no longer open on the other machine. Open it again to continue it here."
)


class _Following(Struct):
    scope: anyio.CancelScope
    ended: anyio.Event


class FollowedSessions:
    """Follows sessions for one process, each in its own task."""

    def __init__(self, store: SessionStore, start: StartTask) -> None:
        """Initialise without followed sessions; `start` runs work in the background."""
        self._store = store
        self._start = start
        self._followed: dict[str, _Following] = {}

    def __contains__(self, session_id: object) -> bool:
        """Return whether the session is currently followed."""
        return session_id in self._followed

    def follow(self, session: Session) -> None:
        """Show a session's clients the events that its owning machine appends, until that machine releases it."""
        following = _Following(anyio.CancelScope(), anyio.Event())
        self._followed[session.id] = following
        self._start(partial(self._run, session, following))

    async def leave(self, session_id: str) -> None:
        """Stop following a session, if it is followed; afterwards nothing is added to its local copy."""
        if following := self._followed.pop(session_id, None):
            following.scope.cancel()
            await following.ended.wait()

    async def _run(self, session: Session, following: _Following) -> None:
        try:
            with following.scope:
                notice = RELEASED_NOTICE
                try:
                    await self._show_news(session)
                except StorageError as error:
                    notice = error.sentence()
                session.ledger.show(Noticed("warning", notice))
        finally:
            if self._followed.get(session.id) is following:
                del self._followed[session.id]
            following.ended.set()

    async def _show_news(self, session: Session) -> None:
        shared = self._store.sharing.records
        assert shared, "the record is shared"
        async with aclosing(shared.follow(session.id, self._store.path_of(session.id))) as news:
            async for events in news:
                for event in events:
                    session.ledger.relay(event)
