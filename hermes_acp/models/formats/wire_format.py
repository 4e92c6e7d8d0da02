"""HTTP connections to endpoints, and the base class of the vendors' formats.

Some servers refuse requests with optional fields that they do not know. Such a field is left out, and the request is
sent again.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import ClassVar

import msgspec
from msgspec import structs

from hermes_acp.core.errors import BadReply
from hermes_acp.core.messages import ModelEvent, ModelRequest
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.formats.model_listings import read_listing
from hermes_acp.models.formats.reply_assembly import ReplyAssembly
from hermes_acp.models.formats.reply_stream import StreamDecoder, read_reply
from hermes_acp.models.wire.endpoint_client import EndpointClient, RequestSigner
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal
from hermes_acp.models.wire.endpoints import Endpoint, bearer
from hermes_acp.models.wire.response_timeouts import IdleTimer, timeouts_for
from hermes_acp.models.wire.sse import SseDecoder
from hermes_acp.models.wire.unsupported_parameters import UnsupportedParameter, first_unsupported


class WireFormat(ABC):
    """The base class of a vendor's HTTP format, which is the plugin itself and is shared by its connections.

    The defaults suit most vendors. `base_url` and `key_variable` are the vendor's own. `unsupported` lists the fields
    that can be omitted from a request that was refused with one of `refusal_statuses`. A refused field is left out for
    that model from then on; one in `omitted_once` is left out for a single step.
    """

    name: ClassVar[str]
    base_url: ClassVar[str] = ""
    key_variable: ClassVar[str] = ""
    path: ClassVar[str] = ""
    models_paths: ClassVar[tuple[str, ...]] = ("/models",)
    unsupported: ClassVar[tuple[UnsupportedParameter, ...]] = ()
    refusal_statuses: ClassVar[tuple[int, ...]] = (400,)
    omitted_once: ClassVar[frozenset[str]] = frozenset()
    assembly: ClassVar[type[ReplyAssembly]]

    @abstractmethod
    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Encode the body of a request, without the omitted fields."""

    def connect(self, endpoint: Endpoint) -> "WireConnection":
        """Bind to an endpoint or, without a base URL, to the vendor itself. Raises ConfigError for an invalid URL."""
        return WireConnection(self, endpoint.or_own(self.base_url, self.key_variable))

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers for every request; `key` may be empty."""
        return bearer(key)

    def chat_path(self, model: str) -> str:
        """Return the path to which the request of a step is posted."""
        return self.path

    def decoder(self) -> StreamDecoder:
        """Return a decoder for the framing of one stream."""
        return SseDecoder()

    def find_unsupported(self, refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
        """Return the optional field because of which a request was refused, or None if omitting a field cannot help."""
        if refusal.status not in self.refusal_statuses:
            return None
        return first_unsupported(self.unsupported, refusal, body, omitted)

    def read_models(self, document: bytes) -> tuple[ListedModel, ...]:
        """Parse a list of models. Raises msgspec.DecodeError."""
        return read_listing(document)


class WireConnection:
    """A vendor's format bound to an endpoint; see `models.wire.endpoints.Connection`."""

    def __init__(
        self,
        wire: WireFormat,
        endpoint: Endpoint,
        *,
        sign: RequestSigner | None = None,
        listing_url: str = "",
    ) -> None:
        """Bind without touching the network. `listing_url` is given if models are listed at a different URL."""
        self.name = endpoint.name or wire.name
        self._wire = wire
        self._sign = sign
        self._headers = wire.headers(endpoint.api_key.strip())
        self._link = EndpointClient(endpoint, self._headers, sign)
        self._listing_url = listing_url
        self._unsupported: dict[str, frozenset[str]] = {}

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
        """Open one step; see `core.ports.Provider`."""
        wire, link = self._wire, self._link
        omitted = self._unsupported.get(request.model, frozenset())
        path = wire.chat_path(request.model)
        async with AsyncExitStack() as stack:
            while True:
                body = wire.encode(request, link, omitted)
                idle_timer = IdleTimer(timeouts_for(link.endpoint, link.host, request.model, self.name))
                answer = await stack.enter_async_context(link.post(path, body, idle_timer))
                if answer.refusal is None:
                    break
                await stack.aclose()
                parameter = wire.find_unsupported(answer.refusal, body, omitted)
                if parameter is None:
                    raise link.error_for(answer.refusal, request.model)
                omitted |= {parameter}
            self._unsupported[request.model] = omitted - wire.omitted_once
            reading = read_reply(
                answer.chunks, wire.assembly(request, link), link.place, wire.decoder(), idle_timer
            )
            yield await stack.enter_async_context(aclosing(reading))

    async def models(self) -> tuple[ListedModel, ...]:
        """Return the endpoint's models. Raises ModelError."""
        if not self._listing_url:
            return await self._list(self._link)
        elsewhere = structs.replace(self._link.endpoint, base_url=self._listing_url)
        link = EndpointClient(elsewhere, self._headers, self._sign)
        try:
            return await self._list(link)
        finally:
            await link.aclose()

    async def own_window(self, model: str) -> int | None:
        """Return the context window that a local server states in its own API; see `local_window`."""
        from hermes_acp.models.formats.local_windows import local_window

        return await local_window(self._link.endpoint, self._headers, model)

    async def _list(self, link: EndpointClient) -> tuple[ListedModel, ...]:
        listed: dict[str, ListedModel] = {}
        for path in self._wire.models_paths:
            document = await link.get(path)
            try:
                found = self._wire.read_models(document)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise BadReply(f"{link.place} sent a list of models in an unknown format.") from None
            listed |= {model.name: model for model in found if model.name not in listed}
        return tuple(listed.values())

    async def aclose(self) -> None:
        """Close the connections; a later stream opens new ones."""
        await self._link.aclose()
