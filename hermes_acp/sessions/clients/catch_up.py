"""Replay a session's history to an audience while the session continues.

No event is missed, shown twice or shown out of order.
"""

from collections.abc import Callable
from itertools import chain
from types import TracebackType
from typing import Final, Protocol, Self

import anyio

from hermes_acp.core.events import Event
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.record.session_replay import replayable
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import SessionHistory

MAX_HELD_EVENTS: Final = 1024


class ReplayAudience(Audience, Protocol):
    """An audience that can also be shown past events."""

    def replay_event(self, event: Event) -> None:
        """Show an event from the history or one that happened during the replay; never blocks."""
        ...


class CatchUp:
    """Replaces an audience during the replay, until the `with` block ends.  Events that happen in the meantime are held
    back and shown last. If an equal audience was already watching, it is paused and resumes if the block fails. One
    that was not watching is then not added.
    """

    def __init__(self, audience_of: Callable[[Session], ReplayAudience]) -> None:
        self._audience_of = audience_of
        self._session: Session | None = None
        self._audience: ReplayAudience | None = None
        self._watched_before = False
        self._held: list[Event] = []
        self._is_over = anyio.Event()

    def join(self, session: Session) -> None:
        """Start holding back events in place of the session's audience."""
        audience = self._audience_of(session)
        self._watched_before = session.ledger.is_watched_by(audience)
        session.ledger.dismiss(audience)
        session.ledger.admit(self)
        session.clients.arriving += 1
        self._session, self._audience = session, audience

    async def hear(self, past: SessionHistory) -> None:
        """Replay the history to the audience at the speed at which it reads."""
        assert self._audience, "somebody joins before they are shown anything"
        for event in chain(replayable(past.events), past.news):
            self._audience.replay_event(event)
            await self._audience.drained()

    def show(self, event: Event) -> None:
        """Hold back one event."""
        self._held.append(event)

    async def drained(self) -> None:
        """Wait while too many events are held back."""
        if len(self._held) >= MAX_HELD_EVENTS:
            await self._is_over.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        if self._session is None or self._audience is None:
            return
        self._session.clients.arriving -= 1
        ledger = self._session.ledger
        ledger.dismiss(self)
        if error is None or self._watched_before:
            show = self._audience.replay_event if error is None else self._audience.show
            for event in self._held:
                show(event)
            ledger.admit(self._audience)
