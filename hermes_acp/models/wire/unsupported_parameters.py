"""Find which optional field of a request to leave out when an endpoint refuses the request for it."""

import re
from collections.abc import Iterable

from msgspec import Struct

from hermes_acp.models.wire.endpoint_errors import EndpointRefusal


class UnsupportedParameter(Struct, frozen=True):
    """An optional field: `words` is a regular expression for what a refusal of it says, in any case.

    A body that has any of the `traces` has the field.
    """

    parameter: str
    words: str
    traces: tuple[bytes, ...]


def first_unsupported(
    known: Iterable[UnsupportedParameter], refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]
) -> str | None:
    """Return the first field that was sent and refused and is not left out yet; None without one."""
    for each in known:
        is_sent = any(trace in body for trace in each.traces)
        pattern = re.compile(each.words, re.IGNORECASE)
        if is_sent and each.parameter not in omitted and refusal.matches(pattern):
            return each.parameter
    return None
