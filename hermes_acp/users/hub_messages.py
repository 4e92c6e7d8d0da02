"""What a hub and the process of a profile tell each other, each message one line of JSON.

The hub tells the terms; the process reports what its user used.
"""

from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.ports.quota_ports import Allowance

MAX_LINE_BYTES: Final = 1 << 16


class Terms(Struct, frozen=True):
    """What a process works under: after how long without use it ends (seconds), and its user's limits.

    The allowances include everything up to the report `number`; None means no limit.
    """

    idle_s: float
    allowances: tuple[Allowance, ...] = ()
    sessions: int | None = None
    turns: int | None = None
    number: int = 0


class Spent(Struct, frozen=True, omit_defaults=True):
    """One report: what was used since the last one, and its number, counted from 1."""

    number: int
    tokens: int = 0
    usd: float = 0.0
    runs: int = 0


def encode_terms(terms: Terms) -> bytes:
    """Return the line for terms."""
    return msgspec.json.encode(terms) + b"\n"


def decode_terms(line: bytes) -> Terms:
    """Return the terms in a line. Raises ValueError."""
    return msgspec.json.decode(line, type=Terms)


def encode_spent(spent: Spent) -> bytes:
    """Return the line for a report."""
    return msgspec.json.encode(spent) + b"\n"


def decode_spent(line: bytes) -> Spent:
    """Return the report in a line. Raises ValueError for one that is malformed or takes something back."""
    spent = msgspec.json.decode(line, type=Spent)
    if min(spent.tokens, spent.usd, spent.runs) < 0:
        raise ValueError("a report is negative")
    return spent
