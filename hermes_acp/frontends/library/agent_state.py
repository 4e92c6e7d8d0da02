"""The history of an agent, its tool calls and its conversation, built from the record of its session."""

import time
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypedDict, cast

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    CommandAnswered,
    Event,
    StepEnded,
    StepFailed,
    TextSaid,
    UserSaid,
)
from hermes_acp.core.messages import words_in


class ToolRecord(TypedDict):
    """One tool call. Of `output` and `error`, which are what the model read, one is None.

    `duration` is how long the tool ran, in seconds, or None if the call never started.
    """

    tool: str
    input: dict[str, Any]
    output: str | None
    duration: float | None
    error: str | None


class ChatMessage(TypedDict):
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    content: str


class AgentState:
    """The history of an agent, which is stored across processes. The lists that it returns are copies."""

    def __init__(self, name: str, on_call: Callable[[ToolRecord], None] | None = None) -> None:
        self.name = name
        self._calls: list[ToolRecord] = []
        self._messages: list[ChatMessage] = []
        self._words: list[str] = []
        self._proposed: dict[str, CallProposed] = {}
        self._began: dict[str, float] = {}
        self._on_call = on_call

    @property
    def tool_history(self) -> list[ToolRecord]:
        """All calls that have ended, the latest last."""
        return [cast("ToolRecord", dict(call)) for call in self._calls]

    @property
    def messages(self) -> list[ChatMessage]:
        """The conversation, the latest message last."""
        return [cast("ChatMessage", dict(message)) for message in self._messages]

    def replay(self, timed: Iterable[tuple[Event, float | None]]) -> None:
        """Apply recorded events with their times, which may be None if unknown."""
        for event, at in timed:
            self._apply(event, at)

    def show(self, event: Event) -> None:
        """Apply an event that is happening now."""
        self._apply(event, time.time())

    async def drained(self) -> None:
        """Return at once: nothing is written."""

    def _apply(self, event: Event, at: float | None) -> None:
        match event:
            case UserSaid():
                self._say("user", words_in(event.parts))
            case TextSaid():
                self._words.append(event.text)
            case StepFailed():
                self._words.clear()
            case StepEnded():
                self._say("assistant", "".join(self._words))
                self._words.clear()
            case CommandAnswered():
                self._say("assistant", event.text)
            case CallProposed():
                self._proposed[event.call_id] = event
            case CallStarted():
                if at is not None:
                    self._began[event.call_id] = at
            case CallEnded():
                self._end(event, at)
            case _:
                pass

    def _say(self, role: Literal["user", "assistant"], content: str) -> None:
        if content:
            self._messages.append({"role": role, "content": content})

    def _end(self, event: CallEnded, at: float | None) -> None:
        proposed = self._proposed.pop(event.call_id, None)
        began = self._began.pop(event.call_id, None)
        raw = proposed.raw_input if proposed else None
        is_done = event.status == "completed"
        record: ToolRecord = {
            "tool": event.name,
            "input": cast("dict[str, Any]", raw) if isinstance(raw, dict) else {},
            "output": event.text if is_done else None,
            "duration": None if began is None or at is None else round(max(0.0, at - began), 6),
            "error": None if is_done else event.text or event.status,
        }
        self._calls.append(record)
        if self._on_call:
            self._on_call(record)
