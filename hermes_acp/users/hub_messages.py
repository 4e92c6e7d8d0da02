"""Messages between a hub and the process of a profile, each one line of JSON.

The hub sends terms, and the process reports its user's usage.
"""

from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.ports.quota_ports import Allowance

MAX_LINE_BYTES: Final = 1 << 16
MAX_REPORTED: Final = 10**12
"""The maximum of any value in one report, so that sums fit into the ledger."""


class Terms(Struct, frozen=True):
    """The terms for a process: the idle time in seconds after which it ends, and its user's limits.

    The allowances account for everything up to report `number`; None means no limit.
    """

    idle_s: float
    allowances: tuple[Allowance, ...] = ()
    sessions: int | None = None
    turns: int | None = None
    number: int = 0


class Spent(Struct, frozen=True, omit_defaults=True):
    """One report: the usage since the last one, and the report's number, counted from 1."""

    number: int
    tokens: int = 0
    usd: float = 0.0
    runs: int = 0


def encode_terms(terms: Terms) -> bytes:
    """Encode terms as one line."""
    return msgspec.json.encode(terms) + b"\n"


def decode_terms(line: bytes) -> Terms:
    """Return the terms in a line. Raises ValueError."""
    return msgspec.json.decode(line, type=Terms)


def encode_spent(spent: Spent) -> bytes:
    """Return the line for a report."""
    return msgspec.json.encode(spent) + b"\n"


def decode_spent(line: bytes) -> Spent:
    """Return the report in a line. Raises ValueError if it is malformed, negative or out of range."""
    spent = msgspec.json.decode(line, type=Spent)
    if not all(0 <= value <= MAX_REPORTED for value in (spent.number, spent.tokens, spent.usd, spent.runs)):
        raise ValueError("a report is out of range")
    return spent
