"""Transcribe with an endpoint that has OpenAI's API, such as a local server.

Source: OpenAI API reference, "Create transcription".
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import BadReply
from hermes_acp.core.ports.model_ports import Recording

if TYPE_CHECKING:
    from hermes_acp.models.wire.endpoints import Endpoint

SUFFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "audio/aac": "aac",
        "audio/flac": "flac",
        "audio/m4a": "m4a",
        "audio/mp3": "mp3",
        "audio/mp4": "mp4",
        "audio/mpeg": "mp3",
        "audio/ogg": "ogg",
        "audio/opus": "ogg",
        "audio/wav": "wav",
        "audio/wave": "wav",
        "audio/webm": "webm",
        "audio/x-m4a": "m4a",
        "audio/x-wav": "wav",
    }
)
"""File name suffixes by media type; endpoints detect the format from the suffix."""


class _Transcription(Struct, frozen=True):
    text: str


class EndpointTranscriber:
    """A transcription model at an endpoint. Create it in a worker thread. Raises ConfigError for an invalid URL."""

    def __init__(self, endpoint: "Endpoint", model: str, language: str | None) -> None:
        from hermes_acp.models.wire.endpoint_client import EndpointClient
        from hermes_acp.models.wire.endpoints import bearer

        self._link = EndpointClient(endpoint, bearer(endpoint.api_key))
        self._model = model
        self._language = language
        self.name: str = f"{model} of {self._link.place}"

    async def check(self) -> None:
        """Do nothing: the endpoint is on another machine."""

    async def transcribe(self, recording: Recording) -> str:
        """Return the recording's text. Raises ModelError."""
        body, content_type = await run_sync(self._form, recording)
        document = await self._link.upload("/audio/transcriptions", body, content_type, self._model)
        try:
            return msgspec.json.decode(document, type=_Transcription).text.strip()
        except msgspec.DecodeError as error:
            raise BadReply(f"{self._link.place} sent a transcription that cannot be read: {error}.") from None

    def _form(self, recording: Recording) -> tuple[bytes, str]:
        """Return the request body and its content type."""
        import httpx2

        kind = recording.mime_type.partition(";")[0].strip().lower()
        fields = {"model": self._model, "response_format": "json"}
        if self._language:
            fields["language"] = self._language
        file = f"speech.{SUFFIXES.get(kind, 'ogg')}", recording.content, kind
        request = httpx2.Request("POST", "http://form.invalid", data=fields, files={"file": file})
        return request.read(), request.headers["content-type"]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._link.aclose()
