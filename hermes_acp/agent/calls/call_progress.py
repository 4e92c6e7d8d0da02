"""Report the progress of a running call: live output, plan and questions.

The interval between updates doubles up to a limit, so an hour of output adds at most a few megabytes to the record.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import TaskGroup

from hermes_acp.agent.calls.call_messages import ENDED, STILL_RUNNING, CallNote
from hermes_acp.agent.calls.deadline import Deadline
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.errors import first_error
from hermes_acp.core.event_types import EventContext, PlanChanged, PlanEntry
from hermes_acp.core.events import CallProgressed
from hermes_acp.core.messages import user_prompts
from hermes_acp.core.proposals import Confinement, Effect, Proposal, Question, Reply, Result
from hermes_acp.telemetry.redaction import WINDOW

TAIL_CHARACTERS: Final = 2000
MAX_HEARD_CHARACTERS: Final = TAIL_CHARACTERS + WINDOW
"""More output is kept than is shown, so that the visible part never starts in the middle of a secret."""
FIRST_WAIT_S: Final = 0.05
MAX_WAIT_S: Final = 2.0


class CallProgress:
    """Reports one call's progress as events of its turn."""

    def __init__(
        self, turn: Turn, call_id: str, deadline: Deadline, confinement: Confinement = "usual"
    ) -> None:
        """Create the progress reporter.

        `deadline` is the call's time limit; `confinement` is how policy confines its commands.
        """
        self.confinement: Confinement = confinement
        self._turn = turn
        self.call_id = call_id
        self.deadline = deadline
        self.trace_parent = turn.trace_parent_of(call_id)
        self.terminal_id: str | None = None
        self._heard = ""
        self._is_whole = True
        self._arrived = anyio.Event()
        self._showing: TaskGroup | None = None
        self._is_shown = False

    @property
    def turn(self) -> Turn:
        """The turn in which the call was made."""
        return self._turn

    @property
    def session_id(self) -> str:
        """The ID of the session in which the call runs."""
        return self._turn.record.session_id

    @property
    def event_context(self) -> EventContext:
        """The context for an event emitted now, in the turn that a person prompted."""
        return self._turn.event_context

    @property
    def prompts(self) -> tuple[str, ...]:
        """Everything the user has said in the session so far."""
        return user_prompts(self._turn.record.messages)

    def output(self, text: str) -> None:
        """Append live output; it is shown with the next update."""
        self._heard += text
        self._is_whole = False
        if len(self._heard) > 2 * MAX_HEARD_CHARACTERS:
            self._heard = self._heard[-MAX_HEARD_CHARACTERS:]
        self._show_before_long()

    def board(self, text: str) -> None:
        """Replace all live output; it is shown with the next update."""
        self._heard = text[:TAIL_CHARACTERS]
        self._is_whole = True
        self._show_before_long()

    def terminal(self, terminal_id: str) -> None:
        """Show the editor's own terminal on the call's card."""
        self.terminal_id = terminal_id
        self._turn.emit(CallProgressed(self.call_id, terminal_id=terminal_id))

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        """Replace the plan."""
        self._turn.emit(PlanChanged(entries))

    def allows(self, *effects: Effect) -> bool:
        """Check additional effects of the call against policy without asking anyone.

        The session's exposure is ignored: a redirect is the server's choice and carries no data from the model.
        """
        turn = self._turn
        running = turn.calls.running.find(self.call_id)
        tool = running.card.name if running else ""
        verdict = turn.deps.policy.judge(
            effects, turn.mode, turn.grants, tool=tool, place=turn.record.cwd, folder=turn.remote_folder
        )
        return verdict.decision == "allow"

    async def inquire(self, question: Question) -> Reply | None:
        """Ask the turn's user a question; the call's deadline is paused in the meantime."""
        with self.deadline.paused():
            async with self._turn.calls.asking:
                await self._turn.ledger.drained()
                return await self._turn.gate.inquire(self.call_id, question)

    @property
    def tail(self) -> str:
        """The end of the live output so far, with secrets masked."""
        return self._clean(is_final=True).rstrip("\n")

    def _clean(self, *, is_final: bool) -> str:
        return self._turn.deps.redactor.tail(self._heard, TAIL_CHARACTERS, is_final=is_final)

    def broken_off(self, why: CallNote, proposal: Proposal, **values: object) -> Result:
        """Return the outcome of an interrupted call: its last output and the reason, with `values` filled in."""
        tail = self.tail
        why = why.format(ending=STILL_RUNNING if proposal.outlives_stop else ENDED, **values)
        return Result(f"{tail}\n{why.text}" if tail else why.text, is_error=True, advice=why.advice)

    @asynccontextmanager
    async def shown(self) -> AsyncGenerator[None]:
        """Show live output while the block runs."""
        try:
            async with anyio.create_task_group() as self._showing:
                yield
                if self._is_shown:
                    self._showing.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise first_error(group) from None
        finally:
            self._showing = None

    def _show_before_long(self) -> None:
        """Schedule an update; most calls produce no output while they run, so no task is started until one does."""
        self._arrived.set()
        if self._showing is not None and not self._is_shown:
            self._is_shown = True
            self._showing.start_soon(self._show)

    async def _show(self) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            await self._arrived.wait()
            await anyio.sleep(wait_s)
            self._arrived = anyio.Event()
            self._turn.emit(CallProgressed(self.call_id, self._clean(is_final=self._is_whole)))
            wait_s = min(wait_s * 2, MAX_WAIT_S)
