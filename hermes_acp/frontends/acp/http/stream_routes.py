"""Choose the stream of a client for each message.

Source: the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hermes_protocol.envelope import Request, RequestId

GREETING: Final = "\0greeting"
"""The route of the only reply sent as an HTTP response: no header can name it."""

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
    """A stream of one session or of the connection (None), and whether nothing more follows on it.

    `behind` is the session whose earlier messages should be read first: the replay of a load precedes its reply,
    although the two use different streams.
    """

    session_id: str | None
    is_last: bool = False
    behind: str | None = None


class Routes:
    """The routes of one connection's replies."""

    def __init__(self) -> None:
        self._expected: dict[RequestId, StreamRoute] = {}

    def expect(self, request: Request) -> bool:
        """Note a request's reply route; return False if its ID is still in use."""
        if request.id in self._expected:
            return False
        self._expected[request.id] = _route_of_reply(request)
        return True

    def find(self, frame: bytes) -> StreamRoute:
        """Return the route of an outgoing message; a reply's route is used up by this."""
        message = msgspec.json.decode(frame, type=_Outgoing)
        if message.method is UNSET:
            return self._route_of(message.id)
        return StreamRoute(session_in(message.params) if message.params is not UNSET else None)

    def _route_of(self, reply_id: RequestId | UnsetType | None) -> StreamRoute:
        """Return the route of a reply; one without a request, such as for invalid JSON, goes to the connection."""
        return (
            StreamRoute(None)
            if reply_id is None or reply_id is UNSET
            else self._expected.pop(reply_id, StreamRoute(None))
        )


def session_in(params: Raw) -> str | None:
    """Return the session that parameters name, if any."""
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
