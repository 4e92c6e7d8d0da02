"""Run an app with one session in a separate thread with its own event loop."""

import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import Final, TypeVar
from weakref import WeakSet

import anyio
import anyio.from_thread
import anyio.to_thread

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.core.errors import Busy, HermesError
from hermes_acp.core.events import Event, InstructionsGiven
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.frontends.library import messages
from hermes_acp.frontends.library.agent_events import AgentEvent, RunProgress, RunResult, ToolEnded
from hermes_acp.frontends.library.agent_options import AgentPlan
from hermes_acp.frontends.library.agent_state import AgentState, ToolRecord
from hermes_acp.frontends.library.approval_gate import ApprovalGate
from hermes_acp.frontends.library.host_tool import HostToolSource
from hermes_acp.sessions.session import Session
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript

T = TypeVar("T")
OnEvent = Callable[[AgentEvent], None]
WATCH_S: Final = 3600.0
"""The timeout of each wait for the end of the program, after which the next wait starts."""
CLOSING_S: Final = 30.0


class TurnAudience:
    """Passes the events of one turn on to its caller."""

    def __init__(self, on_event: OnEvent) -> None:
        self.progress = RunProgress()
        self._on_event = on_event

    def show(self, event: Event) -> None:
        """Convert an event and pass it on."""
        if told := self.progress.translated(event):
            self._on_event(told)

    async def drained(self) -> None:
        """Return at once: the caller's queue has no limit."""


class AgentRuntime:
    """Runs an agent's session; its methods may be called from any thread except its own."""

    def __init__(self, plan: AgentPlan, source: HostToolSource) -> None:
        """Start the thread; the first call opens the session."""
        self._plan = plan
        self._source = source
        self._app = App(plan.environment, overrides=plan.overrides)
        self._opening: anyio.Lock
        self._turns: anyio.Lock
        self._session: Session | None = None
        self._is_closing = False
        self._state = AgentState(plan.name)
        self._on_call: Callable[[ToolRecord], None] = _ignore
        self._portal: Future[anyio.from_thread.BlockingPortal] = Future()
        self._thread = threading.Thread(target=self._run, name=f"hermes-acp-{plan.name}", daemon=False)
        self._thread.start()
        self.process_id = os.getpid()
        self._program = _program_end(self.process_id)
        self._program.close_then(self)

    @property
    def is_running_here(self) -> bool:
        """Whether the current thread is the runtime's own, in which nothing may wait for the runtime."""
        return threading.current_thread() is self._thread

    def call(self, work: Callable[[], Awaitable[T]]) -> Future[T]:
        """Start work in the runtime's event loop; cancelling the future cancels the work."""
        return self._portal.result().start_task_soon(work)

    @property
    def has_session(self) -> bool:
        """Whether the session is open."""
        return self._session is not None and self._thread.is_alive()

    def is_for(self, plan: AgentPlan) -> bool:
        """Return whether the runtime has the session of a plan."""
        return (self._plan.name, self._plan.environment.home) == (plan.name, plan.environment.home)

    def close_soon(self) -> None:
        """Close without waiting, because the garbage collector calls this. Does nothing in a forked process."""
        self._is_closing = True
        if os.getpid() == self.process_id:
            self._program.close_soon(self)

    def wait_if_closing(self) -> None:
        """Wait until `close` has finished, if it was called."""
        if self._is_closing:
            self._thread.join(CLOSING_S)

    def close(self) -> None:
        """Stop the running turn, close the session and end the thread."""
        self._is_closing = True
        with suppress(RuntimeError):  # the event loop has already ended
            portal = self._portal.result()
            portal.start_task_soon(self._stop, portal)
        if not self.is_running_here:
            self._thread.join(CLOSING_S)

    async def open_state(self) -> AgentState:
        """Open the session and return its history. Raises Busy, BadRequest, StorageError or ConfigError."""
        if self._session or await self._app.sessions.is_stored(self._plan.name):
            await self._open()
        return self._state

    async def run(self, prompt: str, on_event: OnEvent) -> RunResult:
        """Run one turn after the queued ones, and return its result.

        Raises HermesError if no turn could be started; a session that was opened for it is then closed.
        """
        gate, audience = ApprovalGate(self._plan.approve), TurnAudience(on_event)
        # Anyone may have written a prompt, so it is never run as a slash command.
        text = messages.literal_prompt(prompt) if prompt.lstrip().startswith("/") else prompt
        async with self._turns:
            was_open = self._session is not None
            session = await self._open()
            session.ledger.admit(audience)
            self._on_call = lambda record: on_event(ToolEnded(record))
            try:
                end = await session.prompt((TextPart(text),), gate)
            except HermesError:
                if not was_open:
                    await self._close_session()
                raise
            finally:
                self._on_call = _ignore
                session.ledger.dismiss(audience)
        return audience.progress.result(end, session.id, tuple(gate.unapproved.values()))

    async def cancel(self) -> None:
        """Stop the running turn and those queued behind it."""
        if self._session:
            self._session.cancel()

    async def _open(self) -> Session:
        """Open the session if it is not open."""
        async with self._opening:
            if self._session is None:
                self._session = await self._opened_alone()
            return self._session

    async def _opened_alone(self) -> Session:
        """Open the session, after other agents in this program have closed it. Raises Busy if one keeps it open."""
        others = self._program.others(self, self._plan)
        for other in others:
            await anyio.to_thread.run_sync(other.wait_if_closing)
        try:
            return await self._opened()
        except Busy as error:
            if not any(other.has_session for other in others):
                raise
            raise Busy(messages.open_in_other_agent(self._plan.name)) from error
        except BaseException:
            await self._close_session()
            raise

    async def _close_session(self) -> None:
        self._session = None
        with anyio.CancelScope(shield=True):
            await self._app.sessions.close(self._plan.name)

    async def _opened(self) -> Session:
        plan, sessions = self._plan, self._app.sessions
        if await sessions.is_stored(plan.name):
            session, _ = await sessions.load(plan.name, plan.cwd, self._open_workspace)
        else:
            await self._app.configuration.deps()  # an error in the settings must not leave a session behind
            session = await sessions.create(plan.cwd, (), self._open_workspace, plan.name, "headless")
            if plan.instructions:
                session.instruct(InstructionsGiven(plan.instructions))
        state = AgentState(plan.name, lambda record: self._on_call(record))
        path = SessionStore(plan.environment.home).path_of(session.id)
        state.replay(await anyio.to_thread.run_sync(Transcript.read_timed, path))
        session.ledger.admit(state)
        await session.sources.replace(self._source)
        self._state = state
        return session

    def _open_workspace(self, _: str, cwd: str, roots: tuple[str, ...]) -> Workspace:
        return self._app.open_workspace(cwd, roots)

    def _run(self) -> None:
        """Run the event loop until `close`; an error ends all pending calls."""
        try:
            anyio.run(self._serve)
        except BaseException as error:
            if not self._portal.done():
                self._portal.set_exception(error)
            raise

    async def _serve(self) -> None:
        self._opening, self._turns = anyio.Lock(), anyio.Lock()
        try:
            async with background_tasks(self._app.keep), anyio.from_thread.BlockingPortal() as portal:
                self._portal.set_result(portal)
                await portal.sleep_until_stopped()
        finally:
            with anyio.move_on_after(CLOSING_S, shield=True):
                await self._app.aclose()

    async def _stop(self, portal: anyio.from_thread.BlockingPortal) -> None:
        await portal.stop(cancel_remaining=True)


