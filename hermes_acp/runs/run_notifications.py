"""Notify people who are not at a client about runs that are done, have failed or wait for an answer.

Changes are followed from where the last process stopped, so none is missed; each has an ID, so none is stored twice.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.ports.notification_ports import Notification, NotificationKind
from hermes_acp.core.ports.run_ports import RunChange, RunState, RunView
from hermes_acp.notifications.notification_service import NotificationService

if TYPE_CHECKING:
    from hermes_acp.runs.open_questions import OpenQuestion
    from hermes_acp.runs.run_service import RunService

CURSOR: Final = "runs"
RUN: Final = "run:"
REPORTED: Final[Mapping[RunState, NotificationKind]] = MappingProxyType(
    {"done": "done", "failed": "failed", "parked": "failed", "input_required": "input_required"}
)
"""The states that are reported. A stopped run is not, because whoever stopped it knows."""
ANSWER: Final = "hermes-acp runs answer {run} {choice}"
MORE: Final = "{count} questions are open. The first: "


class RunNotifications:
    """Follows the runs of a home folder and reports their changes."""

    def __init__(self, runs: "RunService", notifications: NotificationService) -> None:
        self._runs = runs
        self._notifications = notifications

    async def keep(self) -> None:
        """Report changes and send due notifications until cancelled. Raises ConfigError or StorageError.

        If the settings contain no targets, nothing is followed until targets are chosen for a run or a schedule.
        """
        if not (await self._notifications.has_targets() or await self._notifications.has_choices()):
            if self._notifications.ledger.exists:
                await self.skip()
            await self._notifications.wait_for_choice()
        async with background_tasks(self._notifications.keep):
            await self._follow()

    async def skip(self) -> int:
        """Skip the changes so far; return the new position."""
        after = 0
        while known := await self._runs.engine.changes(after):
            after = known[-1].cursor
        await self._notifications.advance(CURSOR, after)
        return after

    async def _follow(self) -> None:
        after = await self._notifications.position(CURSOR)
        if after is None:
            after = await self.skip()
        async with self._runs.engine.watch(after) as changes:
            async for change in changes:
                await self._report(change)
                await self._notifications.advance(CURSOR, change.cursor)

    async def _report(self, change: RunChange) -> None:
        kind = REPORTED.get(change.state)
        run = await self._runs.engine.show(change.run_id) if kind else None
        if kind is None or run is None or run.state != change.state:
            return  # nothing to report, or the run has continued since
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
        chosen = await self._chosen(run)
        if kind == "done" and chosen:
            notification = structs.replace(notification, result=await self._runs.records.answer_of(run))
        await self._notifications.notify(notification, chosen=chosen)

    async def _chosen(self, run: RunView) -> Sequence[str]:
        """Return the targets chosen for a run or its schedule, ignoring those of an earlier one with the same name."""
        targets, _ = await self._notifications.chosen(RUN + run.order.id)
        if targets or not run.order.origin:
            return targets
        targets, moment = await self._notifications.chosen(run.order.origin)
        schedule = (
            await self._runs.engine.schedules.show(run.order.origin.partition(":")[2]) if targets else None
        )
        is_same = schedule is None or schedule.schedule.created_at <= moment
        return targets if is_same else ()

    async def choose(self, source: str, targets: Sequence[str]) -> None:
        """Send reports about a run or a schedule only to these targets. Raises StorageError."""
        if targets and await self._notifications.position(CURSOR) is None:
            await self.skip()
        await self._notifications.choose(source, targets)

    async def _with_question(self, notification: Notification, run: RunView) -> Notification:
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
    """Return the question, with the reason for it."""
    if question.is_for_text:
        return question.asks.question
    return f"{question.card.title}. {question.why}" if question.why else question.card.title
