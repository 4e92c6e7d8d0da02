"""Download the files of messages, but only from a platform's own hosts."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.port.platform_port import PlatformError

PIECE_BYTES: Final = 1 << 16


def origin(address: str) -> str:
    """Return the origin of a URL: its scheme, host and port."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def is_allowed(address: str, allowed: Sequence[str]) -> bool:
    """Return whether a URL is on one of the allowed hosts or has one of the allowed origins."""
    host = urlsplit(address).hostname or ""
    is_below = any(host == each or host.endswith(f".{each}") for each in allowed if "://" not in each)
    return origin(address) in allowed or (is_below and address.startswith("https://"))


async def download(
    http: Any, address: str, allowed: Sequence[str], max_bytes: int, headers: Mapping[str, str] | None = None
) -> bytes:
    """Download a file; if it is too large, return one byte more than allowed. Redirects are not followed.

    Raises PlatformError. `http` is an aiohttp session. `allowed` contains hosts, which include their subdomains over
    TLS, and whole origins.
    """
    if not is_allowed(address, allowed):
        raise PlatformError(messages.NOT_READABLE, is_permanent=True)
    async with http.get(address, headers=headers, allow_redirects=False) as answer:
        if answer.status != 200:
            raise PlatformError(f"HTTP {answer.status}", is_permanent=answer.status < 500)
        content = bytearray()
        async for piece in answer.content.iter_chunked(PIECE_BYTES):
            content += piece
            if len(content) > max_bytes:
                break
        return bytes(content[: max_bytes + 1])
