"""A live session.

Turns run one at a time and in order; every turn ends with a named reason and can be stopped.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio
import anyio.lowlevel
from msgspec import structs

from hermes_acp.agent.background_tasks import joined_task
from hermes_acp.agent.loop.turn_loop import run_turn
from hermes_acp.agent.loop.turn_runner import finalize, run_to_ending, to_turn_ended
from hermes_acp.agent.turn.commissions import UNCOMMISSIONED, Commission, close_suspended_calls
from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.running_calls import RunningCalls
from hermes_acp.agent.turn.turn import Turn, TurnCalls, TurnDependencies
from hermes_acp.agent.turn.turn_checkpoints import TurnCheckpoints
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_inbox import Inbox, InboxMessage
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.available_options import AvailableOptions
from hermes_acp.core.errors import BadRequest, Busy
from hermes_acp.core.event_types import Mode, Options
from hermes_acp.core.events import (
    CommandAnswered,
    InstructionsGiven,
    ModeChanged,
    NoteAdded,
    Noticed,
    OptionsChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.messages import Part, UserMessage, as_inserted, words_in
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.clients.attached_clients import AttachedClients
from hermes_acp.sessions.prompt_check import UNCHECKED, check_prompt
from hermes_acp.sessions.session_commands import CommandMenu, TurnCommand, split_command
from hermes_acp.sessions.session_services import SessionServices
from hermes_acp.sessions.tool_sources import ToolSources
from hermes_acp.storage.transcript import Transcript

T = TypeVar("T")
RESTING_S: Final = 3.0
"""How long closing a session waits for the turn to be suspended before stopping it."""
STEERS_NOTICE: Final = "Passed to the running turn, which reads it before its next step."
BYPASS_ENDED_NOTICE: Final = "The mode `bypass` is not allowed in this process. The mode is now `{mode}`."
QUEUED_NOTICE: Final = "Waiting for the running turn; this message comes next."
CONTINUE_NOTE: Final = (
    "[The turn stopped here before it was finished. Continue it; do not repeat what is already done.]"
)


class Session:
    """A conversation that is open in this process."""

    def __init__(
        self, transcript: Transcript, record: Record, workspace: Workspace, services: SessionServices
    ) -> None:
        self.record = record
        self.ledger = Ledger(transcript, record)
        self.workspace = workspace
        self._left: list[Workspace] = []
        self.sources = ToolSources(services.shared_tools)
        self.commands = CommandMenu(services.commands, self.sources, self.ledger)
        self.clients = AttachedClients(self.ledger)
        self.running = RunningCalls()
        self.trouble = transcript.trouble
        """Why this session was opened read-only, if it was."""
        self._transcript = transcript
        self._services = services
        self._is_ending = False
        self._has_told_to_wait = False
        self._turns = anyio.Lock()
        self._scopes: set[anyio.CancelScope] = set()
        self._inbox: Inbox | None = None
        self._last_end: TurnEnded | None = None
        self._told_of_effort = ""
        self._turn_checkpoints = TurnCheckpoints(lambda: services.lifecycle.checkpoints(self), self.ledger)
        services.lifecycle.opened(self)

    @property
    def id(self) -> str:
        """The session's ID."""
        return self.record.session_id

    @property
    def is_stuck(self) -> bool:
        """Whether the record can no longer be written; the session must be reopened to continue."""
        return self._transcript.trouble is not None

    @property
    def has_work(self) -> bool:
        """Whether a turn is running or queued."""
        return bool(self._scopes)

    @property
    def offers(self) -> AvailableOptions:
        """The options that can currently be chosen."""
        configuration = self._services.configuration
        return AvailableOptions(
            configuration.models(), self._services.backends.backends(), configuration.allows_bypass()
        )

    def enqueue(self) -> anyio.CancelScope:
        """Add a turn to the queue. From now on `cancel` affects it, even before `prompt` runs it."""
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        return scope

    async def prompt(
        self,
        parts: tuple[Part, ...],
        gate: Gate,
        place: anyio.CancelScope | None = None,
        *,
        steers: bool = False,
        commission: Commission = UNCOMMISSIONED,
    ) -> TurnEnded:
        """Run one turn after those already queued, or steer the running turn if `steers` or the options say so.

        Returns how the turn ended, even if it was cancelled. Raises StorageError if the end cannot be recorded,
        and any error that prevents every turn, such as a missing model.
        """
        turn_id = self._services.ids.fresh("turn")
        with place or self.enqueue() as scope:
            try:
                await anyio.lowlevel.checkpoint_if_cancelled()
                steers = (steers or self.record.options.during_turn == "steer") and not commission.run_id
                if steers and not self.commands.lists(parts) and (end := await self._steer(turn_id, parts)):
                    return end
                if self._turns.locked() and not self._is_ending and not self._has_told_to_wait:
                    self._has_told_to_wait = True  # only the first queued message comes next
                    self.ledger.emit(Noticed("info", QUEUED_NOTICE))
                async with self._turns:
                    self._is_ending = self._has_told_to_wait = False
                    return await self._turn(turn_id, parts, gate, commission)
            finally:
                self._scopes.discard(scope)
        return TurnEnded(turn_id, "cancelled")

    async def go_on(self, gate: Gate, commission: Commission = UNCOMMISSIONED) -> TurnEnded:
        """Resume the last turn where it stopped, without a prompt; ends as `prompt` does.

        Raises BadRequest if the last turn is finished.
        """
        turn_id = self._services.ids.fresh("turn")
        with self.enqueue() as scope:
            try:
                async with self._turns:
                    self._is_ending = False
                    if not self.record.can_resume:
                        raise BadRequest(
                            f"Session {self.id!r} has no unfinished turn.",
                            hint="Send a prompt.",
                        )
                    return await self._run(turn_id, (), gate, commission=commission)
            finally:
                self._scopes.discard(scope)
        return TurnEnded(turn_id, "cancelled")

    async def _steer(self, turn_id: str, parts: tuple[Part, ...]) -> TurnEnded | None:
        """Pass a message to the running turn and wait for the turn to end; return None if no turn read the message."""
        inbox = self._inbox
        if inbox is None:
            return None
        clean = self.ledger.redactor.clean
        checked = await check_prompt(self, self._services.lifecycle, turn_id, parts, clean)
        if checked.refusal or self._inbox is not inbox:
            return checked.refusal
        message = InboxMessage(parts)
        inbox.put(message)
        self.ledger.emit(Noticed("info", STEERS_NOTICE))
        try:
            await message.settled.wait()
        finally:
            inbox.take_back(message)
        return self._last_end if message.was_read else None

    async def _turn(
        self, turn_id: str, parts: tuple[Part, ...], gate: Gate, commission: Commission
    ) -> TurnEnded:
        text = words_in(parts)
        if commission.agents_above:
            return await self._run(turn_id, parts, gate, commission=commission)
        if command := self._services.commands.find(text):
            return self._answered(turn_id, text, await command.answer(self.record))
        if command := self._services.commands.find_turn_command(text):
            return await self._send_on(command, turn_id, text, gate)
        if command := self._services.commands.find_acting(text):
            act, words = command.act, split_command(text)[1]
            return await self._run(turn_id, parts, gate, lambda turn: act(turn, words), commission)
        name, words = split_command(text)
        if template := await self.sources.find_template(name):
            try:
                parts = (*parts, *as_inserted(await template.fill(words), name))
            except BadRequest as refusal:
                return self._answered(turn_id, text, refusal.sentence())
            if fresh := self.record.exposure.missing(template.brings):
                self.ledger.emit(SourcesRead(fresh))
        return await self._run(turn_id, parts, gate, commission=commission)

    async def _run(
        self,
        turn_id: str,
        parts: tuple[Part, ...],
        gate: Gate,
        run: Callable[[Turn], Awaitable[Ending]] = run_turn,
        commission: Commission = UNCOMMISSIONED,
    ) -> TurnEnded:
        """Run a turn that starts with the user's words, or that resumes the last one if there are none.

        `run` does the work; by default it asks the model. A prompt that a killed process left unanswered is first shown
        to the model again.
        """
        deps = await self._services.configuration.deps()
        self.ledger.redactor = deps.redactor
        checked = UNCHECKED
        if parts and run is run_turn and not commission.agents_above:
            checked = await check_prompt(self, self._services.lifecycle, turn_id, parts, deps.redactor.clean)
        if checked.refusal:
            return checked.refusal
        news = self._services.backends.settle(self)
        if parts:
            close_suspended_calls(self.ledger)
        goes_on = not parts or self.record.was_interrupted
        self.ledger.emit(TurnStarted(turn_id, goes_on, commission.run_id, commission.trace_parent))
        if parts:
            self.ledger.emit(UserSaid(self._services.ids.fresh("msg"), parts))
        elif not (isinstance(self.record.messages[-1], UserMessage) or self.record.calls.suspended()):
            self.ledger.emit(NoteAdded(CONTINUE_NOTE))
        for note in filter(None, (news, *checked.notes)):
            self.ledger.emit(NoteAdded(note))
        turn = self._open(deps, turn_id, gate)
        turn.limits = commission.limited(turn.limits)
        turn.origin = commission.origin(is_exported=self._services.lifecycle.exports_traces)
        if turn.depth:
            turn.calls.checkpoints = None  # the parent has stored everything
        try:
            await self._equip(turn)
            turn.deps = structs.replace(turn.deps, toolbox=commission.narrowed(turn.deps.toolbox))
            ending = await run_to_ending(turn, run)
        except BaseException as error:
            stopped = isinstance(error, anyio.get_cancelled_exc_class())
            await self._end(
                turn, make_ending("cancelled") if stopped else make_ending("gave_up", error_code="bug")
            )
            raise
        return await self._end(turn, ending)

    async def _send_on(self, command: TurnCommand, turn_id: str, prompt: str, gate: Gate) -> TurnEnded:
        """Run a command as the whole turn. Unless stopped, it always produces an answer."""
        turn = self._open(await self._services.configuration.deps(), turn_id, gate)
        self._inbox = None  # a later message cannot steer this turn and waits for its own

        async def run(turn: Turn) -> Ending:
            self._answered(turn_id, prompt, await command.run(turn, split_command(prompt)[1]))
            return make_ending("done")

        ending = await run_to_ending(turn, run)
        if ending.reason not in ("done", "storage_trouble"):
            self._answered(turn_id, prompt, ending.sentence)
        await self.ledger.settle()
        return to_turn_ended(turn, ending)

    def _answered(self, turn_id: str, prompt: str, answer: str) -> TurnEnded:
        """Record an answer that does not come from the model as the whole turn."""
        self.ledger.emit(CommandAnswered(self._services.ids.fresh("msg"), prompt, answer))
        return TurnEnded(turn_id, "done")

    def _open(self, deps: TurnDependencies, turn_id: str, gate: Gate) -> Turn:
        self._inbox = Inbox()
        deps, limits = deps.for_options(self.record.options), self._services.configuration.limits()
        self.clients.unattended = limits.without_clients
        return Turn(
            id=turn_id,
            deps=deps,
            ledger=self.ledger,
            workspace=self.workspace,
            gate=gate,
            inbox=self._inbox,
            limits=limits,
            spent=TurnUsage(deps.clock.monotonic()),
            fallback_plan=deps.routing.fallback_plan(),
            calls=TurnCalls(self.running, checkpoints=self._turn_checkpoints),
        )

    async def _equip(self, turn: Turn) -> None:
        """Add the tools of the session's sources to the turn and, concurrently, make the prompt durable (fsync)."""
        if self.record.mode == "bypass" and not self._services.configuration.allows_bypass():
            mode = self._services.configuration.default_mode()
            self.set_mode(mode)
            self.ledger.emit(Noticed("warning", BYPASS_ENDED_NOTICE.format(mode=mode)))
        async with joined_task(self.ledger.settle):
            with anyio.move_on_after(turn.limits.question_timeout_s):
                self._services.lifecycle.add_hooks(
                    self, turn
                )  # the user's own hooks also receive trust questions
                await self._services.lifecycle.before_turn(self, turn.gate)
            toolbox = await self.sources.equip(turn.deps.toolbox, self.ledger, turn.limits.max_schema_tokens)
        turn.deps = structs.replace(turn.deps, toolbox=toolbox)
        self._services.lifecycle.add_hooks(self, turn)
        for sentence in self._services.lifecycle.news():
            self.ledger.emit(Noticed("warning", sentence))
        self._report_lower_effort(turn.deps)
        await self.ledger.settle()

    def _report_lower_effort(self, deps: TurnDependencies) -> None:
        """Report once per turn that the current model does not support the chosen effort."""
        news = deps.routing.routes[0].effort_notice(deps.model_use.effort)
        if news and news != self._told_of_effort:
            self.ledger.emit(Noticed("info", news))
        self._told_of_effort = news

    async def _end(self, turn: Turn, ending: Ending) -> TurnEnded:
        self._inbox = None
        ended = to_turn_ended(turn, ending)
        with anyio.CancelScope(shield=True):
            try:
                ended = to_turn_ended(turn, await finalize(turn, ending))
            finally:
                self._last_end = ended
                turn.inbox.settle()
            if ended.reason == "storage_trouble":
                self.ledger.show(ended)
                return ended
            # A client that sees the end may prompt at once, and must not be told to wait for a finished turn.
            self._is_ending = True
            self.ledger.emit(ended)
            await self.ledger.settle()
        return ended

    async def between_turns(self, act: Callable[[], Awaitable[T]]) -> T:
        """Run `act` while no turn is running. Raises Busy if one is, and StorageError in a read-only session."""
        if self._transcript.trouble:
            raise self._transcript.trouble
        if self._turns.locked() and not self._is_ending:
            raise Busy(f"A turn is running in session {self.id!r}.", hint="Stop it, or wait until it ends.")
        async with self._turns:
            return await act()

    def cancel(self) -> None:
        """Stop the running turn and all queued ones, or an action between turns; return at once."""
        if not self._scopes:
            self.running.stop_all()
        for scope in self._scopes:
            scope.cancel()

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, effective from the next question."""
        if mode != self.record.mode:
            self.ledger.emit(ModeChanged(mode))

    def move(self, workspace: Workspace) -> None:
        """Switch to another workspace at the next turn; processes in the old one may run until the session closes."""
        self._left.append(self.workspace)
        self.workspace = workspace

    def instruct(self, instructions: InstructionsGiven | None) -> None:
        """Set the client's instructions. Raises BadRequest if they differ from those in the frozen prompt."""
        if instructions is None or instructions == self.record.instructions:
            return
        if self.record.layers:
            raise BadRequest(
                "The session's system prompt has been fixed since its first turn.",
                hint="Send the original prompt, send none, or fork the session.",
            )
        self.ledger.emit(instructions)

    def set_options(self, options: Options) -> None:
        """Change the session's options; a model and its effort take effect with the next turn."""
        if options != self.record.options:
            self.ledger.emit(OptionsChanged(options))

    async def close(self, *, keeps_questions: bool = False) -> None:
        """Stop the running turn, wait for its end, and release the record.

        With `keeps_questions`, a turn that waits for its user is suspended instead and can ask again later.
        """
        if keeps_questions and len(self._scopes) == 1 and self.clients.suspend():
            with anyio.move_on_after(RESTING_S):
                async with self._turns:
                    pass
        self.cancel()
        with anyio.CancelScope(shield=True):
            async with self._turns:
                try:
                    await self.sources.close()
                    await self._services.lifecycle.closed(self.id)
                    for workspace in (*self._left, self.workspace):
                        await workspace.close()
                finally:
                    self._transcript.close()
