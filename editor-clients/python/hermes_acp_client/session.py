"""One session of the asynchronous client, and one turn in it."""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol, TypeVar

import anyio

from hermes_acp_client.errors import AgentError, AgentSilent
from hermes_acp_client.tasks import task_group
from hermes_protocol import v1

T = TypeVar("T")
CANCEL_GRACE_S: Final = 10.0


class Calls(Protocol):
    """The interface through which a session sends messages to the agent."""

    async def call(self, method: str, params: object, result: type[T], timeout_s: float | None = None) -> T:
        """Call a method and wait for its result."""
        ...

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        ...


class UpdateQueue:
    """The unread updates of one session."""

    def __init__(self) -> None:
        self._updates: deque[v1.SessionUpdate] = deque()
        self._news = anyio.Event()

    def put(self, update: v1.SessionUpdate) -> None:
        """Add one update."""
        self._updates.append(update)
        self.wake()

    def wake(self) -> None:
        """Wake all waiting tasks."""
        self._news.set()
        self._news = anyio.Event()

    def take(self) -> v1.SessionUpdate | None:
        """Remove and return the oldest update, or return None if there is none."""
        return self._updates.popleft() if self._updates else None

    async def wait(self) -> None:
        """Wait for the next `put` or `wake`."""
        await self._news.wait()


class Turn:
    """A running turn. Iterate over it to get its updates; afterwards, `stop_reason` says why it stopped."""

    def __init__(self, updates: UpdateQueue) -> None:
        self._updates = updates
        self._answer: v1.PromptResponse | None = None
        self._is_over = False

    @property
    def stop_reason(self) -> v1.StopReason:
        """Why the turn stopped. Raises RuntimeError while it runs."""
        if self._answer is None:
            raise RuntimeError("the turn has not ended")
        return self._answer.stop_reason

    @property
    def usage(self) -> v1.Usage | None:
        """The tokens that the turn used, or None while it is running or if the agent does not report them."""
        used = self._answer.usage if self._answer else None
        return used if isinstance(used, v1.Usage) else None

    def finish(self, answer: v1.PromptResponse | None) -> None:
        """Record the answer to the prompt, or its absence. All updates of the turn must have been queued before."""
        self._answer, self._is_over = answer, True
        self._updates.wake()

    async def __aiter__(self) -> AsyncIterator[v1.SessionUpdate]:
        while True:
            while (update := self._updates.take()) is not None:
                yield update
            if self._is_over:
                return
            await self._updates.wait()


Content = str | Sequence[v1.ContentBlock]


class Session:
    """An open session. It runs one `prompt` at a time.

    To send several prompts, which are queued or steer the turn, use `send`.
    """

    def __init__(
        self,
        calls: Calls,
        session_id: str,
        updates: UpdateQueue,
        modes: v1.SessionModeState | None,
        options: Sequence[v1.SessionConfigOption] = (),
    ) -> None:
        self.id = session_id
        self.modes = modes
        self.options = tuple(options)
        self._calls = calls
        self._updates = updates

    async def send(self, content: Content, timeout_s: float | None = None) -> v1.PromptResponse:
        """Send a prompt and wait only for the answer; `follow` yields the updates.

        During a turn, the agent queues the prompt or lets it steer the turn, depending on the option `during_turn`.
        """
        return await self._calls.call("session/prompt", self._request(content), v1.PromptResponse, timeout_s)

    @asynccontextmanager
    async def prompt(self, content: Content, timeout_s: float | None = None) -> AsyncGenerator[Turn]:
        """Run a turn in the block; leaving the block early cancels the turn.

        Raises AgentRefused, AgentGone, and AgentSilent after `timeout_s`, which also cancels the turn.
        """
        request = self._request(content)
        turn = Turn(self._updates)
        failures: list[AgentError] = []
        begun, ended = anyio.Event(), anyio.Event()

        async def ask() -> None:
            begun.set()
            try:
                turn.finish(await self._calls.call("session/prompt", request, v1.PromptResponse, timeout_s))
            except AgentSilent as error:
                self.cancel()
                failures.append(error)
            except AgentError as error:
                failures.append(error)
            finally:
                if failures:
                    turn.finish(None)
                ended.set()

        async with task_group() as group:
            group.start_soon(ask)
            try:
                await begun.wait()  # a cancellation must not overtake its prompt
                yield turn
            finally:
                if not ended.is_set():
                    self.cancel()
                    with anyio.move_on_after(CANCEL_GRACE_S, shield=True):
                        await ended.wait()
                group.cancel_scope.cancel()
        if failures:
            raise failures[0]

    def cancel(self) -> None:
        """Ask the agent to cancel the running turn, which then stops with the reason "cancelled"."""
        self._calls.notify("session/cancel", v1.CancelNotification(session_id=self.id))

    def _request(self, content: Content) -> v1.PromptRequest:
        blocks: list[v1.ContentBlock] = []
        blocks.extend([v1.TextContent(text=content)] if isinstance(content, str) else content)
        return v1.PromptRequest(session_id=self.id, prompt=blocks)

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set an option, such as `model` or `effort`; afterwards, `options` contains the current values."""
        if isinstance(value, bool):
            request: v1.SetSessionConfigOptionRequest = v1.SetSessionConfigOptionRequestBoolean(
                session_id=self.id, config_id=option_id, value=value
            )
        else:
            request = v1.SetSessionConfigOptionRequestPlain(
                session_id=self.id, config_id=option_id, value=value
            )
        answer = await self._calls.call(
            "session/set_config_option", request, v1.SetSessionConfigOptionResponse
        )
        self.options = tuple(answer.config_options)

    async def follow(self) -> AsyncIterator[v1.SessionUpdate]:
        """Yield every update as it arrives, during and between turns, without end."""
        while True:
            while (update := self._updates.take()) is not None:
                yield update
            await self._updates.wait()

    async def set_mode(self, mode_id: str) -> None:
        """Set the permission mode."""
        request = v1.SetSessionModeRequest(session_id=self.id, mode_id=mode_id)
        await self._calls.call("session/set_mode", request, v1.SetSessionModeResponse)

    def take_updates(self) -> list[v1.SessionUpdate]:
        """Return the updates that arrived outside a turn, such as the replay of a loaded session."""
        taken: list[v1.SessionUpdate] = []
        while (update := self._updates.take()) is not None:
            taken.append(update)
        return taken
