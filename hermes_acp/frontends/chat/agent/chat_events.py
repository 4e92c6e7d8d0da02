"""The events of a chat other than what the person types, in one order."""

import math

import anyio
from hermes_acp_client.errors import AgentError
from msgspec import Struct

from hermes_protocol import v1


class UpdateReceived(Struct, frozen=True):
    """The agent sent an update; `is_replay` marks the history of a session that was open here before."""

    update: v1.SessionUpdate
    is_replay: bool = False


class SessionLeft(Struct, frozen=True):
    """Another session is about to be opened; the following events belong to it."""


class SessionOpened(Struct, frozen=True):
    """A session is open, and its history was replayed."""

    session_id: str
    has_past: bool = False
    was_lost: bool = False


class PromptSent(Struct, frozen=True):
    """A prompt is being sent; one that `steers` joins the running turn."""

    prompt: str
    steers: bool = False


class TurnFinished(Struct, frozen=True):
    """A prompt has its answer. With neither a stop reason nor an error, the agent was restarted in the meantime.

    With `was_withheld`, the person stopped it before the agent got it. The agent records no prompt that `is_command`.
    """

    prompt: str
    stop_reason: str = ""
    error: AgentError | None = None
    was_withheld: bool = False
    is_command: bool = False


class Remark(Struct, frozen=True):
    """A remark of the chat itself."""

    text: str
    style: str = "dim"


class QueueMarker(Struct, frozen=True):
    """Set when everything queued before it was shown."""

    reached: anyio.Event


ChatEvent = UpdateReceived | SessionLeft | SessionOpened | PromptSent | TurnFinished | Remark | QueueMarker


class EventQueue:
    """Events that were not shown yet."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[ChatEvent](math.inf)

    def put(self, event: ChatEvent) -> None:
        """Add an event; never blocks."""
        self._send.send_nowait(event)

    async def take(self) -> list[ChatEvent]:
        """Wait for an event; return all queued events."""
        found = [await self._receive.receive()]
        while self._receive.statistics().current_buffer_used:
            found.append(self._receive.receive_nowait())
        return found

    async def all_shown(self) -> None:
        """Wait until everything queued so far was shown."""
        milestone = QueueMarker(anyio.Event())
        self.put(milestone)
        await milestone.reached.wait()

    def close(self) -> None:
        """Close both ends of the queue."""
        self._send.close()
        self._receive.close()
