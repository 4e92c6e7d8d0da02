"""The interface between the server and a vendor's wire format."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from .requests import Asked
from .script import Fault, Reply

NOTES_BEHIND_PROMPTS = (
    "[The user's request resembles",
    "[Nothing of this session has been kept for later ones yet.",
)
"""The beginnings of the agent's notes about matching skills and about memory; a scripted model skips them."""
REQUEST_MARK = "Rq5tNr0mAk"
"""Placeholder in rendered IDs for the request's number, with the same length, so that rendered bytes can be reused."""


class Piece(msgspec.Struct, frozen=True):
    """The bytes of one event; `is_delta` if it contains a piece of text, thinking or tool arguments."""

    payload: bytes
    is_delta: bool = False


class Failure(msgspec.Struct, frozen=True):
    """An HTTP error response."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire(Protocol):
    """A vendor's format."""

    @property
    def vendor(self) -> str: ...

    @property
    def id_header(self) -> str:
        """Return the name of the response header that contains the request ID."""
        ...

    @property
    def stream_type(self) -> str:
        """Return the content type of a streamed answer."""
        ...

    @property
    def is_sealed(self) -> bool:
        """Return whether the bytes of an answer must stay as rendered; IDs then come from `asked.number`."""
        ...

    def read_request(self, body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
        """Read and check a request; raise BadRequestError if the vendor would refuse it. `:path` is the requested
        path.
        """
        ...

    def render_stream(self, reply: Reply, asked: Asked) -> list[Piece]:
        """Write the events of a streamed answer."""
        ...

    def render_whole(self, reply: Reply, asked: Asked) -> bytes:
        """Write an answer that is not streamed; raise ScriptError if the format cannot express it."""
        ...

    def render_failure(self, fault: Fault, asked: Asked) -> Failure:
        """Write the error response for `fault.status` and `fault.kind`."""
        ...

    def render_stream_error(self, fault: Fault, asked: Asked) -> bytes:
        """Write the event that reports an error after the response has started."""
        ...

    def render_models(self, models: tuple[str, ...]) -> bytes:
        """Write the list of models."""
        ...

    def render_model(self, model: str) -> bytes:
        """Write one model's entry."""
        ...


def cut_evenly(text: str, pieces: int) -> list[str]:
    """Split `text` into at most `pieces` parts, none of them empty."""
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def number_ids(payload: bytes, number: int) -> bytes:
    """Replace the placeholder in the rendered IDs with the request's number."""
    return payload.replace(REQUEST_MARK.encode(), b"%0*d" % (len(REQUEST_MARK), number))
