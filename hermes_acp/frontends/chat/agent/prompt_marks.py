"""Track the prompts of the open session and the message IDs with which the agent recorded them."""

from collections import deque
from typing import Any, cast

from msgspec import Struct

from hermes_protocol import v1


class RecordedPrompt(Struct, frozen=True):
    """A prompt that the session can return to."""

    message_id: str
    text: str


class PromptMarks:
    """Tracks the sent and recorded prompts of one session at a time."""

    def __init__(self) -> None:
        self.recorded: list[RecordedPrompt] = []
        self._sent: deque[str] = deque()

    def clear(self) -> None:
        """Forget the prompts of the previous session."""
        self.recorded.clear()
        self._sent.clear()

    def sent(self, text: str) -> None:
        """Note a prompt that is being sent."""
        self._sent.append(text)

    def finished(self, text: str) -> bool:
        """Forget a prompt that has ended; return whether it was recorded. Slash commands are not."""
        if text not in self._sent:
            return True
        self._sent.remove(text)
        return False

    def take(self, update: v1.SessionUpdate) -> str:
        """Note a prompt that the agent has recorded or replays; return its text if it was recorded just now."""
        match update:
            case v1.UserMessageChunk(message_id=str(message_id), content=v1.TextContent(text=text)):
                self._add(message_id, text)
            case v1.SessionInfoUpdate(meta=dict(meta)) if message_id := _recorded_id(meta):
                text = self._sent.popleft() if self._sent else ""
                self._add(message_id, text)
                return text
            case _:
                pass
        return ""

    def _add(self, message_id: str, text: str) -> None:
        if text and all(prompt.message_id != message_id for prompt in self.recorded):
            self.recorded.append(RecordedPrompt(message_id, text))


def _recorded_id(meta: dict[str, Any]) -> str:
    own = meta.get("hermes")
    mark = cast("dict[str, Any]", own).get("promptRecorded") if isinstance(own, dict) else None
    return str(cast("dict[str, Any]", mark).get("messageId", "")) if isinstance(mark, dict) else ""
