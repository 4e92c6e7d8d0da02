"""What a request can do without when an endpoint refuses it for that.

Knows: how a refusal, what was sent and what was conceded before lead to the next try. Does not know: any vendor's
fields; each wire lists its own.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from hermes_acp.models.refusals import Refusal


class Concession(Struct, frozen=True):
    """One thing to leave out: `words` is what a refusal of it says, a regular expression in whatever case it is met.

    A body that has any of the `traces` has it.
    """

    wish: str
    words: str
    traces: tuple[bytes, ...]


def first_concession(
    known: Iterable[Concession], refusal: Refusal, body: bytes, conceded: frozenset[str]
) -> str | None:
    """Name the first that was sent, was refused and was not conceded yet; None where nothing is to be left out."""
    for each in known:
        is_sent = any(trace in body for trace in each.traces)
        if is_sent and each.wish not in conceded and refusal.tells(re.compile(each.words, re.IGNORECASE)):
            return each.wish
    return None
