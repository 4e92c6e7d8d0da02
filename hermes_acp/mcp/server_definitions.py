"""Server definitions: how to reach each server, and its timeouts.

Source: Model Context Protocol 2026-07-28, transports.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from hermes_acp.mcp.tool_descriptions import ToolDescription

MAX_SLUG_CHARS = 24


class StdioServer(Struct, frozen=True):
    """A server to start as a child process; `env` takes precedence over the variables that commands may see.

    If `tools` contains patterns, only matching tools are offered; the same applies to the other kinds of server.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()


class OAuth(Struct, frozen=True):
    """How users sign in to a server, where that cannot be discovered.

    `client_id` is a registered client; `client_metadata_url` is a document that describes this program; `port` is the
    local port to which the browser returns (0 means any free port).
    """

    client_id: str = ""
    client_secret: str = ""
    client_metadata_url: str = ""
    port: int = 0

    def __repr__(self) -> str:
        return f"OAuth(client_id={self.client_id!r})"


class HttpServer(Struct, frozen=True):
    """A server behind a streamable HTTP endpoint."""

    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    oauth: OAuth = OAuth()
    tools: tuple[str, ...] = ()


class SseServer(Struct, frozen=True):
    """A server with the older transport: one event stream, plus POST requests."""

    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    oauth: OAuth = OAuth()
    tools: tuple[str, ...] = ()


class Challenge(Struct, frozen=True):
    """A server's refusal of an unauthenticated request: the HTTP status and the `WWW-Authenticate` header."""

    status: int = 401
    header: str = ""


class SignInFailed(Exception):
    """The sign-in failed; `words` says why and contains no secret."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class TunnelClosed(OSError):
    """The client that maintains the connection is gone, or no longer has the server."""


class ServerTunnel(Protocol):
    """A connection to servers that a client maintains, for requests and the notifications that belong to each."""

    async def ask(
        self,
        server_id: str,
        request_id: str,
        method: str,
        params: Mapping[str, Any] | None,
        hear: Callable[[str, Mapping[str, Any] | None], None],
    ) -> Mapping[str, Any]:
        """Send a request to a server and return its outcome: a `result`, or an `error` with `code` and `message`.

        `request_id` is unique among pending requests. `hear` is called with the method and parameters of each
        notification that belongs to the request. Cancelling the request also cancels it at the server. Raises
        TunnelClosed.
        """
        ...


class TunneledServer(Struct, frozen=True):
    """A server to which a client, such as an editor, maintains the connection, with the client's name for it."""

    name: str
    server_id: str
    line: ServerTunnel
    tools: tuple[str, ...] = ()


ServerSpec = StdioServer | HttpServer | SseServer | TunneledServer


def identity_of(spec: ServerSpec) -> str:
    """Return a digest of how a server is started or reached, excluding secrets, which may change."""
    import hashlib  # OpenSSL is large, and editors' servers are read before the event loop starts

    match spec:
        case StdioServer():
            told = ("stdio", spec.command, *spec.args, *sorted(name for name, _ in spec.env))
        case HttpServer() | SseServer():
            told = ("url", spec.url)
        case TunneledServer():
            told = ("carried", spec.name)
    return hashlib.sha256("\0".join(told).encode("utf-8", "replace")).hexdigest()[:16]


class ServerTimeouts(Struct, frozen=True):
    """Timeouts in seconds; `waits_s` lists the waits before subsequent connection attempts."""

    waits_s: tuple[float, ...] = (1, 2, 4, 8, 16)
    connect_s: float = 30
    call_s: float = 120
    steady_s: float = 60

    def wait_s(self, failures: int) -> float | None:
        """Return the wait after this many consecutive failures, or None if there are no more automatic retries."""
        return self.waits_s[failures - 1] if failures <= len(self.waits_s) else None


class ServerProcessRegistry(Protocol):
    """Ensures that nothing started by a server outlives it."""

    def fresh_mark(self) -> str:
        """Return a new mark for the processes of a server."""
        ...

    def words(self, mark: str, argv: Sequence[str]) -> tuple[str, ...]:
        """Return the command that starts a server with its mark."""
        ...

    def variables(self, mark: str) -> Mapping[str, str]:
        """Return the environment variables that carry a mark."""
        ...

    def register_process(self, mark: str, leader: int) -> None:
        """Register a server's processes."""
        ...

    async def end(self, mark: str, leader: int) -> None:
        """Kill the processes that a server left behind when its process group ended."""
        ...

    async def aclose(self) -> None:
        """Stop watching; no server may be running any more."""
        ...


def no_rules(text: str) -> tuple[str, ...]:
    """Return no rules."""
    del text
    return ()


def allow_no_text(text: str) -> bool:
    """Allow no text."""
    del text
    return False


class ServerContext(Struct, frozen=True):
    """The environment of servers: the folders they may know about, their variables, and their logs.

    `can_ask` says whether a user can answer their questions; otherwise, they are not told that they may ask. `clean`
    removes attempts to instruct the model from descriptions and results; it may block and runs in a worker thread, as
    do `rules_of`, which names the rules that apply, and `is_text_allowed`, which says whether the user accepts a text
    as it is. `keys` is the folder for the tokens of servers that require sign-in; without it, nobody can sign in.
    Without `process_registry`, processes that a server starts in a separate group outlive it. `may_start` is called
    with a server's name each time its process is about to start; it may block and runs in a worker thread.
    `clean_description` does the same as `clean` for a whole description, and may cache results.
    """

    cwd: str
    roots: tuple[str, ...]
    environment: Mapping[str, str]
    logs: Path
    clean: Callable[[str], str]
    can_ask: bool = False
    keys: Path | None = None
    process_registry: ServerProcessRegistry | None = None
    may_start: Callable[[str], bool] | None = None
    rules_of: Callable[[str], tuple[str, ...]] = no_rules
    is_text_allowed: Callable[[str], bool] = allow_no_text
    clean_description: "Callable[[ToolDescription], ToolDescription] | None" = None

    def cleaned(self, said: "ToolDescription") -> "ToolDescription":
        """Return a description without attempts to instruct the model, or the same object if there are none. Blocks."""
        return self.clean_description(said) if self.clean_description else said.cleaned(self.clean)


def slugs_of(specs: Iterable[ServerSpec]) -> list[str]:
    """Return a unique name for each server that fits into a tool's name and contains no two consecutive underscores."""
    taken: list[str] = []
    for spec in specs:
        wanted = re.sub(r"[^A-Za-z0-9-]+", "_", spec.name).strip("_")[:MAX_SLUG_CHARS].strip("_") or "server"
        slug, number = wanted, 1
        while slug in taken:
            number += 1
            slug = f"{wanted}_{number}"
        taken.append(slug)
    return taken
