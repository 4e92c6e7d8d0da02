"""A client connected to the app, and the registry of all connected clients."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hermes_acp.core.errors import SessionNotFound
from hermes_acp.core.event_types import Diff
from hermes_acp.frontends.acp.connection.mcp_tunnel import McpTunnel
from hermes_acp.frontends.acp.connection.shared_frames import SharedFrames
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import v1

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyio.abc import TaskGroup

    from hermes_acp.app.app import App
    from hermes_acp.config.environment import Environment
    from hermes_acp.sessions.session import Session
    from hermes_protocol import v2
    from hermes_protocol.connection import Connection


MAX_NAME_LENGTH = 60
UNNAMED_CLIENT = "client"


class ConnectionRegistry:
    """The clients connected to one app."""

    def __init__(self) -> None:
        self._clients: dict[int, ClientConnection] = {}
        self.frames = SharedFrames()

    @property
    def clients(self) -> "tuple[ClientConnection, ...]":
        """The open connections, in the order in which they were opened."""
        return tuple(self._clients.values())

    def enter(self, client: "ClientConnection") -> None:
        """Add a newly opened connection."""
        self._clients[id(client)] = client

    def leave(self, client: "ClientConnection") -> None:
        """Remove a closing connection."""
        self._clients.pop(id(client), None)


class ClientConnection:
    """One client connected to the app."""

    app: "App"
    connection: "Connection"

    def __init__(self, registry: ConnectionRegistry | None = None) -> None:
        self.registry = registry or ConnectionRegistry()
        self.greeted: v1.InitializeRequest | v2.InitializeRequest | None = None
        self.version = 0
        self.offers_unstable = self.offers_draft_v2 = self.offers_speech = False
        self.last_auth_status: object = None
        self.is_under_way = False
        self.environment: Environment | None = None
        """The environment of the client's own process, if it is not this one. The client's commands run with it."""
        self.is_away = False
        """Whether the client has lost its connection and may reconnect."""
        self.asked_diffs: dict[tuple[str, str], tuple[Diff, ...]] = {}
        """The large diffs that questions have shown this client, by session ID and call ID, until the call ends."""
        self.turns_of_others: dict[str, str] = {}
        """The running turn that this client did not start but was notified of, by session ID."""
        self.mcp_tunnel = McpTunnel(lambda: self.connection)
        self.peer_id = ""
        """The suffix that distinguishes this client from others with the same name, created when needed.

        The client can choose its own.
        """
        self._tasks: TaskGroup | None = None

    def open(self, app: "App", connection: "Connection", tasks: "TaskGroup") -> None:
        """Attach the app, the connection, and the task group for work that outlives the response to a request."""
        self.app = app
        switches = self.environment or app
        self.offers_unstable, self.offers_draft_v2 = switches.offers_unstable, switches.offers_draft_v2
        if not self.greeted:  # otherwise, the response to initialize has already announced this
            self.offers_speech = app.voice_service.is_offered()
        self.connection = connection
        self._tasks = tasks
        self.registry.enter(self)
        app.mcp_manager.is_attended = True
        self._expect_questions()

    def close(self) -> None:
        """Leave the registry, so that this client is no longer notified."""
        self.registry.leave(self)

    @property
    def variables(self) -> "Mapping[str, str] | None":
        """The environment variables for the client's commands; None means those of this process."""
        return self.environment.variables if self.environment else None

    @property
    def name(self) -> str:
        """The client's display name."""
        greeted = self.greeted
        told = greeted.client_info if isinstance(greeted, v1.InitializeRequest) else greeted and greeted.info
        if not told:
            return UNNAMED_CLIENT
        from hermes_acp.core.untrusted_text import plain

        return plain(told.title or told.name, MAX_NAME_LENGTH)

    @property
    def is_reachable(self) -> bool:
        """Whether a request sent now would reach the client."""
        return self.connection.is_open and not self.is_away

    @property
    def capabilities(self) -> v1.ClientCapabilities:
        """The capabilities of a version 1 client; empty for other clients and before initialize."""
        announced = (
            self.greeted.client_capabilities if isinstance(self.greeted, v1.InitializeRequest) else None
        )
        return announced or v1.ClientCapabilities()

    @property
    def announced(self) -> "v1.ClientCapabilities | v2.ClientCapabilities | None":
        """The announced capabilities, in the wire types of the negotiated version; None before initialize."""
        match self.greeted:
            case None:
                return None
            case v1.InitializeRequest():
                return self.capabilities
            case request:
                return request.capabilities or None

    @property
    def takes_plan_updates(self) -> bool:
        """Whether to send plans with IDs: a version 1 client supports them, and unstable features are enabled."""
        return self.offers_unstable and bool(self.capabilities.plan)

    @property
    def takes_subagents(self) -> bool:
        """Whether to show child agents as sessions: a version 1 client supports it, and unstable features are on."""
        return self.offers_unstable and bool(self.capabilities.subagents)

    @property
    def can_ask(self) -> bool:
        """Whether the client can show forms or pages to its user."""
        elicitation = self.announced and self.announced.elicitation
        return bool(elicitation and (elicitation.form or elicitation.url))

    def greet(self, version: int, request: "v1.InitializeRequest | v2.InitializeRequest") -> None:
        """Store the negotiated version and the client's initialize request."""
        self.version = version
        self.greeted = request
        self._expect_questions()

    def _expect_questions(self) -> None:
        """Tell the MCP manager if this client can ask its user. `initialize` may arrive before or after `open`."""
        if self._tasks and self.can_ask:
            self.app.mcp_manager.expect_questions()

    def session(self, session_id: str) -> "Session":
        """Return the open session with this ID. Raises SessionNotFound."""
        if session := self.app.sessions.get(session_id):
            return session
        raise SessionNotFound(
            errors.no_open_session(session_id),
            session_id=session_id,
            hint=errors.NO_SESSION_HINT,
        )

    def after_answer(self, work: Callable[[], None]) -> None:
        """Run `work` as soon as the response to the current request is queued."""
        assert self._tasks, "a connection is open before it serves"

        async def do() -> None:
            work()

        self._tasks.start_soon(do)

    def run_beyond_answer(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` in the background; it may outlast the current request, but not the connection."""
        assert self._tasks, "a connection is open before it serves"

        async def do() -> None:
            await self.connection.see_through(work())

        self._tasks.start_soon(do)
