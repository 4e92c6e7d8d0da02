"""Send requests to an endpoint, and convert every failure to a ModelError."""

import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    asynccontextmanager,
    contextmanager,
)
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import anyio

from hermes_acp import __version__
from hermes_acp.core.errors import BadReply, ConfigError, ModelError, ModelTimeout, ModelUnavailable
from hermes_acp.models.wire.endpoint_errors import (
    NOT_A_STREAM,
    EndpointRefusal,
    clean,
    read_refusal,
    to_error,
)
from hermes_acp.models.wire.endpoints import Endpoint, hide_credentials
from hermes_acp.models.wire.response_timeouts import PLAIN, IdleTimer

if TYPE_CHECKING:
    import httpx2

ERROR_BODY_LIMIT_BYTES = 64 * 1024
_LISTING_LIMIT_BYTES = 16 * 1024 * 1024
_KEEP_ALIVE_S = 60.0
_WRITE_S = 60.0


RequestSigner = Callable[[str, str, bytes], Awaitable[Mapping[str, str]]]
"""Returns the headers that authenticate a request with this method, URL and body. Raises ModelAuthFailed."""


class Response:
    """An open response: a stream of bytes or, if `refusal` is set, an error that has been read to its end."""

    def __init__(self, chunks: AsyncIterator[bytes], refusal: EndpointRefusal | None) -> None:
        self.chunks = chunks
        self.refusal = refusal


class SilenceLimit:
    """Limits the duration of each read of an answer, as a context manager; the time between reads does not count.

    A single cancel scope around the whole response, `scope`, costs far less than one for each delta.
    """

    def __init__(self, idle_timer: IdleTimer) -> None:
        self.scope = anyio.CancelScope()
        self.limit_s = 0.0
        self._idle_timer = idle_timer

    def __enter__(self) -> None:
        """Start waiting for part of the answer."""
        self.limit_s = self._idle_timer.limit_s
        self.scope.deadline = anyio.current_time() + self.limit_s

    def __exit__(self, *_: object) -> None:
        """Stop waiting: a part has arrived, or none will."""
        self.scope.deadline = math.inf