class ProgramEnd:
    """Closes the runtimes that the program does not close itself.

    One thread waits for the end of the main thread; another closes the runtimes of garbage-collected agents.
    """

    def __init__(self) -> None:
        self._open: WeakSet[AgentRuntime] = WeakSet()
        self._changing = threading.Lock()
        self._dropped: SimpleQueue[AgentRuntime] = SimpleQueue()
        threading.Thread(target=self._watch, name="hermes-acp-watch", daemon=True).start()
        threading.Thread(target=self._close_dropped, name="hermes-acp-close", daemon=True).start()

    def close_then(self, runtime: AgentRuntime) -> None:
        """Register a runtime to be closed at the end of the program, unless it has ended by then."""
        with self._changing:
            self._open.add(runtime)

    def close_soon(self, runtime: AgentRuntime) -> None:
        """Close a runtime without waiting for it; may be called by the garbage collector."""
        self._dropped.put(runtime)

    def others(self, runtime: AgentRuntime, plan: AgentPlan) -> list[AgentRuntime]:
        """Return the other runtimes in this program that use the same session."""
        with self._changing:
            return [each for each in self._open if each is not runtime and each.is_for(plan)]

    def _close_dropped(self) -> None:
        while True:
            self._dropped.get().close()

    def _watch(self) -> None:
        main = threading.main_thread()
        while main.is_alive():
            main.join(WATCH_S)
        with self._changing:
            runtimes = tuple(self._open)
        for runtime in runtimes:
            runtime.close()


@cache
def _program_end(process_id: int) -> ProgramEnd:
    """Return the object that closes the runtimes of this process; a forked process has its own."""
    return ProgramEnd()


def _ignore(record: ToolRecord) -> None:
    """Ignore a call."""
