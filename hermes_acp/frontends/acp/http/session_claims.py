"""Which connection each open session belongs to: one at a time, as between processes.

Calls that name sessions create, open and release them.
If a client lost its connection and requests its session on a new one, the lost connection is ended.
"""

from collections.abc import Awaitable
from typing import Final, Protocol

from msgspec import Raw

from hermes_acp.core.errors import Busy
from hermes_acp.frontends.acp.connection.error_replies import to_peer_error
from hermes_acp.frontends.acp.http.stream_routes import session_in
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol.connection import Handler, IncomingRequest

OPENING_METHODS: Final = frozenset({"session/load", "session/resume"})
CREATING_METHODS: Final = frozenset({"session/new", "session/fork"})
RELEASING_METHODS: Final = frozenset({"session/close", "session/delete", "session/archive"})
READING_METHODS: Final = frozenset({"session/status"})


class ClaimHolder(Protocol):
    """A connection that may hold sessions."""

    @property
    def is_away(self) -> bool:
        """Whether the client has no stream open."""
        ...

    async def end(self) -> None:
        """End the connection and wait until its sessions are free."""
        ...


class SessionClaims:
    """The sessions that this process's connections have open."""

    def __init__(self) -> None:
        self._holders: dict[str, ClaimHolder] = {}

    def take(self, session_id: str, holder: ClaimHolder) -> None:
        """Note a session that no other connection holds."""
        self._holders[session_id] = holder

    def let_go(self, session_id: str, holder: ClaimHolder) -> None:
        """Forget a session if it belongs to this connection."""
        if self._holders.get(session_id) is holder:
            del self._holders[session_id]

    def held_by(self, holder: ClaimHolder) -> tuple[str, ...]:
        """Return a connection's sessions."""
        return tuple(session_id for session_id, other in self._holders.items() if other is holder)

    def is_free_for(self, session_id: str, holder: ClaimHolder) -> bool:
        """Return whether no other connection holds the session."""
        return self._holders.get(session_id, holder) is holder

    async def take_over(self, session_id: str, holder: ClaimHolder) -> None:
        """Take a session, from a connection whose client is away if necessary. Raise Busy."""
        while not self.is_free_for(session_id, holder):
            other = self._holders[session_id]
            if not other.is_away:
                raise Busy(
                    errors.open_elsewhere(session_id),
                    hint=errors.BUSY_ELSEWHERE_HINT,
                )
            await other.end()
        self._holders[session_id] = holder


class SessionGuard:
    """Admit only a connection's calls to its own sessions."""

    def __init__(self, dispatch: Handler, claims: SessionClaims, holder: ClaimHolder) -> None:
        self._dispatch = dispatch
        self._claims = claims
        self._holder = holder

    async def request(self, call: IncomingRequest) -> object:
        """Serve a call. Raise PeerError."""
        session_id = session_in(call.params)
        if session_id is None:
            return self._note(call.method, await self._dispatch.request(call))
        if call.method in OPENING_METHODS:
            return await self._open(call, session_id)
        if call.method not in READING_METHODS and not self._claims.is_free_for(session_id, self._holder):
            raise to_peer_error(Busy(errors.open_elsewhere(session_id)))
        result = self._note(call.method, await self._dispatch.request(call))
        if call.method in RELEASING_METHODS:
            self._claims.let_go(session_id, self._holder)
        return result

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        """Handle a notification; one about another client's session is dropped."""
        session_id = session_in(params)
        if session_id is not None and not self._claims.is_free_for(session_id, self._holder):
            return None
        return self._dispatch.notification(method, params)

    async def _open(self, call: IncomingRequest, session_id: str) -> object:
        had_it = session_id in self._claims.held_by(self._holder)
        try:
            await self._claims.take_over(session_id, self._holder)
        except Busy as error:
            raise to_peer_error(error) from error
        is_open = had_it
        try:
            result = await self._dispatch.request(call)
            is_open = True
        finally:
            if not is_open:
                self._claims.let_go(session_id, self._holder)
        return result

    def _note(self, method: str, result: object) -> object:
        begun = getattr(result, "session_id", None) if method in CREATING_METHODS else None
        if isinstance(begun, str):
            self._claims.take(begun, self._holder)
        return result
