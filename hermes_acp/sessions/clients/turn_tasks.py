"""Turns in tasks of their own: they go on whatever happens to the client that asked for them."""

import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import anyio

from hermes_acp.core.events import TurnEnded
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import SessionManager

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, None]]


class TurnTasks:
    """Start turns in the background of the process."""

    def __init__(
        self,
        start: Callable[[Work], None],
        sessions: SessionManager,
        on_bug: Callable[[BaseException, str], None],
    ) -> None:
        """Prepare; `start` runs work in the background, `on_bug` receives an exception that nobody waits for."""
        self._start = start
        self._sessions = sessions
        self._on_bug = on_bug

    def start(self, session: Session, turn: Callable[[], Awaitable[None]]) -> None:
        """Run a turn of a session. If it was the last work of one without clients, close the session."""

        async def run() -> None:
            error = await self._run(session, turn)
            if isinstance(error, Exception):
                self._on_bug(error, os.urandom(6).hex())

        self._start(run)

    async def wait_for(
        self,
        session: Session,
        turn: Callable[[anyio.CancelScope], Awaitable[TurnEnded]],
        *,
        is_client_gone: Callable[[], bool],
    ) -> TurnEnded:
        """Run a turn and wait for its end. If the wait is cancelled, so is the turn, unless the client is gone.

        `turn` gets its place in the session's queue. Raises what the turn raises.
        """
        place, ended = session.enqueue(), anyio.Event()
        outcomes: list[TurnEnded | Exception] = []

        async def run() -> None:
            try:
                outcomes.append(await self._run(session, lambda: turn(place)))
            finally:
                ended.set()

        self._start(run)
        try:
            await ended.wait()
        except anyio.get_cancelled_exc_class():
            if not is_client_gone():
                place.cancel()
                with anyio.CancelScope(shield=True):
                    await ended.wait()
            raise
        if not outcomes:
            raise RuntimeError("the process is ending")
        if isinstance(outcomes[0], Exception):
            raise outcomes[0]
        return outcomes[0]

    async def _run(self, session: Session, turn: Callable[[], Awaitable[T]]) -> T | Exception:
        """Run a turn; return its outcome, or the exception that ended it."""
        try:
            return await turn()
        except Exception as error:
            return error
        finally:
            session.clients.end_turn()
            with anyio.CancelScope(shield=True):
                await self._sessions.close_if_unattended(session)
