"""One conversation with an endpoint, whatever format it speaks.

Knows: asking, conceding what an endpoint refuses, reading the stream, listing models. Does not know: any vendor's
format; a `WireFormat` does. Servers refuse optional fields they do not know; such a field is left out and the step
asked
again.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Protocol

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadReply
from hermes_acp.core.messages import ModelEvent, ModelRequest
from hermes_acp.models.endpoint_client import EndpointClient, RequestSigner
from hermes_acp.models.endpoint_errors import EndpointRefusal
from hermes_acp.models.endpoints import Endpoint
from hermes_acp.models.reply_stream import ReplyAssembler, StreamDecoder, read_reply
from hermes_acp.models.response_timeouts import IdleTimer, timeouts_for


class WireFormat(Protocol):
    """One vendor's format over HTTP."""

    @property
    def name(self) -> str:
        """Name the leaf."""
        ...

    @property
    def models_paths(self) -> tuple[str, ...]:
        """Say where models are listed; all lists are joined."""
        ...

    @property
    def passing(self) -> frozenset[str]:
        """Name the concessions that hold for one step; all others hold for the model from then on."""
        ...

    @property
    def decoder(self) -> Callable[[], StreamDecoder]:
        """Return the framing of its streams."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers of every request; `key` may be empty."""
        ...

    def chat_path(self, model: str) -> str:
        """Return the path a step is posted to."""
        ...

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Write the body, without the fields that were conceded."""
        ...

    def find_unsupported(self, refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
        """Name the optional field a request was refused for; None where leaving something out cannot help."""
        ...

    def assembly(self, request: ModelRequest, link: EndpointClient) -> ReplyAssembler:
        """Begin to read one answer."""
        ...

    def read_models(self, document: bytes) -> tuple[str, ...]:
        """Read a list of models. Raises msgspec.DecodeError."""
        ...


class _Model(Struct):
    id: str


class _Listing(Struct):
    data: list[_Model] = []


def read_listing(document: bytes) -> tuple[str, ...]:
    """Read a list of models as OpenAI and Anthropic write it. Raises msgspec.DecodeError."""
    return tuple(model.id for model in msgspec.json.decode(document, type=_Listing).data)


class WireConnection:
    """An endpoint that speaks a wire; see `models.endpoints.Connection`."""

    def __init__(
        self,
        wire: WireFormat,
        endpoint: Endpoint,
        *,
        sign: RequestSigner | None = None,
        listing_url: str = "",
    ) -> None:
        """Bind without touching the network. `listing_url` is where models are listed, if at another address."""
        self.name = endpoint.name or wire.name
        self._wire = wire
        self._sign = sign
        self._headers = dict(wire.headers(endpoint.api_key.strip()))
        self._link = EndpointClient(endpoint, self._headers, sign)
        self._listing_url = listing_url
        self._conceded: dict[str, frozenset[str]] = {}

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
        """Open one step; see `core.ports.model_ports.Provider`."""
        wire, link = self._wire, self._link
        omitted = self._conceded.get(request.model, frozenset())
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
                    raise link.trouble(answer.refusal, request.model)
                omitted |= {parameter}
            self._conceded[request.model] = omitted - wire.passing
            reading = read_reply(
                answer.chunks, wire.assembly(request, link), link.place, wire.decoder(), idle_timer
            )
            yield await stack.enter_async_context(aclosing(reading))

    async def models(self) -> tuple[str, ...]:
        """List the model names the endpoint offers. Raises ModelError."""
        if not self._listing_url:
            return await self._list(self._link)
        elsewhere = structs.replace(self._link.endpoint, base_url=self._listing_url)
        link = EndpointClient(elsewhere, self._headers, self._sign)
        try:
            return await self._list(link)
        finally:
            await link.aclose()

    async def _list(self, link: EndpointClient) -> tuple[str, ...]:
        names: list[str] = []
        for path in self._wire.models_paths:
            document = await link.get(path)
            try:
                names += self._wire.read_models(document)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise BadReply(f"{link.place} sent a list of models in no known form.") from None
        return tuple(dict.fromkeys(names))

    async def aclose(self) -> None:
        """Close the connections; a later stream opens new ones."""
        await self._link.aclose()
