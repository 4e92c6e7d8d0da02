"""Open the transport to a server of any of the four kinds.

`load` must be called first; it takes a second and belongs in a worker thread, as does creating an HTTP client.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from anyio.to_thread import run_sync

from hermes_acp.mcp.server_definitions import (
    HttpServer,
    ServerContext,
    ServerSpec,
    SseServer,
    StdioServer,
    TunneledServer,
)
from hermes_acp.mcp.stdio_transport import Streams, stdio_streams
from hermes_acp.mcp.tunneled_transport import tunneled_streams

if TYPE_CHECKING:
    import httpx2

    from hermes_acp.mcp.sign_in.bearer_auth import BearerAuth

RESPONSE_TIMEOUT_S: Final = 30.0
IDLE_TIMEOUT_S: Final = 300.0
MAX_EVENT_BYTES: Final = 16 << 20
PRELOADED_MODULES: Final = ("mcp.client.client", "mcp.client.sse", "mcp.client.streamable_http", "jsonschema")
NOISY_LOGGERS: Final = ("mcp", "client")


def load() -> None:
    """Import the protocol package. Its log, which quotes what servers send, is discarded."""
    for module in PRELOADED_MODULES:
        import_module(module)
    for name in NOISY_LOGGERS:
        log = logging.getLogger(name)
        log.addHandler(logging.NullHandler())
        log.propagate = False


@asynccontextmanager
async def open_streams(
    spec: ServerSpec, log_name: str, server_context: ServerContext, bearer_auth: "BearerAuth | None" = None
) -> AsyncGenerator[Streams]:
    """Open the transport to a server; leaving the block closes it and ends a child process.

    Raises OSError, httpx2.HTTPError. With `bearer_auth`, requests to an HTTP server are authenticated on behalf of the
    user.
    """
    match spec:
        case StdioServer():
            async with stdio_streams(spec, server_context, f"{log_name}.log") as streams:
                yield streams
        case TunneledServer():
            async with tunneled_streams(spec) as streams:
                yield streams
        case HttpServer():
            from mcp.client.streamable_http import streamable_http_client

            async with await http_client(spec, bearer_auth) as client:
                opened = streamable_http_client(
                    spec.url, http_client=client, max_sse_event_size=MAX_EVENT_BYTES
                )
                async with opened as streams:
                    yield streams
        case SseServer():
            from mcp.client.sse import sse_client

            client = await http_client(spec, bearer_auth)

            def made(*_: Any, **__: Any) -> "httpx2.AsyncClient":
                return client

            async with sse_client(spec.url, httpx_client_factory=made) as streams:
                yield streams


async def http_client(
    spec: HttpServer | SseServer, bearer_auth: "BearerAuth | None" = None, *, is_bare: bool = False
) -> "httpx2.AsyncClient":
    """Create the HTTP client for a server; `is_bare` means that the server's headers must not be sent."""
    return await run_sync(_client, spec, bearer_auth, is_bare)


def _client(
    spec: HttpServer | SseServer, bearer_auth: "BearerAuth | None", is_bare: bool
) -> "httpx2.AsyncClient":
    import ssl

    import httpx2

    from hermes_acp.mcp.bounded_bodies import limit_body

    is_secure = is_bare or spec.url.lower().startswith("https:")
    return httpx2.AsyncClient(
        headers={} if is_bare else dict(spec.headers),
        auth=bearer_auth,
        timeout=httpx2.Timeout(RESPONSE_TIMEOUT_S, read=RESPONSE_TIMEOUT_S if is_bare else IDLE_TIMEOUT_S),
        event_hooks={"response": [limit_body]},
        verify=True if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )
