"""Notify people who are not at a client about runs that are done, have failed or wait for an answer. Changes are
followed from where the last process stopped, so none is missed; each has an ID, so none is stored twice.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.ports.notification_ports import Notification, NotificationKind
from hermes_acp.core.ports.run_ports import RunChange, RunState, RunView
from hermes_acp.notifications.notification_service import NotificationService

if TYPE_CHECKING:
    from hermes_acp.runs.open_questions import OpenQuestion
    from hermes_acp.runs.run_service import RunService

CURSOR: Final = "runs"
REPORTED: Final[Mapping[RunState, NotificationKind]] = MappingProxyType(
    {"done": "done", "failed": "failed", "parked": "failed", "input_required": "input_required"}
)
"""What is reported of which state. A run that somebody stopped is not: they know."""
ANSWER: Final = "hermes-acp runs answer {run} {choice}"
MORE: Final = "{count} questions wait. The first: "


class RunNotifications:
    """Follows the runs of a home folder and reports their changes."""

    def __init__(self, runs: "RunService", notifications: NotificationService) -> None:
        self._runs = runs
        self._notifications = notifications

    async def keep(self) -> None:
        """Report changes and send due notifications, until cancelled. Raises ConfigError, StorageError.

        Without targets in the settings, nothing is followed.
        """
        if not await self._notifications.has_targets():
            if self._notifications.ledger.exists:
                await self._skip()
            await anyio.sleep_forever()
        async with background_tasks(self._notifications.keep):
            await self._follow()

    async def _skip(self) -> int:
        """Skip the changes so far."""
        after = 0
        while known := await self._runs.engine.changes(after):
            after = known[-1].cursor
        await self._notifications.advance(CURSOR, after)
        return after

    async def _follow(self) -> None:
        after = await self._notifications.position(CURSOR)
        if after is None:
            after = await self._skip()
        async with self._runs.engine.watch(after) as changes:
            async for change in changes:
                await self._report(change)
                await self._notifications.advance(CURSOR, change.cursor)

    async def _report(self, change: RunChange) -> None:
        kind = REPORTED.get(change.state)
        run = await self._runs.engine.show(change.run_id) if kind else None
        if kind is None or run is None or run.state != change.state:
            return  # nothing to report, or it has gone on since
        notification = Notification(
            f"{change.run_id}:{change.cursor}",
            kind,
            await self._runs.prompt_of(run),
            run.sentence,
            session_id=run.order.session_id,
            run_id=change.run_id,
        )
        if kind == "input_required":
            notification = await self._with_question(notification, run)
        await self._notifications.notify(notification)

    async def _with_question(self, notification: Notification, run: RunView) -> Notification:
        from msgspec import structs

        questions = await self._runs.records.questions_of(run)
        if not questions:
            return notification
        first = questions[0]
        more = MORE.format(count=len(questions)) if len(questions) > 1 else ""
        choice = '"…"' if first.is_for_text else "allow|deny"
        return structs.replace(
            notification,
            sentence=more + _asked(first),
            answer_with=ANSWER.format(run=run.order.id, choice=choice),
        )


def _asked(question: "OpenQuestion") -> str:
    """Return the question and the reason for it."""
    if question.is_for_text:
        return question.asks.question
    return f"{question.card.title}. {question.why}" if question.why else question.card.title
