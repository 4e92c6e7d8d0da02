"""Finished spans and measurements, independent of any library."""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from hermes_acp.telemetry.trace_context import SpanContext
from hermes_acp.telemetry.traces import conventions as names

Value = str | bool | int | float
Attributes = dict[str, Value]


class FinishedSpan(Struct, frozen=True):
    """A span that has ended. Times are in nanoseconds since the epoch. `error` is an error class, or empty.

    `is_measured` is false if its duration says nothing about the operation, such as that of a call that never ran.
    """

    name: str
    context: SpanContext
    parent: SpanContext | None
    start_ns: int
    end_ns: int
    attributes: Attributes
    kind: Literal["internal", "client"] = "internal"
    error: str = ""
    is_measured: bool = True

    @property
    def duration_s(self) -> float:
        """The duration in seconds."""
        return (self.end_ns - self.start_ns) / 1e9


class Measurement(Struct, frozen=True):
    """A value for an instrument of `conventions`."""

    instrument: str
    value: int | float
    attributes: Mapping[str, Value]


def measurements_of(span: FinishedSpan) -> Iterator[Measurement]:
    """Yield the measurements of a span."""
    if not span.is_measured:
        return
    match span.attributes.get(names.OPERATION):
        case names.CHAT:
            yield from _of_chat(span)
        case names.INVOKE_AGENT:
            about = _some(span, names.OPERATION, names.AGENT_NAME, names.ERROR)
            yield Measurement(names.AGENT_DURATION, span.duration_s, about)
            agent = _some(span, names.AGENT_NAME)
            yield from _counted(span, names.AGENT_CHATS, names.STEPS, agent)
            yield from _counted(span, names.AGENT_CALLS, names.TOOL_CALLS, agent)
            yield from _counted(span, names.USED_MONEY, names.COST, agent)
        case names.EXECUTE_TOOL:
            about = _some(span, names.OPERATION, names.TOOL_NAME, names.TOOL_TYPE, names.ERROR)
            yield Measurement(names.TOOL_DURATION, span.duration_s, about)
        case names.APPROVE_CALL:
            about = _some(span, names.TOOL_NAME, names.ANSWER)
            yield Measurement(names.APPROVAL_DURATION, span.duration_s, about)
        case _:
            pass


def _of_chat(span: FinishedSpan) -> Iterator[Measurement]:
    model = _some(span, names.OPERATION, names.PROVIDER, names.REQUEST_MODEL, names.RESPONSE_MODEL)
    yield Measurement(names.CHAT_DURATION, span.duration_s, model | _some(span, names.ERROR))
    yield from _counted(span, names.CHAT_FIRST_CHUNK, names.FIRST_CHUNK, model)
    for instrument, attribute in (
        (names.USED_INPUT, names.INPUT_TOKENS),
        (names.USED_OUTPUT, names.OUTPUT_TOKENS),
        (names.USED_CACHED, names.CACHED_TOKENS),
    ):
        yield from _counted(span, instrument, attribute, model)


def _counted(span: FinishedSpan, instrument: str, attribute: str, about: Attributes) -> Iterator[Measurement]:
    """Yield the value of an attribute, if the span has it."""
    if isinstance(value := span.attributes.get(attribute), int | float):
        yield Measurement(instrument, value, about)


def _some(span: FinishedSpan, *wanted: str) -> Attributes:
    """Return the attributes of a span that have few enough values for a metric."""
    return {name: span.attributes[name] for name in wanted if name in span.attributes}
