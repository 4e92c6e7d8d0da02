"""Ports to models, and what is known about models."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.messages import ModelEvent, ModelRequest


class Provider(Protocol):
    """A vendor's models."""

    name: str

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        """Stream one step: fragments in order, followed by exactly one ModelReply. Raises ModelError or a subclass."""
        ...


class ListedModel(Struct, frozen=True):
    """A model in an endpoint's list, with its context window in tokens if the list states it."""

    name: str
    window_tokens: int | None = None


class ModelInfo(Struct, frozen=True):
    """What is known about a model: its window in tokens, and its prices in dollars per million tokens.

    `sees` means that it is known to accept images.
    """

    window_tokens: int
    max_output_tokens: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    cached_usd: float | None = None
    sees: bool = False


class Recording(Struct, frozen=True):
    """Recorded speech: the bytes of an audio file, and its MIME type, such as `audio/ogg`."""

    content: bytes
    mime_type: str


class Transcriber(Protocol):
    """Turns speech into text."""

    @property
    def name(self) -> str:
        """The model's name, for people."""
        ...

    async def check(self) -> None:
        """Check that the transcriber is usable, as far as that can be known without contacting other machines.

        Raises ConfigError or ModelError.
        """
        ...

    async def transcribe(self, recording: Recording) -> str:
        """Return the recording's text, or an empty string if nothing was said. Raises ModelError or ConfigError."""
        ...

    async def aclose(self) -> None:
        """Release resources; a later call acquires them again."""
        ...
