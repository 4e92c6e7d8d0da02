"""The asynchronous client: typed calls, and updates as values of `hermes_protocol.v1`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar, cast

import anyio
import msgspec
from msgspec import Raw

from hermes_acp_client.client_handler import ClientHandler
from hermes_acp_client.errors import AgentGone, AgentRefused, AgentSilent, refusal
from hermes_acp_client.session import Session
from hermes_protocol import salvage, v1
from hermes_protocol.connection import Connection
from hermes_protocol.errors import PeerError, PeerGone

T = TypeVar("T")
Opened = v1.NewSessionResponse | v1.LoadSessionResponse | v1.ResumeSessionResponse | v1.ForkSessionResponse

ANSWER_TIMEOUT_S: Final = 60.0


class Agent:
    """A running agent, returned by `open_agent` or `attach_agent`; `greeting` is its response to `initialize`."""

    def __init__(
        self, connection: Connection, handler: ClientHandler, exit_error: Callable[[], Awaitable[AgentGone]]
    ) -> None:
        self._connection = connection
        self._handler = handler
        self._exit_error = exit_error
        self._end = anyio.Event()
        self.greeting = v1.InitializeResponse(protocol_version=1)

    @property
    def accepts_partial_edits(self) -> bool:
        """Whether the agent accepts parts of an edit, and a comment, with an approval (`asking.Permission`)."""
        return bool(self.additions.get("edits"))

    @property
    def additions(self) -> dict[str, Any]:
        """The agent's protocol extensions: the `hermes` member of its capabilities' `_meta`."""
        capabilities = self.greeting.agent_capabilities
        meta = capabilities.meta if capabilities else None
        told = meta.get("hermes") if isinstance(meta, dict) else None
        return cast("dict[str, Any]", told) if isinstance(told, dict) else {}

    async def call(self, method: str, params: object, result: type[T], timeout_s: float | None = None) -> T:
        """Call any method, including extensions. Raises AgentRefused, AgentGone, AgentSilent."""
        try:
            raw = await self._connection.request(method, params, Raw, timeout_s=timeout_s)
            return salvage.decode(result, raw)
        except PeerError as error:
            raise refusal(method, error.code, error.message, error.data) from error
        except TimeoutError as error:
            raise AgentSilent(method, timeout_s or 0.0) from error
        except PeerGone as error:
            raise await self._exit_error() from error
        except msgspec.MsgspecError as error:
            raise AgentRefused(method, 0, f"the answer has an unexpected form: {error}") from error

    async def serve(self) -> None:
        """Read and answer until the connection ends. Call this once, when the connection is open."""
        try:
            await self._connection.run()
        finally:
            self._end.set()

    async def gone(self) -> None:
        """Wait until the agent ends. Raises AgentGone with its last output."""
        await self._end.wait()
        raise await self._exit_error()

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._connection.notify(method, params)

    async def new_session(self, cwd: str, mcp_servers: Sequence[v1.McpServer] = ()) -> Session:
        """Open a session in an absolute folder. Raises SignInNeeded if the agent has no model."""
        request = v1.NewSessionRequest(cwd=cwd, mcp_servers=[*mcp_servers])
        answer = await self.call("session/new", request, v1.NewSessionResponse, ANSWER_TIMEOUT_S)
        return self._session(answer.session_id, answer)

    async def load_session(self, session_id: str, cwd: str) -> Session:
        """Open a stored session; its history is replayed and can be read with `take_updates`."""
        request = v1.LoadSessionRequest(session_id=session_id, cwd=cwd, mcp_servers=[])
        answer = await self.call("session/load", request, v1.LoadSessionResponse, ANSWER_TIMEOUT_S)
        return self._session(session_id, answer)

    async def resume_session(self, session_id: str, cwd: str) -> Session:
        """Open a stored session without replaying its history."""
        request = v1.ResumeSessionRequest(session_id=session_id, cwd=cwd, mcp_servers=[])
        answer = await self.call("session/resume", request, v1.ResumeSessionResponse, ANSWER_TIMEOUT_S)
        return self._session(session_id, answer)

    async def fork_session(self, session_id: str, cwd: str, *, before: str = "") -> Session:
        """Open a copy of a session, which is part of the unstable protocol.

        The copy ends `before` the prompt with that message ID, if one is given.
        """
        meta = {"hermes": {"beforeMessage": before}} if before else v1.UNSET
        request = v1.ForkSessionRequest(session_id=session_id, cwd=cwd, mcp_servers=[], meta=meta)
        answer = await self.call("session/fork", request, v1.ForkSessionResponse, ANSWER_TIMEOUT_S)
        return self._session(answer.session_id, answer)

    async def delete_session(self, session_id: str) -> None:
        """Delete a stored session."""
        request = v1.DeleteSessionRequest(session_id=session_id)
        await self.call("session/delete", request, v1.DeleteSessionResponse, ANSWER_TIMEOUT_S)

    async def close_session(self, session_id: str) -> None:
        """Close an open session and stop its work; the session stays stored."""
        request = v1.CloseSessionRequest(session_id=session_id)
        await self.call("session/close", request, v1.CloseSessionResponse, ANSWER_TIMEOUT_S)

    async def list_sessions(self, cwd: str | None = None) -> list[v1.SessionInfo]:
        """List all stored sessions, newest first."""
        found: list[v1.SessionInfo] = []
        cursor: str | None = None
        while True:
            request = v1.ListSessionsRequest(cwd=cwd or v1.UNSET, cursor=cursor or v1.UNSET)
            answer = await self.call("session/list", request, v1.ListSessionsResponse, ANSWER_TIMEOUT_S)
            found.extend(answer.sessions)
            if not isinstance(answer.next_cursor, str):
                return found
            cursor = answer.next_cursor

    def _session(self, session_id: str, answer: Opened) -> Session:
        modes = answer.modes if isinstance(answer.modes, v1.SessionModeState) else None
        options = answer.config_options if isinstance(answer.config_options, list) else []
        return Session(self, session_id, self._handler.updates_of(session_id), modes, options)
