"""What a request can do without when an endpoint refuses it for that.

Knows: how a refusal, what was sent and what was conceded before lead to the next try. Does not know: any vendor's
fields; each wire lists its own.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from hermes_acp.models.endpoint_errors import EndpointRefusal


class UnsupportedParameter(Struct, frozen=True):
    """One thing to leave out: `words` is what a refusal of it says, a regular expression in whatever case it is met.

    A body that has any of the `traces` has it.
    """

    parameter: str
    words: str
    traces: tuple[bytes, ...]


def first_unsupported(
    known: Iterable[UnsupportedParameter], refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]
) -> str | None:
    """Name the first that was sent, was refused and was not conceded yet; None where nothing is to be left out."""
    for each in known:
        is_sent = any(trace in body for trace in each.traces)
        if (
            is_sent
            and each.parameter not in omitted
            and refusal.matches(re.compile(each.words, re.IGNORECASE))
        ):
            return each.parameter
    return None
