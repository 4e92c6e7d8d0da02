"""The asynchronous client: typed calls, updates as values of `hermes_protocol.v1`.

Knows: starting the agent, opening and finding sessions, answering the agent's requests. Does not know: an
editor.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar, cast

import anyio
import msgspec
from msgspec import Raw

from hermes_acp_client.answers import capabilities_of, outcome_of, refuse
from hermes_acp_client.errors import AgentGone, AgentRefused, AgentSilent
from hermes_acp_client.session import Session, UpdateQueue
from hermes_acp_client.tasks import task_group
from hermes_acp_client.transport import ChildTransport, start_child
from hermes_protocol import salvage, v1
from hermes_protocol.connection import Connection, IncomingRequest
from hermes_protocol.errors import METHOD_NOT_FOUND, PeerError, PeerGone

T = TypeVar("T")
JsonObject = dict[str, Any]
OnPermission = Callable[[JsonObject], Awaitable[str | None]]
Serve = Callable[[JsonObject], Awaitable[JsonObject | None]]

ANSWER_TIMEOUT_S: Final = 60.0
CLIENT_NAME: Final = "hermes-acp-client"


class Agent:
    """A running agent, made by `open_agent`."""

    def __init__(self, connection: Connection, desk: "_Desk", child: ChildTransport) -> None:
        self._connection = connection
        self._desk = desk
        self._child = child
        self.greeting: v1.InitializeResponse | None = None

    async def call(self, method: str, params: object, result: type[T], timeout_s: float | None = None) -> T:
        """Call any method. Raises AgentRefused, AgentGone, AgentSilent."""
        try:
            raw = await self._connection.request(method, params, Raw, timeout_s=timeout_s)
            return salvage.decode(result, raw)
        except PeerError as error:
            raise AgentRefused(method, error.code, error.message, error.data) from error
        except TimeoutError as error:
            raise AgentSilent(method, timeout_s or 0.0) from error
        except PeerGone as error:
            raise await self._child.obituary() from error
        except msgspec.MsgspecError as error:
            raise AgentRefused(method, 0, f"the answer does not fit: {error}") from error

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._connection.notify(method, params)

    async def new_session(self, cwd: str) -> Session:
        """Open a session in an absolute folder."""
        request = v1.NewSessionRequest(cwd=cwd, mcp_servers=[])
        answer = await self.call("session/new", request, v1.NewSessionResponse, ANSWER_TIMEOUT_S)
        return self._session(answer.session_id, answer.modes)

    async def load_session(self, session_id: str, cwd: str) -> Session:
        """Open a stored session; what it held is replayed and waits in its `take_updates`."""
        request = v1.LoadSessionRequest(session_id=session_id, cwd=cwd, mcp_servers=[])
        answer = await self.call("session/load", request, v1.LoadSessionResponse, ANSWER_TIMEOUT_S)
        return self._session(session_id, answer.modes)

    async def list_sessions(self, cwd: str | None = None) -> list[v1.SessionInfo]:
        """List stored sessions, newest first, following every page."""
        found: list[v1.SessionInfo] = []
        cursor: str | None = None
        while True:
            request = v1.ListSessionsRequest(cwd=cwd or v1.UNSET, cursor=cursor or v1.UNSET)
            answer = await self.call("session/list", request, v1.ListSessionsResponse, ANSWER_TIMEOUT_S)
            found.extend(answer.sessions)
            if not isinstance(answer.next_cursor, str):
                return found
            cursor = answer.next_cursor

    def _session(self, session_id: str, modes: v1.SessionModeState | v1.UnsetType | None) -> Session:
        known = modes if isinstance(modes, v1.SessionModeState) else None
        return Session(self, session_id, self._desk.updates_of(session_id), known)


@asynccontextmanager
async def open_agent(
    command: Sequence[str] = ("hermes-acp",),
    *,
    env: Mapping[str, str] | None = None,
    on_permission: OnPermission | None = None,
    serves: Mapping[str, Serve] | None = None,
) -> AsyncGenerator[Agent]:
    """Start the command, initialize it, and end it with the block.

    `on_permission(request)` gives the id of the chosen option; None, and no callable at all, is a no.
    `serves` maps further methods, such as `fs/read_text_file`, to callables from params to result; the
    agent is told of them. Raises AgentGone, AgentRefused, AgentSilent.
    """
    served = dict(serves or {})
    desk = _Desk(on_permission, served)
    async with await start_child(command, env) as process, task_group() as group:
        child = ChildTransport(process, command[0])
        connection = Connection(child, desk, on_bug=desk.keep_bug)
        group.start_soon(child.keep_stderr)
        group.start_soon(connection.run)
        agent = Agent(connection, desk, child)
        try:
            agent.greeting = await _initialize(agent, served)
            yield agent
        finally:
            with anyio.CancelScope(shield=True):
                await connection.aclose()
    if desk.bugs:
        raise desk.bugs[0]


async def _initialize(agent: Agent, served: Mapping[str, Serve]) -> v1.InitializeResponse:
    request = {
        "protocolVersion": 1,
        "clientCapabilities": capabilities_of(served),
        "clientInfo": {"name": CLIENT_NAME, "version": "1"},
    }
    return await agent.call("initialize", request, v1.InitializeResponse, ANSWER_TIMEOUT_S)


class _Desk:
    """Takes what the agent sends."""

    def __init__(self, on_permission: OnPermission | None, serves: Mapping[str, Serve]) -> None:
        self._on_permission = on_permission
        self._serves = serves
        self._queues: dict[str, UpdateQueue] = {}
        self.bugs: list[BaseException] = []

    def updates_of(self, session_id: str) -> UpdateQueue:
        """Give the queue of one session; updates may arrive before the session is known by its answer."""
        return self._queues.setdefault(session_id, UpdateQueue())

    def keep_bug(self, error: BaseException, trace: str) -> None:
        """Keep what a callable of ours should not have raised; it is raised at the end of the block."""
        del trace
        self.bugs.append(error)

    async def request(self, call: IncomingRequest) -> object:
        """Serve a request of the agent."""
        params = cast("JsonObject", msgspec.json.decode(call.params))
        if call.method == "session/request_permission":
            chosen = await self._on_permission(params) if self._on_permission else refuse(params)
            return outcome_of(params, chosen)
        if call.method not in self._serves:
            raise PeerError(METHOD_NOT_FOUND, f"the client does not serve {call.method}")
        return await self._serves[call.method](params) or {}

    def notification(self, method: str, params: Raw) -> None:
        """Take an update; other notifications, and updates of a kind we do not know, are let go."""
        if method == "session/update":
            try:
                told = salvage.decode(v1.SessionNotification, params)
            except msgspec.ValidationError:
                return
            self.updates_of(told.session_id).put(told.update)


__all__ = ["Agent", "AgentGone", "AgentRefused", "AgentSilent", "open_agent"]
