"""The way to a server, whichever of the four it is.

Knows: how each is opened, and that a plain address needs no certificates. Does not know: what is said over it.
`load` must have been called; it takes a second and belongs into a worker thread, as does making an HTTP client.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from anyio.to_thread import run_sync

from hermes_acp.mcp.carried import carried_streams
from hermes_acp.mcp.child import Streams, child_streams
from hermes_acp.mcp.specs import (
    CarriedServer,
    HttpServer,
    ServerSpec,
    SseServer,
    StdioServer,
    Surroundings,
)

if TYPE_CHECKING:
    import httpx2

    from hermes_acp.mcp.tickets import Ticket

ANSWER_S: Final = 30.0
SILENCE_S: Final = 300.0
LARGEST_EVENT_BYTES: Final = 16 << 20
NEEDED: Final = ("mcp.client.client", "mcp.client.sse", "mcp.client.streamable_http", "jsonschema")
TALKATIVE: Final = ("mcp", "client")


def load() -> None:
    """Import what speaks the protocol. Its log, which quotes what servers send, goes nowhere."""
    for module in NEEDED:
        import_module(module)
    for name in TALKATIVE:
        log = logging.getLogger(name)
        log.addHandler(logging.NullHandler())
        log.propagate = False


@asynccontextmanager
async def open_streams(
    spec: ServerSpec, log_name: str, surroundings: Surroundings, ticket: "Ticket | None" = None
) -> AsyncGenerator[Streams]:
    """Open the way to a server; leaving the block closes it, and ends a child. Raises OSError, httpx2.HTTPError.

    With a `ticket` the user is known to a server over HTTP.
    """
    match spec:
        case StdioServer():
            async with child_streams(spec, surroundings, f"{log_name}.log") as streams:
                yield streams
        case CarriedServer():
            async with carried_streams(spec) as streams:
                yield streams
        case HttpServer():
            from mcp.client.streamable_http import streamable_http_client

            async with await http_client(spec, ticket) as client:
                opened = streamable_http_client(
                    spec.url, http_client=client, max_sse_event_size=LARGEST_EVENT_BYTES
                )
                async with opened as streams:
                    yield streams
        case SseServer():
            from mcp.client.sse import sse_client

            client = await http_client(spec, ticket)

            def made(*_: Any, **__: Any) -> "httpx2.AsyncClient":
                return client

            async with sse_client(spec.url, httpx_client_factory=made) as streams:
                yield streams


async def http_client(
    spec: HttpServer | SseServer, ticket: "Ticket | None" = None, *, is_bare: bool = False
) -> "httpx2.AsyncClient":
    """Make what speaks HTTP with a server; `is_bare` where the headers for the server must not go along."""
    return await run_sync(_client, spec, ticket, is_bare)


def _client(spec: HttpServer | SseServer, ticket: "Ticket | None", is_bare: bool) -> "httpx2.AsyncClient":
    import ssl

    import httpx2

    from hermes_acp.mcp.bodies import bound_body

    is_secure = is_bare or spec.url.lower().startswith("https:")
    return httpx2.AsyncClient(
        headers={} if is_bare else dict(spec.headers),
        auth=ticket,
        timeout=httpx2.Timeout(ANSWER_S, read=ANSWER_S if is_bare else SILENCE_S),
        event_hooks={"response": [bound_body]},
        verify=True if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )
