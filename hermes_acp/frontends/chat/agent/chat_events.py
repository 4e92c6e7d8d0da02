"""What happens in a chat beside what the person types, in one order.

Knows: the kinds of news. Does not know: who tells them.
"""

import math

import anyio
from hermes_acp_client.errors import AgentError
from msgspec import Struct

from hermes_protocol import v1


class UpdateReceived(Struct, frozen=True):
    """The agent said something; `is_again` in the past of a session that was open here before."""

    update: v1.SessionUpdate
    is_again: bool = False


class SessionOpened(Struct, frozen=True):
    """A session is open; everything of its past was said before."""

    session_id: str
    has_past: bool = False
    was_lost: bool = False


class TurnFinished(Struct, frozen=True):
    """A prompt has its answer; with neither a reason nor an error the agent ended meanwhile and was started again."""

    prompt: str
    stop_reason: str = ""
    error: AgentError | None = None


class Remark(Struct, frozen=True):
    """The chat itself has something to say."""

    text: str
    style: str = "dim"


class QueueMarker(Struct, frozen=True):
    """Reached when everything before it was told."""

    reached: anyio.Event


ChatEvent = UpdateReceived | SessionOpened | TurnFinished | Remark | QueueMarker


class EventQueue:
    """News that nobody has told yet."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[ChatEvent](math.inf)

    def put(self, news: ChatEvent) -> None:
        """Add one; never blocks."""
        self._send.send_nowait(news)

    async def take(self) -> list[ChatEvent]:
        """Wait for news; give all there are."""
        found = [await self._receive.receive()]
        while self._receive.statistics().current_buffer_used:
            found.append(self._receive.receive_nowait())
        return found

    async def all_told(self) -> None:
        """Wait until everything that was put before is told."""
        milestone = QueueMarker(anyio.Event())
        self.put(milestone)
        await milestone.reached.wait()

    def close(self) -> None:
        """Put it away."""
        self._send.close()
        self._receive.close()
