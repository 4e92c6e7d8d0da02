"""Embeddings from an endpoint that speaks OpenAI's format, such as a local server.

Source: OpenAI API reference, "Create embeddings".
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadReply
from hermes_acp.core.ports.embedding_ports import Purpose, unit

if TYPE_CHECKING:
    from hermes_acp.models.wire.endpoints import Endpoint

TEXTS_AT_ONCE: Final = 32


class _Embedding(Struct, frozen=True):
    index: int
    embedding: list[float]


class _Embeddings(Struct, frozen=True):
    data: list[_Embedding]


class EndpointEmbedder:
    """An embedding model at an endpoint. Create it in a worker thread. Raises ConfigError for an invalid URL."""

    def __init__(self, endpoint: "Endpoint", model: str, dimensions: int | None = None) -> None:
        from hermes_acp.models.wire.endpoint_client import EndpointClient
        from hermes_acp.models.wire.endpoints import bearer

        self._link = EndpointClient(endpoint, bearer(endpoint.api_key))
        self._model = model
        self._dimensions = dimensions
        size = f" with {dimensions} dimensions" if dimensions else ""
        self.name: str = f"{model}{size} of {self._link.place}"

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> "Sequence[array[float]]":
        """Return a vector for each text. Raises ModelError."""
        vectors: list[array[float]] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            vectors += await self._embed(list(texts[start : start + TEXTS_AT_ONCE]))
        return vectors

    async def _embed(self, texts: list[str]) -> "list[array[float]]":
        body: dict[str, object] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        document = await self._link.ask("/embeddings", msgspec.json.encode(body), self._model)
        try:
            answer = msgspec.json.decode(document, type=_Embeddings)
            vectors = [unit(each.embedding) for each in sorted(answer.data, key=lambda each: each.index)]
        except (msgspec.DecodeError, ValueError, OverflowError) as error:
            raise BadReply(f"{self._link.place} sent embeddings that cannot be read: {error}.") from None
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise BadReply(f"{self._link.place} sent {len(vectors)} embeddings for {len(texts)} texts.")
        return vectors

    async def aclose(self) -> None:
        """Close the connections."""
        await self._link.aclose()
