"""Find the optional field to omit after an endpoint has refused a request because of it."""

import re
from collections.abc import Iterable

from msgspec import Struct

from hermes_acp.models.wire.endpoint_errors import EndpointRefusal


class UnsupportedParameter(Struct, frozen=True):
    """An optional field: `words` is a case-insensitive regular expression that matches refusals of it.

    A body that contains any of the `traces` has the field.
    """

    parameter: str
    words: str
    traces: tuple[bytes, ...]


def first_unsupported(
    known: Iterable[UnsupportedParameter], refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]
) -> str | None:
    """Return the first field that was sent, was refused and has not been omitted yet, or None."""
    for each in known:
        is_sent = any(trace in body for trace in each.traces)
        pattern = re.compile(each.words, re.IGNORECASE)
        if is_sent and each.parameter not in omitted and refusal.matches(pattern):
            return each.parameter
    return None
