"""What an agent reports while it works, and how a prompt ended."""

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
    """A part of the answer."""

    text: str


class ThoughtDelta(Struct, frozen=True):
    """A part of the model's reasoning."""

    text: str


class ToolStarted(Struct, frozen=True):
    """A tool is about to run."""

    tool: str
    input: dict[str, Any]


class ToolEnded(Struct, frozen=True):
    """A call has ended, whether it ran or was refused."""

    record: ToolRecord


class Notice(Struct, frozen=True):
    """A sentence for the person who operates the agent."""

    level: Literal["info", "warning", "error"]
    text: str


class RunResult(Struct, frozen=True):
    """How a prompt ended. `text` is the answer, and `str()` returns it.

    `reason` is `done` unless something stopped the turn; `error` then says what. `refused` names the calls that needed
    an approval which nobody gave. A null `cost_usd` means that the price is unknown.
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
    """Follows one turn: translates its events, and collects its answer."""

    def __init__(self) -> None:
        self._proposed: dict[str, CallProposed] = {}
        self._words: list[str] = []
        self._text = ""

    def translated(self, event: Event) -> AgentEvent | None:
        """Return the event that callers get for a session's event, if any."""
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
