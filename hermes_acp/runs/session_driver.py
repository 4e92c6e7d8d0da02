"""Carry out runs in sessions: each attempt is a crash-safe turn until it ends or is suspended.

The work of earlier attempts is read from the session's record. So a prompt is sent once, a call runs once, and an
interrupted turn is resumed, however often a run is attempted.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Final

import anyio
from msgspec import structs

from hermes_acp.agent.setup.configuration import Configuration
from hermes_acp.agent.turn.commissions import Commission
from hermes_acp.core.errors import BadRequest, Busy, HermesError, ModelError, StorageError, UserError
from hermes_acp.core.event_types import ExitReason, Mode
from hermes_acp.core.events import Event, NoteAdded, PermissionAnswered, TurnEnded
from hermes_acp.core.flow_labels import Source, SourcesRead
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.child_ports import DelegatedWork, InheritedRights, ParentAgent
from hermes_acp.core.ports.run_ports import (
    Done,
    DriveOutcome,
    Failed,
    FailureKind,
    Fenced,
    InputRequired,
    Lease,
    RunOrder,
)
from hermes_acp.core.ports.schedule_ports import Prompts
from hermes_acp.runs.record_gate import RecordGate
from hermes_acp.runs.run_history import RunHistory, history_of
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OpenWorkspace, SessionManager

MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {mode: mode for mode in ("ask", "accept_edits", "plan", "auto", "bypass")}
)
FAILURES: Final[Mapping[ExitReason, FailureKind]] = MappingProxyType(
    {
        "out_of_steps": "budget",
        "out_of_tokens": "budget",
        "out_of_money": "budget",
        "out_of_time": "budget",
        "model_trouble": "model",
        "storage_trouble": "storage",
    }
)
FOREIGN_ORIGIN: Final = "webhook:"
"""The prefixes of the origins of runs whose prompts contain text from others; earlier versions recorded no sources."""
BUDGET_USED_UP: Final = "The budget of the run is used up."
CONTINUED_ELSEWHERE: Final = "Somebody else has continued the session."
UNKNOWN_MODE: Final = "{mode!r} is not a mode."
BYPASS_NOT_ALLOWED: Final = "The mode `bypass` is not allowed in the process that works on this run."
BYPASS_HINT: Final = "Set `allow_bypass` in config.yaml, or choose another mode."


class SessionDriver:
    """Carries out runs in the sessions of this process."""

    def __init__(
        self,
        sessions: SessionManager,
        configuration: Configuration,
        prompts: Prompts,
        open_workspace: OpenWorkspace,
        report_bug: Callable[[Exception], None],
        delegated: tuple[DelegatedWork, ParentAgent] | None = None,
    ) -> None:
        """Create the driver; for a child agent, `delegated` is its work and its parent."""
        self._sessions = sessions
        self._configuration = configuration
        self._prompts = prompts
        self._open_workspace = open_workspace
        self._report_bug = report_bug
        self._delegated = delegated

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended. A bug in the agent ends only this run."""
        try:
            return await self._drive(order, lease)
        except Busy:
            return Failed("busy")
        except HermesError as error:
            return Failed(_kind_of(error), error.sentence())
        except Exception as error:
            self._report_bug(error)
            return Failed("agent", f"An internal error ended the run ({type(error).__name__}).")

    async def _drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        await self._configuration.deps()
        async with self._opened(order) as (session, events):
            if not await lease.confirm():
                return Fenced()
            gate = RecordGate(session.record, lease.messages)
            viewer = _ProgressViewer(lease)
            session.ledger.admit(viewer)
            try:
                if self._delegated:
                    end = await _work_for_parent(order, session, *self._delegated)
                else:
                    end = await self._advance(order, session, history_of(events, order.id), gate)
            finally:
                session.ledger.dismiss(viewer)
        return end if isinstance(end, Failed) else _outcome_of(end, gate)

    async def _advance(
        self, order: RunOrder, session: Session, history: RunHistory, gate: RecordGate
    ) -> TurnEnded | Failed:
        """Send the prompt, resume the turn, or determine that it is done."""
        if history.end and history.end.reason == "done":
            return history.end
        if history.is_prompted and not history.is_last:
            return Failed("usage", CONTINUED_ELSEWHERE)
        left = history.left_of(order.budget)
        if left is None:
            return Failed("budget", BUDGET_USED_UP)
        commission = Commission(order.id, left, order.trace_parent)
        if order.news:
            session.ledger.emit(NoteAdded(order.news))
        if history.is_prompted:
            return await session.go_on(gate, commission)
        prompt = await self._prompts.get(order.prompt_ref)
        self._prepare(session, order)
        foreign = await self._prompts.sources(order.prompt_ref)
        if not foreign and order.origin.startswith(FOREIGN_ORIGIN):
            foreign = (order.origin,)
        if foreign:
            session.ledger.emit(SourcesRead(tuple(Source("untrusted", name) for name in foreign)))
        return await session.prompt((TextPart(prompt),), gate, commission=commission)

    def _prepare(self, session: Session, order: RunOrder) -> None:
        """Apply the run's settings to its session. Raises BadRequest."""
        if order.mode:
            mode = MODES.get(order.mode)
            if mode is None:
                raise BadRequest(UNKNOWN_MODE.format(mode=order.mode), hint=", ".join(MODES))
            if mode == "bypass" and not session.offers.allows_bypass:
                raise BadRequest(BYPASS_NOT_ALLOWED, hint=BYPASS_HINT)
            session.set_mode(mode)
        options = session.record.options
        if order.model:
            options = structs.replace(options, model=order.model)
        if order.backend:
            options = structs.replace(options, backend=order.backend)
        session.set_options(options)

    @asynccontextmanager
    async def _opened(self, order: RunOrder) -> AsyncGenerator[tuple[Session, list[Event]]]:
        """Open the run's session by its ID; close it afterwards unless others have opened it or are watching it."""
        sessions, session_id = self._sessions, order.session_id
        was_open = sessions.get(session_id) is not None
        if await sessions.is_stored(session_id):
            if self._delegated:
                sessions.begun_children = {session_id}
            session, past = await sessions.load(session_id, None, self._open_workspace)
            events = [*past.events, *past.news]
        else:
            session = await sessions.create(order.cwd, (), self._open_workspace, session_id, "headless")
            events = []
        try:
            yield session, events
        finally:
            with anyio.CancelScope(shield=True):
                if not (was_open or session.clients or session.has_work):
                    await sessions.close(session_id)


