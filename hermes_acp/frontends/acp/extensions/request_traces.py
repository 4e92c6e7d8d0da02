"""Find the trace that a client's request belongs to.

Source: Agent Client Protocol, "Extensibility": keys at the root of `_meta` that are reserved for W3C Trace Context.
"""

from collections.abc import Mapping
from typing import cast

from hermes_acp.telemetry.trace_context import valid_trace_parent


def trace_parent_in(meta: object) -> str:
    """Return the `traceparent` from a request's `_meta`; empty if it is missing or invalid."""
    if not isinstance(meta, dict):
        return ""
    return valid_trace_parent(cast("Mapping[str, object]", meta).get("traceparent"))
