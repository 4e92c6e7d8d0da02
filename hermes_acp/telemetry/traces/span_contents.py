"""The contents of a conversation as attributes of its spans, for users who want them exported. Secrets are masked.

Source: the JSON schemas of input messages, output messages and system instructions in the conventions.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    Event,
    HistoryCompacted,
    PromptFrozen,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import Part
from hermes_acp.core.record.session_record import Record
from hermes_acp.telemetry.traces import conventions as names
from hermes_acp.telemetry.traces.message_contents import MessageContents
from hermes_acp.telemetry.traces.spans import Attributes

MAX_CHARACTERS: Final = 32 * 1024
"""The maximum length of one text. Longer texts are truncated."""
CUT: Final = " [cut]"
FINISHES: Final[Mapping[ExitReason, str]] = MappingProxyType(
    {"done": "stop", "truncated": "length", "refused": "content_filter"}
)
"""The conventions' names for reasons why a turn ended, if they have one."""


class SpanContents:
    """Collects the texts of a session until the spans that they belong to end."""

    def __init__(self, clean: Callable[[str], str], record: Record | None = None) -> None:
        """Initialise with the session's `record`, which already contains the events that are noted here."""
        self._clean = clean
        self._record = record or Record()
        self._is_followed = record is None
        self._messages = MessageContents(self._shown)
        self._instructions: list[str] = []
        self._prompt: list[tuple[Part, ...]] = []
        self._answers: dict[str, list[str]] = {}
        self._arguments: dict[str, object] = {}
        self._last_answer = ""

    def note(self, event: Event) -> None:
        """Collect the texts of an event."""
        if self._is_followed:
            self._record.apply(event)
        match event:
            case TurnStarted():
                self._prompt.clear()
                self._answers.clear()
                self._arguments.clear()
                self._last_answer = ""
            case PromptFrozen():
                self._instructions = list(event.layers)
            case UserSaid():
                self._prompt.append(event.parts)
            case TextSaid():
                self._answers.setdefault(event.message_id, []).append(event.text)
            case CallProposed():
                self._arguments[event.call_id] = event.raw_input
            case _:
                pass

    def of_turn(self, reason: ExitReason) -> Attributes:
        """Return the prompt and the last answer of the turn, and the system prompt if that is new."""
        attributes: Attributes = {}
        if self._instructions:
            attributes[names.SYSTEM] = _encoded([self._messages.text(text) for text in self._instructions])
            self._instructions.clear()
        if self._prompt:
            attributes[names.INPUT] = _encoded([self._messages.prompt(parts) for parts in self._prompt])
        if self._last_answer:
            attributes[names.OUTPUT] = self._output(self._last_answer, FINISHES.get(reason, reason))
        return attributes

    def of_step(self, event: StepEnded) -> Attributes:
        """Return the model's input and its answer."""
        text = "".join(self._answers.pop(event.message_id, ()))
        self._last_answer = text or self._last_answer
        answer = self._messages.answer(text, event.tool_calls)
        finish = "tool_call" if event.tool_calls else "stop"
        output = _encoded([answer | {"finish_reason": finish}])
        return self._input(before_answer=True) | {names.OUTPUT: output}

    def of_failed_step(self, event: StepFailed) -> Attributes:
        """Return the model's input, and its output before the request failed."""
        text = "".join(self._answers.pop(event.message_id, ()))
        attributes = self._input(before_answer=bool(text) and not event.retried)
        if text:
            attributes[names.OUTPUT] = self._output(text, "error")
        if text and not event.retried:
            self._last_answer = text
        return attributes

    def of_compaction(self, event: HistoryCompacted) -> Attributes:
        """Return the summary; the messages that it replaced are in earlier requests."""
        return {names.OUTPUT: self._output(event.summary, "stop")}

    def of_call(self, event: CallEnded) -> Attributes:
        """Return a call's arguments and result."""
        attributes: Attributes = {names.TOOL_RESULT: self._shown(event.text)}
        arguments = self._arguments.pop(event.call_id, None)
        if arguments is not None:
            attributes[names.TOOL_ARGUMENTS] = _encoded(self._cleaned(msgspec.to_builtins(arguments)))
        return attributes

    def _input(self, *, before_answer: bool) -> Attributes:
        """Return the messages of a request whose answer, if any, is the last message of the record."""
        history = self._record.messages
        exported = self._messages.of_request(history[:-1] if before_answer else history)
        attributes: Attributes = {names.INPUT: exported.text}
        if exported.left_out:
            attributes[names.LEFT_OUT] = exported.left_out
        return attributes

    def _output(self, text: str, finish: str) -> str:
        return _encoded([self._messages.answer(text) | {"finish_reason": finish}])

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
