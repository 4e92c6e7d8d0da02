"""Show the open questions of runs to clients that are attached to the runs' sessions.

The question still belongs to the run: it is stored in the record, and the first answer counts, whichever client it
comes from. Clients are asked only until someone has answered.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import anyio
import anyio.abc
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Event
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.ports.run_ports import RunFilter, RunView
from hermes_acp.core.ports.session_ports import RecordedSession
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.sessions.session import Session

if TYPE_CHECKING:
    from hermes_acp.runs.open_questions import OpenQuestion
    from hermes_acp.runs.run_service import RunService

MAX_WAITING: Final = 1_000
ONLY_ONCE: Final = PermissionScope()


class AttachedQuestions:
    """Follows the runs of a home folder and observes all sessions of this process."""

    def __init__(self, runs: "Callable[[], RunService]", opened: Callable[[], Sequence[Session]]) -> None:
        self._runs = runs
        self._opened = opened
        self._asking: dict[tuple[Session, str, tuple[str, ...]], anyio.CancelScope] = {}
        self._has_news = anyio.Event()

    def opened(self, session: RecordedSession) -> Audience:
        """Look for questions in a session that has just been opened."""
        self._has_news.set()
        return _NoAudience()

    def closed(self, session_id: str) -> None:
        """Withdraw questions that can no longer be asked."""
        self._has_news.set()

    async def keep(self) -> None:
        """Ask questions until cancelled. Raises StorageError."""
        async with background_tasks(self._follow), anyio.create_task_group() as tasks:
            while True:
                self._has_news = anyio.Event()
                await self._look(tasks)
                await self._has_news.wait()

    async def _follow(self) -> None:
        async with self._runs().engine.watch() as changes:
            async for _ in changes:
                self._has_news.set()

    async def _look(self, tasks: anyio.abc.TaskGroup) -> None:
        """Ask new questions, and withdraw those that have been answered elsewhere."""
        opened = {session.id: session for session in self._opened()}
        if not (opened or self._asking):
            return
        which = RunFilter(states=("input_required",), limit=MAX_WAITING)
        waiting = {
            (session, run.order.id, run.waits_for): run
            for run in await self._runs().engine.list(which)
            if (session := opened.get(run.order.session_id))
        }
        for key in self._asking.keys() - waiting.keys():
            self._asking.pop(key).cancel()
        for key, run in waiting.items():
            if key not in self._asking:
                scope = self._asking[key] = anyio.CancelScope()
                tasks.start_soon(self._ask, run, key[0], scope)

    async def _ask(self, run: RunView, session: Session, scope: anyio.CancelScope) -> None:
        """Ask the clients of a session until someone answers, here or elsewhere."""
        with scope:
            questions = await self._runs().records.questions_of(run)
            if not questions:
                return
            answer = await _answer_of(session, questions[0])
            if answer is not None:
                with suppress(BadRequest):  # somebody else answered first
                    await self._runs().respond(run.order.id, answer, call_id=questions[0].card.call_id)


async def _answer_of(session: Session, question: "OpenQuestion") -> PermissionResponse | None:
    """Return the clients' answer, or None if none of them can or wants to answer."""
    if question.is_for_text:
        asks = question.asks
        wanted = Question(asks.question, tuple(asks.choices or ()), url=asks.url or "")
        return _response_to(await session.clients.inquire(question.card.call_id, wanted))
    card = structs.replace(question.card, why=question.why, effects=question.effects)
    response = await session.clients.ask(card, permission_scope=ONLY_ONCE)
    given = PermissionResponse(response) if isinstance(response, str) else response
    return None if given.answer in ("unavailable", "cancelled") else given


def _response_to(reply: Reply | None) -> PermissionResponse | None:
    if reply is None or reply.outcome == "dismissed":
        return None
    answer = "reject_once" if reply.outcome == "declined" else "allow_once"
    return PermissionResponse(answer, reply.text, by=reply.by)


class _NoAudience:
    def show(self, event: Event) -> None:
        """Do nothing."""

    async def drained(self) -> None:
        """Return at once: nothing is buffered."""