async def _work_for_parent(
    order: RunOrder, session: Session, work: DelegatedWork, parent: ParentAgent
) -> TurnEnded:
    """Run the only turn of a child agent, whose session its parent has started."""
    commission = Commission(
        budget=order.budget,
        trace_parent=order.trace_parent,
        tools=work.tools,
        agents_above=work.agents_above,
    )
    with parent.follow(partial(_inherit, session)):
        return await session.prompt((TextPart(work.prompt),), parent, commission=commission)


def _inherit(session: Session, rights: InheritedRights) -> None:
    """Apply the current permissions of a parent to its child's session."""
    session.set_mode(rights.mode)
    if new := tuple(grant for grant in rights.grants if grant not in session.record.grants):
        session.ledger.emit(PermissionAnswered("", "allow_always", new))


class _ProgressViewer:
    """Reports each event of a session as progress of its run."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    def show(self, event: Event) -> None:
        """Report progress."""
        self._lease.note_progress()

    async def drained(self) -> None:
        """Return at once: nothing is buffered."""


def _kind_of(error: HermesError) -> FailureKind:
    match error:
        case ModelError():
            return "model"
        case StorageError():
            return "storage"
        case UserError():
            return "usage"
        case _:
            return "agent"


def _outcome_of(end: TurnEnded, gate: RecordGate) -> DriveOutcome:
    if end.reason == "done":
        return Done()
    if end.reason == "input_required":
        return InputRequired(tuple(gate.asked))
    return Failed(FAILURES.get(end.reason, "agent"), end.sentence)