class EndpointClient:
    """A client for one endpoint.

    Creating a client imports the HTTP library and reads the system's certificates, so do it in a worker thread.
    """

    def __init__(
        self, endpoint: Endpoint, headers: dict[str, str], sign: RequestSigner | None = None
    ) -> None:
        """Validate the URL and the headers. Raises ConfigError. `endpoint.base_url` must be set."""
        self.endpoint = endpoint
        self._sign = sign
        url = endpoint.base_url.rstrip("/")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ConfigError(f"The base URL {hide_credentials(url)!r} is not a valid URL.") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = hide_credentials(url)
            raise ConfigError(f"The base URL {shown!r} must start with http:// or https:// and name a host.")
        self.host = parts.hostname
        shown_host = f"[{self.host}]" if ":" in self.host else self.host
        self.place = f"{shown_host}:{port or (443 if parts.scheme == 'https' else 80)}"
        self._is_secure = parts.scheme == "https"
        self._url = url
        own = {"user-agent": f"hermes-acp/{__version__}", "accept-encoding": "identity"}
        self._headers = own | headers | {name.lower(): value for name, value in endpoint.headers.items()}
        for name, value in self._headers.items():
            if not (value.isascii() and value.isprintable()):
                culprit = (
                    f"the header {name}" if value in endpoint.headers.values() else endpoint.key_variable
                )
                raise ConfigError(
                    f"The value of {culprit} contains characters that are not allowed in an HTTP header."
                )
        self._client: httpx2.AsyncClient | None = self._make_client()

    def post(self, path: str, body: bytes, idle_timer: IdleTimer) -> AbstractAsyncContextManager[Response]:
        """Post a JSON body and open the response; leaving the block closes it, whether or not it was read to its end.

        Raises ModelTimeout if the endpoint is silent for longer than `idle_timer` allows.
        """
        return self._open("POST", path, body, idle_timer)

    async def get(self, path: str, model: str = "") -> bytes:
        """Return the whole response document. Raises ModelError."""
        return await self._whole(self._open("GET", path, None, IdleTimer(PLAIN)), model)

    async def ask(self, path: str, body: bytes, model: str = "") -> bytes:
        """Send a JSON body and return the whole response document. Raises ModelError."""
        return await self._whole(self._open("POST", path, body, IdleTimer(PLAIN), wants="document"), model)

    async def upload(self, path: str, body: bytes, content_type: str, model: str = "") -> bytes:
        """Send a body that is not JSON, and return the whole response document. Raises ModelError."""
        opening = self._open(
            "POST", path, body, IdleTimer(PLAIN), wants="document", content_type=content_type
        )
        return await self._whole(opening, model)

    async def _whole(self, opening: AbstractAsyncContextManager[Response], model: str) -> bytes:
        async with opening as answer:
            if answer.refusal is not None:
                raise self.error_for(answer.refusal, model)
            document = bytearray()
            async for chunk in answer.chunks:
                document += chunk
                if len(document) > _LISTING_LIMIT_BYTES:
                    raise BadReply(f"{self.place} sent more than {_LISTING_LIMIT_BYTES} bytes.")
            return bytes(document)

    def error_for(self, refusal: EndpointRefusal, model: str) -> ModelError:
        """Return the error for a refusal."""
        return to_error(refusal, place=self.place, model=model, endpoint=self.endpoint)

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        body: bytes | None,
        idle_timer: IdleTimer,
        *,
        wants: Literal["stream", "document"] = "stream",
        content_type: str = "application/json",
    ) -> AsyncGenerator[Response]:
        import httpx2

        client = self._client = self._client or self._make_client()
        url = self._url + path
        headers = {"content-type": content_type} if body is not None else {}
        if self._sign is not None:
            headers |= await self._sign(method, url, body or b"")
        try:
            request = client.build_request(method, url, content=body, headers=headers)
            with self._bounded(idle_timer):
                response = await client.send(request, stream=True, follow_redirects=False)
        except httpx2.HTTPError as error:
            raise self._broken(error) from None
        except httpx2.InvalidURL:
            raise ConfigError(f"The base URL {hide_credentials(self._url)!r} is not a valid URL.") from None
        try:
            is_unwanted = wants == "stream" and _is_document(response, method)
            if response.status_code != 200 or is_unwanted:
                idle_timer.has_started = True
                async with aclosing(self._read(response, lambda: self._bounded(idle_timer))) as chunks:
                    yield Response(chunks, await self._read_refusal(response, chunks))
                return
            silence = SilenceLimit(idle_timer)
            async with aclosing(self._read(response, lambda: silence)) as chunks:
                with silence.scope:
                    yield Response(chunks, None)
                if silence.scope.cancelled_caught:
                    raise self._silent(silence.limit_s)
        finally:
            await response.aclose()

    async def _read(
        self, response: "httpx2.Response", bound: Callable[[], AbstractContextManager[None]]
    ) -> AsyncGenerator[bytes]:
        """Yield the body; each read takes place in a block returned by `bound`."""
        import httpx2

        # Only the read is guarded, so that a failure in the consumer is not mistaken for a network failure.
        async with aclosing(response.aiter_bytes()) as chunks:
            while True:
                try:
                    with bound():
                        chunk = await anext(chunks, None)
                except (httpx2.HTTPError, httpx2.StreamError) as error:
                    raise self._broken(error) from None
                if chunk is None:
                    return
                yield chunk

    @contextmanager
    def _bounded(self, idle_timer: IdleTimer) -> Generator[None]:
        """Limit how long the endpoint may be silent inside the block. Raises ModelTimeout."""
        limit_s = idle_timer.limit_s
        try:
            with anyio.fail_after(limit_s):
                yield
        except TimeoutError:
            raise self._silent(limit_s) from None

    def _silent(self, limit_s: float) -> ModelTimeout:
        return ModelTimeout(
            f"{self.place} was silent for {limit_s:g} s.",
            hint="Try again, or choose another model.",
            retryable=True,
        )

    async def _read_refusal(
        self, response: "httpx2.Response", chunks: AsyncIterator[bytes]
    ) -> EndpointRefusal:
        body = bytearray()
        try:
            async for chunk in chunks:
                body += chunk
                if len(body) >= ERROR_BODY_LIMIT_BYTES:
                    break
        except ModelUnavailable:
            # The status is already known; only the explanation is incomplete.
            body.clear()
        status = response.status_code if response.status_code != 200 else 0
        found = read_refusal(status, response.headers, bytes(body[:ERROR_BODY_LIMIT_BYTES]), time.time())
        if status == 0 and not found.message:
            kind = response.headers.get("content-type", "")
            return EndpointRefusal(
                0, code=NOT_A_STREAM, message=f"an answer of type {kind!r} instead of a stream"
            )
        return found

    def _make_client(self) -> "httpx2.AsyncClient":
        import ssl

        import httpx2

        endpoint = self.endpoint
        # The idle timeout depends on the model, so reads are limited in `_bounded`.
        timeout = httpx2.Timeout(endpoint.connect_s, read=None, write=_WRITE_S)
        limits = httpx2.Limits(
            max_connections=None, max_keepalive_connections=8, keepalive_expiry=_KEEP_ALIVE_S
        )
        # Loading the system's certificates is slow, and an unencrypted connection needs none.
        verify = True if self._is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx2.AsyncClient(
            headers=self._headers, timeout=timeout, limits=limits, verify=verify, follow_redirects=False
        )

    def _broken(self, error: Exception) -> ModelError:
        """Return the error for a broken connection, with the library's message cleaned of possible header values."""
        import httpx2

        reason = clean(str(error), self.endpoint)
        match error:
            case httpx2.ConnectTimeout():
                message = f"{self.place} did not accept a connection within {self.endpoint.connect_s:g} s."
            case httpx2.TimeoutException():
                message = f"{self.place} did not accept the request in time."
            case httpx2.ConnectError() if "certificate" in reason.lower():
                message = f"The certificate of {self.place} could not be verified: {reason}."
            case httpx2.ConnectError():
                message = f"{self.place} cannot be reached: {reason or 'no connection'}."
            case httpx2.ProxyError():
                message = f"The proxy on the way to {self.place} refused the connection: {reason}."
            case httpx2.DecodingError():
                return BadReply(f"{self.place} sent a body that cannot be decompressed.", retryable=True)
            case httpx2.LocalProtocolError() | httpx2.UnsupportedProtocol():
                return ModelError(f"The request to {self.place} cannot be sent: {reason}.")
            case _:
                message = f"The connection to {self.place} was lost: {reason or type(error).__name__}."
        return ModelUnavailable(message, hint="Check the network and the base URL.", retryable=True)


def _is_document(response: "httpx2.Response", method: str) -> bool:
    """Return whether a request for a stream got a whole document instead, such as an error with status 200."""
    kind = response.headers.get("content-type", "")
    return method == "POST" and kind.startswith(("application/json", "text/html"))
