"""A session's use of models and tools by day, read from its record."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct, field

from hermes_acp.core.events import (
    CallEnded,
    CallStarted,
    Event,
    HistoryCompacted,
    SessionOpened,
    StepEnded,
    StepFailed,
    UsageChanged,
)
from hermes_acp.core.messages import Usage
from hermes_acp.core.token_estimates import text_tokens


class ModelUsage(Struct):
    """The requests to one model on one day, their tokens, and their cost in US dollars where prices are known."""

    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class ToolUsage(Struct):
    """The calls of one tool on one day: how many, their time, and the estimated tokens of their results."""

    calls: int = 0
    failed: int = 0
    took_s: float = 0.0
    result_tokens: int = 0


class UsageFacts(Struct):
    """The usage of one session by day and model (`provider/model`), and by day and tool.

    Days are `YYYY-MM-DD` in this machine's time zone, or empty for events without a time, from earlier versions.
    """

    cwd: str = ""
    models: dict[tuple[str, str], ModelUsage] = field(default_factory=dict[tuple[str, str], ModelUsage])
    tools: dict[tuple[str, str], ToolUsage] = field(default_factory=dict[tuple[str, str], ToolUsage])


def usage_facts(events: Iterable[tuple[Event, float | None]]) -> UsageFacts:
    """Extract the usage from events with their times. A child agent's usage is in its own record."""
    facts = _Facts()
    for event, at in events:
        facts.add(event, at)
    return facts.found


class _Facts:
    def __init__(self) -> None:
        self.found = UsageFacts()
        self._model = ""
        self._cost_usd = 0.0
        self._started: dict[str, float] = {}

    def add(self, event: Event, at: float | None) -> None:
        match event:
            case SessionOpened():
                self.found.cwd = event.cwd
            case StepEnded():
                self._request(event, at, event.usage)
            case HistoryCompacted(summary=summary) if summary:
                self._request(event, at, event.usage)
            case StepFailed() if event.timing or event.provider:
                self._request(event, at, Usage()).failed += 1
            case UsageChanged(cost_usd=cost_usd) if cost_usd is not None:
                if cost_usd > self._cost_usd:
                    self._of_model(at).cost_usd += cost_usd - self._cost_usd
                self._cost_usd = cost_usd
            case CallStarted():
                self._started[event.call_id] = at or 0.0
            case CallEnded():
                self._call(event, at)
            case _:
                pass

    def _request(
        self, event: StepEnded | StepFailed | HistoryCompacted, at: float | None, used: Usage
    ) -> ModelUsage:
        self._model = f"{event.provider}/{event.model}" if event.provider else event.model
        usage = self._of_model(at)
        usage.requests += 1
        usage.input_tokens += used.input_tokens
        usage.cached_tokens += used.cached_tokens
        usage.output_tokens += used.output_tokens
        return usage

    def _call(self, event: CallEnded, at: float | None) -> None:
        usage = self.found.tools.setdefault((_day(at), event.name), ToolUsage())
        started_at = self._started.pop(event.call_id, 0.0)
        usage.calls += 1
        usage.failed += event.status != "completed"
        usage.took_s += max(0.0, at - started_at) if at and started_at else 0.0
        usage.result_tokens += text_tokens(event.text)

    def _of_model(self, at: float | None) -> ModelUsage:
        return self.found.models.setdefault((_day(at), self._model), ModelUsage())


def _day(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")
