"""`Agent`, an agent inside a Python program, and the error for a prompt that did not finish.

An agent's thread starts with its first prompt, so an `Agent` can be created at import time and before a fork.
"""

import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, Unpack

import anyio
import anyio.to_thread

from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.library import messages
from hermes_acp.frontends.library.agent_events import AgentEvent, RunResult
from hermes_acp.frontends.library.agent_options import BUILTIN_TOOLS, AgentOptions, AgentPlan, resolve_options
from hermes_acp.frontends.library.agent_state import AgentState
from hermes_acp.frontends.library.capability_guard import guarded_tool
from hermes_acp.frontends.library.host_tool import HostTool, HostToolSource
from hermes_acp.frontends.library.tool import CheckedTool, Tool

if TYPE_CHECKING:
    from concurrent.futures import Future

    from hermes_acp.frontends.library.agent_runtime import AgentRuntime

T = TypeVar("T")
MAX_WAITING: Final = 1000
"""The maximum number of coroutines that wait for an agent at the same time; each needs a thread while it waits."""


class TurnFailed(HermesError):
    """A turn ended with a reason other than `done`; `result` contains the reason and the text so far."""

    code = "turn_failed"

    def __init__(self, result: RunResult) -> None:
        super().__init__(result.error or result.reason)
        self.result = result


class Agent:
    """An agent whose conversation is stored under its name; a later agent with the same name continues it.

    All methods can be called from any thread, and those whose names end in `_async` from any asyncio or trio event
    loop. Prompts run one at a time, in order. Use the agent in a `with` block or call `close` to end it early;
    otherwise, it ends when it is garbage-collected or when the program ends.
    """

    def __init__(self, name: str, **options: Unpack[AgentOptions]) -> None:
        """Prepare without starting anything. Raises BadRequest, ConfigError, or TypeError for an unknown option."""
        self._plan: AgentPlan = resolve_options(name, options)
        self._source = HostToolSource()
        self._runtime: AgentRuntime | None = None
        self._keep_open: Callable[[], object] | None = None
        """Detaches the finalizer that closes the runtime when this agent is garbage-collected."""
        self._is_closed = False
        self._starting = threading.Lock()
        self._waiting = anyio.CapacityLimiter(MAX_WAITING)

    @property
    def name(self) -> str:
        """The agent's name, which is the ID of its session."""
        return self._plan.name

    @property
    def home(self) -> Path:
        """The folder with its state and settings."""
        return self._plan.environment.home

    @property
    def state(self) -> AgentState:
        """The history of the agent, in this process and in earlier ones."""
        return _wait(self._runtime_now().call(self._runtime_now().open_state))

    def register_tool(self, tool: Tool | Callable[..., Any]) -> None:
        """Offer a function to the model from the next prompt on; a plain function is given no capabilities.

        Raises BadRequest if the tool cannot be described or its name is taken.
        """
        checked = CheckedTool(tool if isinstance(tool, Tool) else Tool(function=tool))
        if checked.name in PluginFolder[object](BUILTIN_TOOLS, "TOOL"):
            raise BadRequest(messages.taken_tool_name(checked.name))
        if checked.name in self._source.names:
            raise BadRequest(messages.registered_twice(checked.name))
        self._source.add(HostTool(checked, partial(_note_refusal, self.home)))

    def run(self, prompt: str) -> RunResult:
        """Run a prompt to its end and return the answer. Raises TurnFailed if it did not finish, or HermesError."""
        return _done(_wait(self._start(prompt, _ignore)))

    async def run_async(self, prompt: str) -> RunResult:
        """Run a prompt like `run`; cancelling the coroutine stops the turn."""
        return _done(await self._finish(self._start(prompt, _ignore)))

    def stream(self, prompt: str) -> Iterator[AgentEvent]:
        """Run a prompt and yield its events. The last one is the `RunResult`, however the turn ends.

        Closing the iterator stops the turn. Raises HermesError if no turn could be started.
        """
        events: SimpleQueue[AgentEvent | None] = SimpleQueue()
        running = self._start(prompt, events.put)
        running.add_done_callback(lambda _: events.put(None))
        try:
            while (event := events.get()) is not None:
                yield event
            yield running.result()
        finally:
            running.cancel()

    async def stream_async(self, prompt: str) -> AsyncIterator[AgentEvent]:
        """Run a prompt like `stream`."""
        events: SimpleQueue[AgentEvent | None] = SimpleQueue()
        running = self._start(prompt, events.put)
        running.add_done_callback(lambda _: events.put(None))
        try:
            while (event := await self._in_thread(events.get)) is not None:
                yield event
            yield running.result()
        finally:
            running.cancel()

    def cancel(self) -> None:
        """Stop the running turn and those queued behind it; they end as `cancelled`."""
        if self._runtime and not self._is_closed:
            self._runtime.call(self._runtime.cancel)

    def close(self) -> None:
        """Stop running work and release the session. The agent's state stays on disk."""
        with self._starting:
            runtime, self._runtime, self._is_closed = self._runtime, None, True
            if self._keep_open:
                self._keep_open()
        if runtime:
            runtime.close()

    async def close_async(self) -> None:
        """Close the agent like `close`, without blocking the event loop."""
        await self._in_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.close_async()

    def _start(self, prompt: object, on_event: Callable[[AgentEvent], None]) -> "Future[RunResult]":
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadRequest(messages.empty_prompt(prompt))
        if (tool := guarded_tool()) and tool in self._source.names:
            raise BadRequest(messages.run_from_tool(self.name, tool), hint=messages.RUN_FROM_TOOL_HINT)
        runtime = self._runtime_now()
        if runtime.is_running_here:
            raise BadRequest(messages.run_from_own_thread(self.name), hint=messages.RUN_FROM_TOOL_HINT)
        return runtime.call(lambda: runtime.run(prompt, on_event))

    def _runtime_now(self) -> "AgentRuntime":
        """Return the runtime; start it on the first call. Raises BadRequest after `close`."""
        with self._starting:
            if self._is_closed:
                raise BadRequest(messages.closed(self.name), hint=messages.CLOSED_HINT)
            if self._runtime is None or self._runtime.process_id != os.getpid():
                from hermes_acp.frontends.library.agent_runtime import AgentRuntime

                self._runtime = AgentRuntime(self._plan, self._source)
                finalizer = weakref.finalize(self, self._runtime.close_soon)
                finalizer.atexit = False
                self._keep_open = finalizer.detach
            return self._runtime

    async def _finish(self, running: "Future[RunResult]") -> RunResult:
        """Wait for the result; cancelling the wait cancels the turn."""
        ended: SimpleQueue[None] = SimpleQueue()
        running.add_done_callback(lambda _: ended.put(None))
        try:
            await self._in_thread(ended.get)
            return running.result()
        finally:
            running.cancel()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._waiting)


def _wait(running: "Future[T]") -> T:
    try:
        return running.result()
    except BaseException:  # for example at Ctrl+C, the turn must stop, too
        running.cancel()
        raise


def _ignore(event: AgentEvent) -> None:
    """Ignore an event."""


def _done(result: RunResult) -> RunResult:
    if result.reason != "done":
        raise TurnFailed(result)
    return result


def _note_refusal(home: Path, tool: str, capability: str, event: str) -> None:
    """Log a refusal."""
    from hermes_acp.clock import SystemClock
    from hermes_acp.telemetry.structured_log import StructuredLog

    log = StructuredLog(home, SystemClock())
    log.note("call_beyond_capabilities", tool=tool, capability=capability, event=event)
