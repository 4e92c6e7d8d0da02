"""The usage of a session by day, read from its record."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from hermes_acp.core.events import ChildChanged, Event, HistoryCompacted, StepEnded, UsageChanged
from hermes_acp.storage.record_lines import decode_timed


class DayUsage(Struct):
    """The tokens of one day, and their cost in US dollars as far as prices are known.

    `day` is `YYYY-MM-DD` in the time zone of this machine; empty for events without a time, of earlier versions.
    """

    day: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


def usage_by_day(content: bytes) -> list[DayUsage]:
    """Return the usage in the events of a record by day, earliest first."""
    days: dict[str, DayUsage] = {}
    cost_usd = 0.0
    for event, at in decode_timed(content):
        if not isinstance(event, StepEnded | HistoryCompacted | UsageChanged | ChildChanged):
            continue
        name = "" if at is None else datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")
        day = days.setdefault(name, DayUsage(name))
        cost_usd += _add(day, event, cost_usd)
    return [days[name] for name in sorted(days) if _is_used(days[name])]


def _add(day: DayUsage, event: Event, cost_usd: float) -> float:
    """Add an event to a day and return by how much it raised the session's own cost."""
    match event:
        case StepEnded(usage=spent) | HistoryCompacted(usage=spent):
            day.input_tokens += spent.input_tokens
            day.output_tokens += spent.output_tokens
        case UsageChanged() if event.cost_usd is not None:
            rise = max(0.0, event.cost_usd - cost_usd)
            day.cost_usd += rise
            return rise
        case ChildChanged() if event.cost_usd:
            day.cost_usd += event.cost_usd
        case _:
            pass
    return 0.0


def _is_used(day: DayUsage) -> bool:
    return bool(day.input_tokens or day.output_tokens or day.cost_usd)


def sum_of(name: str, days: Iterable[DayUsage]) -> DayUsage:
    """Return the sum of several days or sessions under a name."""
    total = DayUsage(name)
    for day in days:
        total.input_tokens += day.input_tokens
        total.output_tokens += day.output_tokens
        total.cost_usd += day.cost_usd
    return total
