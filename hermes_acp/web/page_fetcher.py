"""Fetch web pages without being redirected to private addresses.

A host's addresses are looked up once, all of them must be public, and the connection goes to one of exactly these
addresses, so a later DNS change has no effect. There is no sign-in, no cookies are stored, and the environment's
proxies are ignored. Source: OWASP server-side request forgery; RFC 9110 section 15.4 (redirects).
"""

import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp import __version__
from hermes_acp.core.errors import BadRequest, WorkspaceError
from hermes_acp.core.ports.web_ports import Page
from hermes_acp.web.body_decoding import DecodedBody
from hermes_acp.web.web_addresses import WebAddress, first_private, read_address

if TYPE_CHECKING:
    import ssl

    import httpx2

    Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

MAX_REDIRECTS: Final = 5
RESOLVE_TIMEOUT_S: Final = 10.0
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ACCEPT: Final = "text/markdown,text/html;q=0.9,text/plain;q=0.8,application/json;q=0.8,*/*;q=0.1"


class FetchLimits(Struct, frozen=True):
    """The maximum decompressed size of a page, the total timeout, and the trusted private hosts."""

    most_bytes: int = 2 << 20
    timeout_s: float = 30.0
    connect_s: float = 10.0
    private_hosts: frozenset[str] = frozenset()


async def resolve(host: str, port: int) -> Sequence[str]:
    """Look up a host's addresses. Raises WorkspaceError if it has none."""
    try:
        with anyio.fail_after(RESOLVE_TIMEOUT_S):
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise WorkspaceError(f"The address of {host} was not found within {RESOLVE_TIMEOUT_S:g} s.") from None
    except (OSError, UnicodeError):
        raise WorkspaceError(
            f"There is no host {host}.", hint="Check the spelling, or the network."
        ) from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class PageFetcher:
    """Fetches pages, each over a separate connection."""

    def __init__(self, bounds: FetchLimits, look_up: "Resolve" = resolve) -> None:
        self._bounds = bounds
        self._look_up = look_up
        self._trust: ssl.SSLContext | None = None

    def require_public(self, url: str) -> None:
        """Reject a URL whose host is a private address, before any lookup. Raises WorkspaceError."""
        address = read_address(url)
        if address.is_private_address and address.host not in self._bounds.private_hosts:
            raise _private(address.host, "this machine or its network")

    async def fetch(self, url: str, may_redirect: Callable[[str, str], bool]) -> Page:
        """Fetch a page's text; a redirect to another host is followed only if `may_redirect(host, url)` allows it.

        Otherwise, the returned page only says where the redirect leads. Raises BadRequest or WorkspaceError.
        """
        address = read_address(url)
        try:
            with anyio.fail_after(self._bounds.timeout_s):
                for _ in range(MAX_REDIRECTS + 1):
                    page = await self._visit(address)
                    if isinstance(page, Page):
                        return page
                    if why := _reason_to_stop(address, page, may_redirect):
                        return Page(address.url, 0, "", moved_to=page.url, note=why)
                    address = page
        except TimeoutError:
            raise WorkspaceError(
                f"{address.host} did not send the page within {self._bounds.timeout_s:g} s.",
                hint="Try again later.",
            ) from None
        raise WorkspaceError(f"{address.host} redirects more than {MAX_REDIRECTS} times.")

    async def _visit(self, address: WebAddress) -> Page | WebAddress:
        """Make a request; return the page, or the redirect."""
        import httpx2

        async with httpx2.AsyncClient(
            verify=await self._certificates(address),
            timeout=httpx2.Timeout(self._bounds.timeout_s, connect=self._bounds.connect_s),
            trust_env=False,
            follow_redirects=False,
        ) as client:
            try:
                response = await self._send(client, address)
                try:
                    return await self._read(response, address)
                finally:
                    await response.aclose()
            except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as trouble:
                raise _broken(address, trouble) from None

    async def _send(self, client: "httpx2.AsyncClient", address: WebAddress) -> "httpx2.Response":
        """Try to connect to the resolved addresses, one at a time."""
        import httpx2

        headers = {
            "host": address.authority,
            "user-agent": f"hermes-acp/{__version__}",
            "accept": _ACCEPT,
            "accept-encoding": "gzip, deflate",
        }
        trouble: httpx2.ConnectError | httpx2.ConnectTimeout | None = None
        for ip in await self._public_addresses(address):
            request = client.build_request(
                "GET", address.at(ip), headers=headers, extensions={"sni_hostname": address.host}
            )
            try:
                return await client.send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as failed:
                trouble = failed
        assert trouble is not None, "there is at least one address"
        raise trouble

    async def _public_addresses(self, address: WebAddress) -> Sequence[str]:
        """Resolve a host. Raises WorkspaceError unless all its addresses are public or the user trusts the host."""
        found = await self._look_up(address.host, address.port)
        if not found:
            raise WorkspaceError(f"There is no host {address.host}.")
        if address.host not in self._bounds.private_hosts and (private := first_private(found)):
            raise _private(address.host, private)
        return found

    async def _read(self, response: "httpx2.Response", address: WebAddress) -> Page | WebAddress:
        location = response.headers.get("location")
        if response.status_code in REDIRECTS and location:
            return address.follow(location)
        from hermes_acp.web.page_text import kind_of, read_page, require_text

        content_type = response.headers.get("content-type", "")
        require_text(kind_of(content_type))
        body = DecodedBody(response.headers.get("content-encoding", ""), self._bounds.most_bytes)
        async for chunk in response.aiter_raw():
            if not body.feed(chunk):
                break
        text = await run_sync(read_page, bytes(body.content), content_type, address.url)
        return Page(address.url, response.status_code, text, is_cut=body.is_cut)

    async def _certificates(self, address: WebAddress) -> "ssl.SSLContext | bool":
        """Return the certificates; loading them is slow, so that is done once, in a worker thread."""
        import ssl

        import httpx2

        if address.scheme == "http":
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._trust is None:
            self._trust = await run_sync(httpx2.create_ssl_context)
        return self._trust


def _reason_to_stop(before: WebAddress, after: WebAddress, may_redirect: Callable[[str, str], bool]) -> str:
    """Return the reason why a redirect is not followed, or an empty string if it may be."""
    if (before.scheme, after.scheme) == ("https", "http"):
        return "the connection would no longer be encrypted"
    if after.host != before.host and not may_redirect(after.host, after.url):
        return "that is another host"
    return ""


def _private(host: str, place: str) -> WorkspaceError:
    return WorkspaceError(
        f"{host} leads to {place}, which is not on the public network; this is refused.",
        hint="If the user wants it, they list the host under `web.allow_private` in config.yaml.",
    )


def _broken(address: WebAddress, trouble: Exception) -> WorkspaceError:
    """Describe an error without the library's message, which only contains the address."""
    import httpx2

    match trouble:
        case httpx2.ConnectTimeout():
            return WorkspaceError(f"{address.authority} did not accept a connection in time.")
        case httpx2.ConnectError() if "certificate" in str(trouble).lower():
            return WorkspaceError(
                f"{address.authority} could not prove its identity: its certificate is not valid."
            )
        case httpx2.ConnectError():
            return WorkspaceError(f"{address.authority} cannot be reached.")
        case httpx2.TimeoutException():
            return WorkspaceError(f"{address.authority} stopped responding.")
        case httpx2.InvalidURL():
            raise BadRequest(f"{address.url[:200]!r} is not a web address.") from None
        case _:
            return WorkspaceError(f"{address.authority} closed the connection early, or does not speak HTTP.")
