"""The connections of one serving process: each a client with its own desk, over one house.

Knows: when a client is away, for how long it may be, what its end means for its sessions. Does not know:
HTTP, WebSocket.
"""

import secrets
from typing import TYPE_CHECKING, Final, Literal

import anyio
from msgspec import Struct

from hermes_acp.assembly.house import House
from hermes_acp.core.errors import HermesError
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.hall import Hall
from hermes_acp.faces.acp.handler import Dispatch
from hermes_acp.faces.acp.http.claims import Claims, Turnstile
from hermes_acp.faces.acp.http.routes import Routes
from hermes_acp.faces.acp.http.transport import DetachableTransport, Room
from hermes_acp.faces.acp.server import attend
from hermes_protocol.connection import Connection, Limits

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

Kind = Literal["http", "websocket"]
FLUSH_S: Final = 0.6


class Patience(Struct, frozen=True):
    """How long, and for how many, this server waits.

    `absence_s` is how long a client may have no stream open before its connection ends; `greeting_s` how long it may
    take to initialize; `stall_s` how long it may take none of what is being written to it; `keepalive_s` how often a
    silent stream is written to; `body_s` how long one request may take to arrive.
    """

    absence_s: float = 60.0
    greeting_s: float = 30.0
    stall_s: float = 30.0
    keepalive_s: float = 15.0
    body_s: float = 60.0
    connections: int = 256
    bodies_bytes: int = 256 << 20


class TooMany(Exception):
    """No further connection is taken: there are too many, or the server is stopping."""


class Visit:
    """One client's connection, from initialize to its end, whatever becomes of its streams in between."""

    def __init__(
        self, kind: Kind, house: House, hall: Hall, claims: Claims, patience: Patience, room: Room
    ) -> None:
        self.id = secrets.token_hex(16)
        self.kind: Kind = kind
        self.routes = Routes()
        self.transport = DetachableTransport(self.routes if kind == "http" else None, room)
        self.desk = Desk(hall)
        self.may_resume = kind == "http"
        self._house = house
        self._claims = claims
        self._patience = patience
        handler = Turnstile(Dispatch(self.desk), claims, self)
        self._connection = Connection(
            self.transport, handler, on_bug=house.report_bug, limits=Limits(flush_s=FLUSH_S)
        )
        self.is_ending = False
        self._streams = 0
        self._moved = anyio.Event()
        self._ended = anyio.Event()

    @property
    def is_away(self) -> bool:
        """Whether the client has no stream open."""
        return self._streams == 0

    def arrive(self) -> None:
        """Note that the client opened a stream."""
        self._streams += 1
        self.stir()

    def leave(self) -> None:
        """Note that a stream of the client's is gone; one that may not come back ends the connection."""
        self._streams -= 1
        self.stir()
        if self.is_away and not self.may_resume:
            self.end_soon()

    def stir(self) -> None:
        """Note a sign of life."""
        moved, self._moved = self._moved, anyio.Event()
        moved.set()

    def end_soon(self) -> None:
        """Begin to end: what runs is cancelled, what is queued is given to the client if it reads it now."""
        self.is_ending = True
        self._connection.close_soon()

    async def end(self) -> None:
        """End and wait until the sessions are free."""
        self.end_soon()
        await self._ended.wait()

    async def run(self) -> None:
        """Serve the client until it leaves, is away for too long, or the server stops; then let its sessions go."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._await_greeting)
                tasks.start_soon(self._watch_absence)
                await attend(self._connection, self._house, self.desk)
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                for session_id in self._claims.held_by(self):
                    await self._let_go(session_id)
            self._ended.set()

    async def _let_go(self, session_id: str) -> None:
        """A record that cannot be closed properly is no reason to end the other clients."""
        try:
            await self._house.sessions.close(session_id)
        except HermesError as error:
            self._house.report_bug(error, self.id[:12])
        finally:
            self._claims.let_go(session_id, self)

    async def _await_greeting(self) -> None:
        await anyio.sleep(self._patience.greeting_s)
        if self.desk.greeted is None:
            self.end_soon()

    async def _watch_absence(self) -> None:
        """The only clock that ends an initialized connection: nobody is there, and nothing comes, for absence_s."""
        while True:
            moved = self._moved
            if not self.is_away:
                await moved.wait()
                continue
            with anyio.move_on_after(self._patience.absence_s) as scope:
                await moved.wait()
            if scope.cancelled_caught:
                self.end_soon()
                return


class Visits:
    """Every connection there is, by its id."""

    def __init__(
        self, house: House, tasks: "TaskGroup", patience: Patience | None = None, room: Room | None = None
    ) -> None:
        self.patience = patience or Patience()
        self._house = house
        self._tasks = tasks
        self._room = room or Room()
        self._claims = Claims()
        self._hall = Hall()
        self._visits: dict[str, Visit] = {}
        self.is_stopping = False

    def begin(self, kind: Kind) -> Visit:
        """Take a new connection. Raises TooMany."""
        if self.is_stopping or len(self._visits) >= self.patience.connections:
            raise TooMany
        visit = Visit(kind, self._house, self._hall, self._claims, self.patience, self._room)
        self._visits[visit.id] = visit
        self._tasks.start_soon(self._run, visit)
        return visit

    def find(self, visit_id: str) -> Visit | None:
        """Give a connection that has not ended."""
        return self._visits.get(visit_id)

    async def stop(self) -> None:
        """Take nobody new, end everybody, wait until all are gone."""
        self.is_stopping = True
        async with anyio.create_task_group() as tasks:
            for visit in tuple(self._visits.values()):
                tasks.start_soon(visit.end)

    async def _run(self, visit: Visit) -> None:
        try:
            await visit.run()
        finally:
            del self._visits[visit.id]
