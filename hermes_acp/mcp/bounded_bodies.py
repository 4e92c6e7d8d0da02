"""Limit the size of HTTP response bodies.

An event stream is not read as a whole; its events are limited individually elsewhere.
"""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

MAX_BYTES: Final = 16 << 20
MAX_PACKED_BYTES: Final = 256 << 10
"""The limit for compressed bodies, which may expand to a thousand times their size."""


class LimitedBody(httpx2.AsyncByteStream):
    """A body whose reader fails once it exceeds the limit."""

    def __init__(self, body: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._body = body
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("The answer is too large.")
            yield chunk

    async def aclose(self) -> None:
        """Stop reading."""
        await self._body.aclose()


async def limit_body(response: httpx2.Response) -> None:
    """Limit the body of a response whose headers have arrived."""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return
    is_packed = response.headers.get("content-encoding", "identity").lower() != "identity"
    body = response.stream
    if isinstance(body, httpx2.AsyncByteStream):
        response.stream = LimitedBody(body, MAX_PACKED_BYTES if is_packed else MAX_BYTES)
