"""Choose the stream on which each message is sent to a client.

Source: the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hermes_protocol.envelope import Request, RequestId

GREETING: Final = "\0greeting"
"""The session ID that routes the only reply sent as an HTTP response; no header can contain it."""

ANSWERED_ON_THE_CONNECTION: Final = frozenset(
    {"session/new", "session/load", "session/resume", "session/fork", "session/attach"}
)
CLOSES_ITS_SESSION: Final = frozenset(
    {"session/close", "session/delete", "session/archive", "session/detach"}
)


class _Outgoing(Struct):
    id: RequestId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET


class _Named(Struct, rename="camel"):
    session_id: str | None = None


class StreamRoute(Struct, frozen=True):
    """The stream of a session or of the connection (None); `is_last` means that nothing follows on it.

    `behind` is the session whose earlier messages must be read first: a replay precedes the reply to session/load,
    although they use different streams.
    """

    session_id: str | None
    is_last: bool = False
    behind: str | None = None


class Routes:
    """Tracks the routes of one connection's replies."""

    def __init__(self) -> None:
        self._expected: dict[RequestId, StreamRoute] = {}

    def expect(self, request: Request) -> bool:
        """Record the route for the reply to a request; return False if the request's ID is still in use."""
        if request.id in self._expected:
            return False
        self._expected[request.id] = _route_of_reply(request)
        return True

    def find(self, frame: bytes) -> StreamRoute:
        """Return the route of an outgoing message; forget the route of a reply, which is sent once."""
        message = msgspec.json.decode(frame, type=_Outgoing)
        if message.method is UNSET:
            return self._route_of(message.id)
        return StreamRoute(session_in(message.params) if message.params is not UNSET else None)

    def _route_of(self, reply_id: RequestId | UnsetType | None) -> StreamRoute:
        """Return the route of a reply; a reply without a request, such as to invalid JSON, goes to the connection."""
        return (
            StreamRoute(None)
            if reply_id is None or reply_id is UNSET
            else self._expected.pop(reply_id, StreamRoute(None))
        )


def session_in(params: Raw) -> str | None:
    """Return the session ID in a message's parameters, or None."""
    try:
        return msgspec.json.decode(params, type=_Named).session_id
    except (msgspec.DecodeError, RecursionError):
        return None


def _route_of_reply(request: Request) -> StreamRoute:
    if request.method == "initialize":
        return StreamRoute(GREETING)
    if request.method in ANSWERED_ON_THE_CONNECTION:
        return StreamRoute(None, behind=session_in(request.params))
    return StreamRoute(session_in(request.params), is_last=request.method in CLOSES_ITS_SESSION)
