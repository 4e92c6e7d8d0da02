"""What the methods of one connection share.

Knows: the app, the wire, what the client announced. Does not know: any method.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hermes_acp.core.errors import SessionNotFound
from hermes_acp.frontends.acp.connection.mcp_tunnel import McpTunnel
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import v1

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from hermes_acp.app.app import App
    from hermes_acp.sessions.session import Session
    from hermes_protocol import v2
    from hermes_protocol.connection import Connection


class ConnectionRegistry:
    """The clients connected to one app."""

    def __init__(self) -> None:
        self._clients: dict[int, ClientConnection] = {}

    @property
    def clients(self) -> "tuple[ClientConnection, ...]":
        """The open connections, in the order they were opened."""
        return tuple(self._clients.values())

    def enter(self, client: "ClientConnection") -> None:
        """Add a connection that was opened."""
        self._clients[id(client)] = client

    def leave(self, client: "ClientConnection") -> None:
        """Remove a connection that is closing."""
        self._clients.pop(id(client), None)


class ClientConnection:
    """One client connected to the app."""

    app: "App"
    connection: "Connection"

    def __init__(self, registry: ConnectionRegistry | None = None) -> None:
        self.registry = registry or ConnectionRegistry()
        self.greeted: v1.InitializeRequest | v2.InitializeRequest | None = None
        self.version = 0
        self.offers_unstable = False
        self.auth_told: object = None
        self.is_under_way = False
        self.server_line = McpTunnel(lambda: self.connection)
        self._tasks: TaskGroup | None = None

    def open(self, app: "App", connection: "Connection", tasks: "TaskGroup") -> None:
        """Give the connection its app, its wire, and the group that owns what goes on after an answer."""
        self.app = app
        self.offers_unstable = app.offers_unstable
        self.connection = connection
        self._tasks = tasks
        self.registry.enter(self)
        app.mcp_manager.is_attended = True
        self._expect_questions()

    def close(self) -> None:
        """Leave the registry: this client is notified of nothing more."""
        self.registry.leave(self)

    @property
    def capabilities(self) -> v1.ClientCapabilities:
        """What a client of version 1 announced; nothing before it did."""
        announced = (
            self.greeted.client_capabilities if isinstance(self.greeted, v1.InitializeRequest) else None
        )
        return announced or v1.ClientCapabilities()

    @property
    def announced(self) -> "v1.ClientCapabilities | v2.ClientCapabilities | None":
        """What the client announced, in the words of the version it speaks; nothing before it did."""
        match self.greeted:
            case None:
                return None
            case v1.InitializeRequest():
                return self.capabilities
            case request:
                return request.capabilities or None

    @property
    def takes_plan_updates(self) -> bool:
        """Whether a client of version 1 announced, and is offered, plans with an identity."""
        return self.offers_unstable and bool(self.capabilities.plan)

    @property
    def takes_subagents(self) -> bool:
        """Whether a client of version 1 announced, and is offered, the sessions of child agents."""
        return self.offers_unstable and bool(self.capabilities.subagents)

    @property
    def can_ask(self) -> bool:
        """Whether the client puts questions to its user, in a form or on a page."""
        ways = self.announced and self.announced.elicitation
        return bool(ways and (ways.form or ways.url))

    def greet(self, version: int, request: "v1.InitializeRequest | v2.InitializeRequest") -> None:
        """Note the version that was agreed on, and what the client said of itself."""
        self.version = version
        self.greeted = request
        self._expect_questions()

    def _expect_questions(self) -> None:
        """Tell the app of a client that can ask; one is greeted before or after its connection is opened."""
        if self._tasks and self.can_ask:
            self.app.mcp_manager.expect_questions()

    def session(self, session_id: str) -> "Session":
        """Return an open session. Raises SessionNotFound."""
        if session := self.app.sessions.get(session_id):
            return session
        raise SessionNotFound(
            errors.no_open_session(session_id),
            session_id=session_id,
            hint=errors.NO_SESSION_HINT,
        )

    def after_answer(self, work: Callable[[], None]) -> None:
        """Do something right behind the answer that is being made."""
        assert self._tasks, "a connection is open before it serves"

        async def do() -> None:
            work()

        self._tasks.start_soon(do)

    def go_on(self, work: Callable[[], Awaitable[None]]) -> None:
        """Let work outlive the answer of the call that began it; it ends with the connection at the latest."""
        assert self._tasks, "a connection is open before it serves"

        async def do() -> None:
            await self.connection.see_through(work())

        self._tasks.start_soon(do)
