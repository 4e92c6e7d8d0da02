"""Which server, how to reach it, and how patient to be with it.

Knows: the three ways to a server, names that a model can use. Does not know: how a connection is made.
Source: Model Context Protocol 2026-07-28, transports.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

LONGEST_SLUG = 24


class StdioServer(Struct, frozen=True):
    """A server that is started as a child; `env` is laid over what commands may see."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class HttpServer(Struct, frozen=True):
    """A server behind one streamable HTTP endpoint."""

    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()


class SseServer(Struct, frozen=True):
    """A server of the older kind: one stream of events, and posts beside it."""

    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()


ServerSpec = StdioServer | HttpServer | SseServer


class Pace(Struct, frozen=True):
    """How long things may take, in seconds; `waits_s` are the waits before each further try to connect."""

    waits_s: tuple[float, ...] = (1, 2, 4, 8, 16)
    connect_s: float = 30
    call_s: float = 120
    steady_s: float = 60


class Surroundings(Struct, frozen=True):
    """Where servers live: the folders they may know of, their variables, their logs.

    `clean` takes out of a description what tries to instruct the model; it may block, and runs in a worker thread.
    """

    cwd: str
    roots: tuple[str, ...]
    environment: Mapping[str, str]
    logs: Path
    clean: Callable[[str], str]


def slugs_of(specs: Iterable[ServerSpec]) -> list[str]:
    """Give each server a name that is unique here and fits into a tool's; it has no two underscores in a row."""
    taken: list[str] = []
    for spec in specs:
        wanted = re.sub(r"[^A-Za-z0-9-]+", "_", spec.name).strip("_")[:LONGEST_SLUG].strip("_") or "server"
        slug, number = wanted, 1
        while slug in taken:
            number += 1
            slug = f"{wanted}_{number}"
        taken.append(slug)
    return taken
