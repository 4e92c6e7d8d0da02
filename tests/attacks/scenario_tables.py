"""The tables of the worst-case model: the texts it reads, their instructions, and ordinary sessions."""

import tomllib
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

HERE: Final = Path(__file__).parent
Call = tuple[str, str]
"""A tool and its arguments in JSON, with placeholders for what only a world knows."""


class Carrier(Struct, frozen=True):
    """The place of an instruction, and the ordinary calls that read it."""

    name: str
    calls: tuple[Call, ...]
    granted: tuple[Call, ...] = ()


class Payload(Struct, frozen=True):
    """An instruction's request, and the calls that were permanently allowed before."""

    name: str
    kind: str
    calls: tuple[Call, ...]
    granted: tuple[Call, ...] = ()


class Scenario(Struct, frozen=True):
    """One attack: a carrier and its payload."""

    carrier: Carrier
    payload: Payload

    @property
    def name(self) -> str:
        return f"{self.carrier.name}-{self.payload.name}"


def scenarios() -> list[Scenario]:
    """List a hundred pairs of a carrier and a payload: each carrier with ten of the payloads."""
    table = tomllib.loads((HERE / "worst_case_scenarios.toml").read_text(encoding="utf-8"))
    carriers = [Carrier(each["name"], *_calls_of(each)) for each in table["carrier"]]
    payloads = [Payload(each["name"], each["kind"], *_calls_of(each)) for each in table["payload"]]
    pairs = ((number % len(carriers), number * 7 % len(payloads)) for number in range(100))
    return [Scenario(carriers[carrier], payloads[payload]) for carrier, payload in pairs]


def honest_sessions() -> list[tuple[str, tuple[Call, ...]]]:
    """List forty sessions of ordinary work by name, with the calls that each makes."""
    table = tomllib.loads((HERE / "honest_sessions.toml").read_text(encoding="utf-8"))
    return [(each["name"], _calls_of(each)[0]) for each in table["session"]]


def _calls_of(each: dict[str, Any]) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    calls = tuple((name, arguments) for name, arguments in each["calls"])
    return calls, tuple((name, arguments) for name, arguments in each.get("granted", ()))
