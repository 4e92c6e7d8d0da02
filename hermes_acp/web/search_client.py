"""Send queries to the search service that the user chose.

The user named the service, so it may run anywhere, including in a private network.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hermes_acp import __version__
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.search_service import SearchService
from hermes_acp.web.web_addresses import read_address

if TYPE_CHECKING:
    import httpx2

MAX_BYTES: Final = 4 << 20
TIMEOUT_S: Final = 30.0


class SearchClient:
    """A search service with its key."""

    def __init__(self, service: SearchService, base_url: str, key: str) -> None:
        """Initialise with the service, its non-empty address and its key. Raises BadRequest for an invalid address."""
        self._service = service
        self._base_url = base_url.rstrip("/")
        self._key = key
        self.name: str = service.label
        self.host: str = read_address(base_url).host

    async def search(self, query: str, most: int) -> Sequence[WebSearchHit]:
        """Find pages. Raises WorkspaceError."""
        import httpx2

        asked = self._service.ask(query, most, self._key)
        headers = {"user-agent": f"hermes-acp/{__version__}", "accept": "application/json", **asked.headers}
        try:
            async with httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as client:
                request = client.build_request(
                    "GET" if asked.body is None else "POST",
                    self._base_url + asked.path,
                    params=dict(asked.parameters) or None,
                    json=asked.body,
                    headers=headers,
                )
                response = await client.send(request, stream=True)
                try:
                    answer = await self._read(response)
                finally:
                    await response.aclose()
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            kind = (
                "did not answer in time"
                if isinstance(error, httpx2.TimeoutException)
                else "cannot be reached"
            )
            raise WorkspaceError(f"{self.name} {kind}.", hint="Try again later.") from None
        return self._service.read(answer)[:most]

    async def _read(self, response: "httpx2.Response") -> Any:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise WorkspaceError(f"{self.name} sent more than {MAX_BYTES:,} bytes.")
        if response.status_code != 200:
            raise self._refused(response.status_code)
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise WorkspaceError(f"{self.name} did not answer with JSON.", hint=self._advice()) from None

    def _refused(self, status: int) -> WorkspaceError:
        match status:
            case 401 | 403:
                return WorkspaceError(f"{self.name} refused the query (HTTP {status}).", hint=self._advice())
            case 402 | 429 | 432:
                return WorkspaceError(
                    f"{self.name} does not accept more queries at the moment (HTTP {status}).",
                    hint="Search less often.",
                )
            case _:
                return WorkspaceError(
                    f"{self.name} failed (HTTP {status}).", hint="Try again, or use other words."
                )

    def _advice(self) -> str:
        if self._service.key_variable:
            return "The user should check its key."
        return "Its settings must list json under search.formats; the user can change that."
