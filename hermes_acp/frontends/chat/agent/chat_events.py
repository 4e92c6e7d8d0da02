"""The events of a chat except for what the person types, in one queue."""

import math

import anyio
from hermes_acp_client.errors import AgentError
from msgspec import Struct

from hermes_protocol import v1


class UpdateReceived(Struct, frozen=True):
    """The agent sent an update; `is_replay` marks the replayed history of a session that was already open here."""

    update: v1.SessionUpdate
    is_replay: bool = False


class SessionLeft(Struct, frozen=True):
    """Another session is about to be opened; the events that follow belong to it."""


class SessionOpened(Struct, frozen=True):
    """A session was opened, and its history was replayed."""

    session_id: str
    has_past: bool = False
    was_lost: bool = False


class PromptSent(Struct, frozen=True):
    """A prompt is being sent; if it `steers`, it joins the running turn."""

    prompt: str
    steers: bool = False


class TurnFinished(Struct, frozen=True):
    """A prompt was answered. Without a stop reason or an error, the agent was restarted in the meantime.

    `was_withheld` means that the person stopped the prompt before the agent got it. Prompts that are commands
    (`is_command`) are not recorded by the agent.
    """

    prompt: str
    stop_reason: str = ""
    error: AgentError | None = None
    was_withheld: bool = False
    is_command: bool = False


class Remark(Struct, frozen=True):
    """A remark from the chat itself."""

    text: str
    style: str = "dim"


class QueueMarker(Struct, frozen=True):
    """An event to set once everything queued before it has been shown."""

    reached: anyio.Event


ChatEvent = UpdateReceived | SessionLeft | SessionOpened | PromptSent | TurnFinished | Remark | QueueMarker


class EventQueue:
    """The events that have not been shown yet."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[ChatEvent](math.inf)

    def put(self, event: ChatEvent) -> None:
        """Add an event; never blocks."""
        self._send.send_nowait(event)

    async def take(self) -> list[ChatEvent]:
        """Wait for events; return all that are queued."""
        found = [await self._receive.receive()]
        while self._receive.statistics().current_buffer_used:
            found.append(self._receive.receive_nowait())
        return found

    async def all_shown(self) -> None:
        """Wait until everything queued so far has been shown."""
        milestone = QueueMarker(anyio.Event())
        self.put(milestone)
        await milestone.reached.wait()

    def close(self) -> None:
        """Close both ends of the queue."""
        self._send.close()
        self._receive.close()
