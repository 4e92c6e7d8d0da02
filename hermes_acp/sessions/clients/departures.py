"""Detach clients from sessions. Turns continue, and sessions that are no longer needed are closed."""

from collections.abc import Callable
from functools import partial

import anyio

from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import SessionManager


class Departures:
    """Detaches clients from the sessions of one process."""

    def __init__(self, sessions: SessionManager) -> None:
        self._sessions = sessions
        self.on_unattended: Callable[[str], None] = lambda _: None
        """Called with the ID of a session whose last client has left; never blocks or raises."""

    async def release(self, session: Session, connection: object) -> None:
        """Close a session for one of its clients.

        This stops the running turn, unless other clients are attached or this one is an observer.
        """
        client = session.clients.find(connection)
        if len(session.clients) > 1 or (client and client.role == "observer"):
            await self.leave(connection, session.id)
        else:
            await self._sessions.close(session.id)

    async def leave(self, connection: object, session_id: str | None = None) -> None:
        """Detach a client from one session, or from all; close those that are no longer needed.

        Running turns continue without clients, unless the user's settings say that they stop.
        """
        for session in self._sessions.opened:
            if session_id in (None, session.id) and session.clients.find(connection):
                session.clients.detach(connection)
                if not session.clients:
                    if session.clients.unattended == "stop":
                        session.cancel()
                    else:
                        self.on_unattended(session.id)
                await self.close_if_unattended(session)

    async def close_all(self) -> None:
        """Close all sessions at the end of the process; turns that wait for their user are suspended."""
        async with anyio.create_task_group() as tasks:
            for session in self._sessions.opened:
                tasks.start_soon(partial(self._sessions.close, session.id, keeps_questions=True))

    async def close_if_unattended(self, session: Session) -> None:
        """Close a session that no client is attached to and in which nothing runs."""
        if session.clients or session.clients.arriving or session.has_work:
            return
        if self._sessions.get(session.id) is session:
            await self._sessions.close(session.id)
