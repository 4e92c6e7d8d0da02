"""The events that an agent reports while it works, and the result of a prompt."""

from typing import Any, Literal, cast

from msgspec import Struct

from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import (
    CallProposed,
    CallStarted,
    CommandAnswered,
    Event,
    Noticed,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
)
from hermes_acp.core.messages import Usage
from hermes_acp.frontends.library.agent_state import ToolRecord


class TextDelta(Struct, frozen=True):
    """A piece of the answer."""

    text: str


class ThoughtDelta(Struct, frozen=True):
    """A piece of the model's reasoning."""

    text: str


class ToolStarted(Struct, frozen=True):
    """A tool is about to run."""

    tool: str
    input: dict[str, Any]


class ToolEnded(Struct, frozen=True):
    """A tool call has ended; it has run or was refused."""

    record: ToolRecord


class Notice(Struct, frozen=True):
    """A sentence for the person who operates the agent."""

    level: Literal["info", "warning", "error"]
    text: str


class RunResult(Struct, frozen=True):
    """The result of a prompt. `text` is the answer, which `str()` returns.

    `reason` is `done` unless something stopped the turn, which `error` then explains. `refused` lists the titles of
    calls that needed an approval that nobody gave. If the price is unknown, `cost_usd` is None.
    """

    text: str
    reason: ExitReason
    session_id: str
    error: str = ""
    error_code: str = ""
    steps: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    refused: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the answer."""
        return self.text


AgentEvent = TextDelta | ThoughtDelta | ToolStarted | ToolEnded | Notice | RunResult


class RunProgress:
    """Follows one turn: converts its events and collects its answer."""

    def __init__(self) -> None:
        self._proposed: dict[str, CallProposed] = {}
        self._words: list[str] = []
        self._text = ""

    def translated(self, event: Event) -> AgentEvent | None:
        """Convert a session's event to one for callers; return None if they do not get it."""
        match event:
            case TextSaid():
                self._words.append(event.text)
                return TextDelta(event.text)
            case ThoughtSaid():
                return ThoughtDelta(event.text)
            case StepEnded():
                self._text = "".join(self._words)
                self._words.clear()
            case StepFailed():
                self._words.clear()
            case CommandAnswered():
                self._words = [event.text]
                return TextDelta(event.text)
            case CallProposed():
                self._proposed[event.call_id] = event
            case CallStarted():
                return self._started(event)
            case Noticed():
                return Notice(event.level, event.text)
            case _:
                pass
        return None

    def _started(self, event: CallStarted) -> ToolStarted | None:
        proposed = self._proposed.pop(event.call_id, None)
        if proposed is None:
            return None
        raw = proposed.raw_input
        return ToolStarted(proposed.name, cast("dict[str, Any]", raw) if isinstance(raw, dict) else {})

    def result(self, end: TurnEnded, session_id: str, refused: tuple[str, ...]) -> RunResult:
        """Return how the turn ended."""
        return RunResult(
            "".join(self._words) or self._text,
            end.reason,
            session_id,
            end.sentence,
            end.error_code,
            end.steps,
            end.usage,
            end.cost_usd,
            refused,
        )
