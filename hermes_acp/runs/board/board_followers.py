"""Show a board in the sessions that follow it: its cards become the session's plan, for every client.

Plans are shown but not recorded, because the board's own log records its cards.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import anyio

from hermes_acp.core.errors import HermesError
from hermes_acp.core.event_types import PlanChanged, PlanEntry
from hermes_acp.core.events import Event, OptionsChanged
from hermes_acp.core.ports.boards.board_views import CardView
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.core.ports.session_ports import RecordedSession

if TYPE_CHECKING:
    from hermes_acp.runs.board.board_service import BoardService
    from hermes_acp.sessions.session import Session

MAX_SHOWN: Final = 100
RETRY_S: Final = 5.0
UPDATE_INTERVAL_S: Final = 0.25


class BoardFollowers:
    """Observes all sessions of a process, and shows the cards of a board in those that follow it."""

    def __init__(
        self,
        boards: "Callable[[], BoardService]",
        session: "Callable[[str], Session | None]",
        start: StartTask,
    ) -> None:
        """Create the observer, which follows nothing yet. `session` returns an open session."""
        self._boards = boards
        self._session = session
        self._start = start
        self._followed: dict[str, tuple[str, anyio.CancelScope]] = {}

    def opened(self, session: RecordedSession) -> Audience:
        """Check whether a session that has just been opened follows a board."""
        session_id = session.record.session_id
        if session.record.options.board:
            self.choose(session_id, session.record.options.board)
        return _Watching(self, session_id)

    def closed(self, session_id: str) -> None:
        """Stop following a board for a session that is closed."""
        self.choose(session_id, "")

    def choose(self, session_id: str, board: str) -> None:
        """Make a session follow another board, or none."""
        followed, scope = self._followed.get(session_id, ("", None))
        if followed == board:
            return
        if scope:
            scope.cancel()
            _show(self._session(session_id), None)
        self._followed.pop(session_id, None)
        if board:
            fresh = anyio.CancelScope()
            self._followed[session_id] = board, fresh

            async def follow() -> None:
                with fresh:
                    await self._follow(session_id, board)

            self._start(follow)

    async def _follow(self, session_id: str, board: str) -> None:
        """Show a board's cards after each change, until cancelled."""
        while True:
            with suppress(HermesError):
                async with self._boards().watch(board) as changes:
                    await self._show_cards(session_id, board)
                    async for _ in changes:
                        await self._show_cards(session_id, board)
                        await anyio.sleep(UPDATE_INTERVAL_S)
            await anyio.sleep(RETRY_S)

    async def _show_cards(self, session_id: str, board: str) -> None:
        views = await self._boards().list(board)
        _show(self._session(session_id), PlanChanged(plan_of(views)))


class _Watching:
    def __init__(self, followers: BoardFollowers, session_id: str) -> None:
        self._followers = followers
        self._session_id = session_id

    def show(self, event: Event) -> None:
        """Notice when the session starts to follow another board."""
        if isinstance(event, OptionsChanged):
            self._followers.choose(self._session_id, event.options.board)

    async def drained(self) -> None:
        """Return at once: nothing is buffered."""


def plan_of(views: Sequence[CardView]) -> tuple[PlanEntry, ...]:
    """Return cards as entries of a plan, starting with those that wait for a person."""
    return tuple(map(_entry, views[:MAX_SHOWN]))


def _entry(view: CardView) -> PlanEntry:
    card = view.card
    about = ""
    match card.state:
        case "done":
            status = "completed"
        case "inbox" | "ready" | "parked":
            status = "pending"
            about = f"waits for {', '.join(view.waits_for)}" if view.waits_for else card.state
        case _:
            status = "in_progress"
            about = card.state.replace("_", " ")
    reason = (
        f": {card.notes.reason}" if card.state in ("input_required", "parked") and card.notes.reason else ""
    )
    content = f"{card.id} {card.title}" + (f" ({about}{reason})" if about else "")
    priority = "high" if card.work.priority < 3 else "low" if card.work.priority > 3 else "medium"
    return PlanEntry(content, status, priority)


def _show(session: "Session | None", plan: PlanChanged | None) -> None:
    """Show a plan now, and to every client that attaches later."""
    if session:
        session.clients.standing = (plan,) if plan else ()
        session.ledger.show(plan or PlanChanged(()))
