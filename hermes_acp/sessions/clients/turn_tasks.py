"""Run turns in separate tasks, which continue when the client that started them leaves."""

import os
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import anyio

from hermes_acp.core.errors import BadRequest, Busy, StorageError
from hermes_acp.core.events import TurnEnded
from hermes_acp.sessions.clients.departures import Departures
from hermes_acp.sessions.clients.unfinished_turns import UnfinishedTurns
from hermes_acp.sessions.session import Session

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, None]]


class TurnTasks:
    """Start turns in the background of the process."""

    def __init__(
        self,
        start: Callable[[Work], None],
        departures: Departures,
        on_bug: Callable[[BaseException, str], None],
    ) -> None:
        """Initialise without turns. `start` runs background work; `on_bug` receives unawaited exceptions."""
        self.unfinished: UnfinishedTurns | None = None
        """The file in which a resident process records the turns that the next one must continue."""
        self._start = start
        self._departures = departures
        self._on_bug = on_bug
        self._running = 0
        self._all_ended = anyio.Event()
        self._is_draining = False

    @property
    def has_turns(self) -> bool:
        """Whether any turns are running or queued."""
        return self._running > 0

    async def drain(self) -> None:
        """Stop accepting turns and wait until the running ones have ended."""
        self._is_draining = True
        while self._running:
            self._all_ended = anyio.Event()
            await self._all_ended.wait()

    def start(self, session: Session, turn: Callable[[], Awaitable[None]]) -> None:
        """Run a turn of a session. Afterwards, close the session if it is idle and has no clients."""

        async def run() -> None:
            error = await self._run(session, turn)
            if isinstance(error, Exception):
                self._on_bug(error, os.urandom(6).hex())

        self._start(run)

    def ask_again(self, session: Session) -> None:
        """Continue a suspended turn, which asks the session's clients its question again."""

        async def go_on() -> None:
            with suppress(BadRequest):  # another client sent a prompt first
                await session.go_on(session.clients)

        if session.record.waits_for_client and not session.has_work:
            self.start(session, go_on)

    async def wait_for(
        self,
        session: Session,
        turn: Callable[[anyio.CancelScope], Awaitable[TurnEnded]],
        *,
        is_client_gone: Callable[[], bool],
    ) -> TurnEnded:
        """Run a turn and wait for its end. Cancelling the wait cancels the turn, unless the client has disconnected.

        `turn` is queued in the session. Raises what the turn raises, and Busy while the process drains.
        """
        self.admit()
        place, ended = session.enqueue(), anyio.Event()
        outcomes: list[TurnEnded | Exception] = []

        async def run() -> None:
            try:
                outcomes.append(await self._run(session, lambda: turn(place)))
            finally:
                ended.set()

        self._start(run)
        with self._counted():
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

    def admit(self) -> None:
        """Raise Busy if the process is draining and therefore starts no turns."""
        if self._is_draining:
            raise Busy(
                "The agent is stopping and does not start new turns.", hint="Try again once it has restarted."
            )

    async def _run(self, session: Session, turn: Callable[[], Awaitable[T]]) -> T | Exception:
        """Run a turn; return its outcome, or the exception that ended it."""
        with self._counted():
            try:
                return await self._note(session, turn)
            except Exception as error:
                return error
            finally:
                session.clients.end_turn()
                with anyio.CancelScope(shield=True):
                    await self._departures.close_if_unattended(session)

    @contextmanager
    def _counted(self) -> Generator[None]:
        """Count turns, and replies to callers that wait for them, as work that a drain must wait for."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._all_ended.set()

    async def _note(self, session: Session, turn: Callable[[], Awaitable[T]]) -> T:
        """Run a turn, recorded as unfinished until it ends other than by the end of the process."""
        if self.unfinished is None:
            return await turn()
        with suppress(StorageError):  # only a continuation is lost; the turn reports a full disk itself
            await self.unfinished.begin(session.id)
        has_ended = True
        try:
            return await turn()
        except anyio.get_cancelled_exc_class():
            has_ended = False
            raise
        finally:
            if has_ended and not session.has_work:
                with suppress(StorageError):
                    await self.unfinished.end(session.id)
