"""The contents of a conversation as attributes of its spans, for users who want them exported. Secrets are masked.

Source: the JSON schemas of input messages, output messages and system instructions in the conventions.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import msgspec

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    Event,
    PromptFrozen,
    StepEnded,
    TextSaid,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import words_in
from hermes_acp.telemetry.traces import conventions as names
from hermes_acp.telemetry.traces.spans import Attributes

MAX_CHARACTERS: Final = 32 * 1024
"""The limit of one text; what is longer is cut."""
CUT: Final = " [cut]"


class SpanContents:
    """Collects the texts of a session until the spans that they belong to are over."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._instructions: list[str] = []
        self._prompt: list[str] = []
        self._answers: dict[str, list[str]] = {}
        self._arguments: dict[str, object] = {}

    def note(self, event: Event) -> None:
        """Collect the texts of an event."""
        match event:
            case TurnStarted():
                self._prompt.clear()
                self._answers.clear()
                self._arguments.clear()
            case PromptFrozen():
                self._instructions = list(event.layers)
            case UserSaid():
                self._prompt.append(words_in(event.parts))
            case TextSaid():
                self._answers.setdefault(event.message_id, []).append(event.text)
            case CallProposed():
                self._arguments[event.call_id] = event.raw_input
            case _:
                pass

    def of_turn(self) -> Attributes:
        """Return the prompt of the turn; with the system prompt, if that is new."""
        attributes: Attributes = {}
        if self._instructions:
            attributes[names.SYSTEM] = _encoded([self._part(text) for text in self._instructions])
            self._instructions.clear()
        if self._prompt:
            said = [{"role": "user", "parts": [self._part(text)]} for text in self._prompt]
            attributes[names.INPUT] = _encoded(said)
        return attributes

    def of_step(self, event: StepEnded) -> Attributes:
        """Return the model's answer."""
        text = "".join(self._answers.pop(event.message_id, ()))
        parts: list[dict[str, object]] = [self._part(text)] if text else []
        calls: list[dict[str, object]] = [
            {
                "type": "tool_call",
                "id": call.id,
                "name": self._shown(call.name),
                "arguments": self._shown(call.arguments),
            }
            for call in event.tool_calls
        ]
        parts += calls
        finish = "tool_calls" if event.tool_calls else "stop"
        return {names.OUTPUT: _encoded([{"role": "assistant", "parts": parts, "finish_reason": finish}])}

    def of_call(self, event: CallEnded) -> Attributes:
        """Return a call's arguments and result."""
        attributes: Attributes = {names.TOOL_RESULT: self._shown(event.text)}
        arguments = self._arguments.pop(event.call_id, None)
        if arguments is not None:
            attributes[names.TOOL_ARGUMENTS] = _encoded(self._cleaned(msgspec.to_builtins(arguments)))
        return attributes

    def _part(self, text: str) -> dict[str, object]:
        return {"type": "text", "content": self._shown(text)}

    def _shown(self, text: str) -> str:
        clean = self._clean(text)
        return clean if len(clean) <= MAX_CHARACTERS else clean[:MAX_CHARACTERS] + CUT

    def _cleaned(self, value: Any) -> object:
        match value:
            case str():
                return self._shown(value)
            case dict():
                known = cast("dict[str, Any]", value)
                return {self._shown(name): self._cleaned(each) for name, each in known.items()}
            case list() | tuple():
                return [self._cleaned(each) for each in cast("Sequence[Any]", value)]
            case _:
                return value


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()
