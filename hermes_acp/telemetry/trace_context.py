"""The identity of spans in traces, derived from the IDs of turns and calls or read from callers' `traceparent`.

The same turn always has the same trace, and the same call the same span. Therefore a request can name its span before
that is exported, and exporting a session twice adds nothing. Source: W3C Trace Context, level 2.
"""

import re
from hashlib import blake2b
from typing import Final

from msgspec import Struct

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8
SAMPLED: Final = 0x01
_TRACE_PARENT: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)


class SpanContext(Struct, frozen=True, gc=False):
    """A span's trace ID and span ID; `is_sampled` is None if that has not been decided yet."""

    trace_id: int
    span_id: int
    is_sampled: bool | None = None

    def trace_parent(self) -> str:
        """Return the `traceparent` for children of this span."""
        flags = SAMPLED if self.is_sampled in (True, None) else 0
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{flags:02x}"


class TurnTrace(Struct, frozen=True, gc=False):
    """The context of a turn: its parent span, as `traceparent`, and its run.

    Unless this process exports spans (`is_exported`), requests to others name the span `outside` of it instead.
    """

    parent: str = ""
    run_id: str = ""
    outside: str = ""
    is_exported: bool = False


def parse_trace_parent(text: object) -> SpanContext | None:
    """Return the span that a `traceparent` names, or None if it is empty or invalid."""
    found = _TRACE_PARENT.fullmatch(text) if isinstance(text, str) else None
    if not found or found["version"] == "ff" or (found["version"] == "00" and found["more"]):
        return None
    trace_id, span_id = int(found["trace"], 16), int(found["span"], 16)
    if not (trace_id and span_id):
        return None
    return SpanContext(trace_id, span_id, bool(int(found["flags"], 16) & SAMPLED))


def valid_trace_parent(text: object) -> str:
    """Return a `traceparent` unchanged, or an empty string if it is invalid."""
    return text if isinstance(text, str) and parse_trace_parent(text) else ""


def trace_id_of(name: str) -> int:
    """Return the ID of the trace derived from a name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=TRACE_ID_BYTES).digest(), "big") or 1


def span_id_of(name: str) -> int:
    """Return the ID of the span derived from a name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=SPAN_ID_BYTES).digest(), "big") or 1


def turn_context(turn_id: str, run_id: str, parent: SpanContext | None) -> SpanContext:
    """Return the span of a turn: in its parent's trace, its run's, or a new one."""
    span_id = span_id_of(turn_id)
    if parent:
        return SpanContext(parent.trace_id, span_id, parent.is_sampled)
    return SpanContext(trace_id_of(run_id or turn_id), span_id)


def trace_below(trace: TurnTrace, turn_id: str, call_id: str) -> TurnTrace:
    """Return the trace of a turn that serves a call of another turn."""
    context = turn_context(turn_id, trace.run_id, parse_trace_parent(trace.parent))
    call = SpanContext(context.trace_id, span_id_of(call_id), context.is_sampled)
    return TurnTrace(call.trace_parent(), "", trace.outside, trace.is_exported)


def call_trace_parent(trace: TurnTrace, turn_id: str, call_id: str) -> str:
    """Return the `traceparent` for requests made on behalf of a call, or an empty string without a trace."""
    return trace_below(trace, turn_id, call_id).parent if trace.is_exported else trace.outside
