"""One conversation with an endpoint, whatever format it speaks.

Knows: asking, conceding what an endpoint refuses, reading the stream, listing models. Does not know: any vendor's
format; a `Wire` does. Servers refuse optional fields they do not know; such a field is left out and the step asked
again.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Protocol

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadReply
from hermes_acp.core.messages import ModelEvent, ModelRequest
from hermes_acp.models.endpoints import Endpoint
from hermes_acp.models.http import Link
from hermes_acp.models.refusals import Refusal
from hermes_acp.models.replies import Assembly, read_reply


class Wire(Protocol):
    """One vendor's format over HTTP."""

    name: str
    chat_path: str
    models_path: str
    concedes_for_good: bool
    """Whether a field refused once is left out of later requests too."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Give the headers of every request; `key` may be empty."""
        ...

    def encode(self, request: ModelRequest, host: str, conceded: frozenset[str]) -> bytes:
        """Write the body, without the fields that were conceded."""
        ...

    def find_concession(self, refusal: Refusal, body: bytes, conceded: frozenset[str]) -> str | None:
        """Name the optional field a request was refused for; None where leaving something out cannot help."""
        ...

    def assembly(self, request: ModelRequest, link: Link) -> Assembly:
        """Begin to read one answer."""
        ...


class _Model(Struct):
    id: str


class _Listing(Struct):
    data: list[_Model] = []


class WireConnection:
    """An endpoint that speaks a wire; see `models.endpoints.Connection`."""

    def __init__(self, wire: Wire, endpoint: Endpoint) -> None:
        self.name = wire.name
        self._wire = wire
        self._link = Link(endpoint, dict(wire.headers(endpoint.api_key.strip())))
        self._conceded: frozenset[str] = frozenset()

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
        """Open one step; see `core.ports.Provider`."""
        wire, link, conceded = self._wire, self._link, self._conceded
        async with AsyncExitStack() as stack:
            while True:
                body = wire.encode(request, link.host, conceded)
                answer = await stack.enter_async_context(link.post(wire.chat_path, body))
                if answer.refusal is None:
                    break
                await stack.aclose()
                wish = wire.find_concession(answer.refusal, body, conceded)
                if wish is None:
                    raise link.trouble(answer.refusal, request.model)
                conceded |= {wish}
            if wire.concedes_for_good:
                self._conceded |= conceded
            reading = read_reply(answer.chunks, wire.assembly(request, link), link.place)
            yield await stack.enter_async_context(aclosing(reading))

    async def models(self) -> tuple[str, ...]:
        """List the model names the endpoint offers. Raises ModelTrouble."""
        document = await self._link.get(self._wire.models_path)
        try:
            listing = msgspec.json.decode(document, type=_Listing)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadReply(f"{self._link.place} sent a list of models in no known form.") from None
        return tuple(model.id for model in listing.data)

    async def aclose(self) -> None:
        """Close the connections; a later stream opens new ones."""
        await self._link.aclose()
