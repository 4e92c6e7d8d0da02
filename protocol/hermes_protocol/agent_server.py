"""A base class for agents, whose methods are named after those of the protocol."""

import sys
import traceback
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar, cast
from uuid import uuid4

import anyio
import msgspec
from msgspec import Raw

from hermes_protocol import salvage, v1
from hermes_protocol.connection import Connection, IncomingRequest
from hermes_protocol.descriptors import claim
from hermes_protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, PeerError
from hermes_protocol.methods import METHODS
from hermes_protocol.shapes import Method
from hermes_protocol.transport import StdioTransport, Transport

T = TypeVar("T")
VERSION: Final = 1
NOTHING: Final = Raw(b"{}")
OF_AGENTS: Final = frozenset({"agent", "both"})
NAMES: Final[Mapping[Any, str]] = MappingProxyType(
    {method.params: method.name for method in METHODS.values() if method.side in ("client", "both")}
)
"""The wire name of each method that a client serves, by the type of its parameters."""


class AgentServer:
    """An agent that serves one client. Subclass it and define a method for each protocol method that the agent serves.

    A method is named after its wire name, with `_` for `/`, and takes the parameters of `hermes_protocol.methods`:
    `async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse`. Only `session_prompt` must be
    defined. Raise PeerError to answer with an error. If the client cancels a turn, the method is cancelled and this
    class answers the client.
    """

    name: ClassVar[str] = "agent"
    version: ClassVar[str] = "0"
    capabilities: ClassVar[v1.AgentCapabilities] = v1.AgentCapabilities()
    _connection: Connection
    _turns: dict[str, set[anyio.CancelScope]]

    async def initialize(self, params: v1.InitializeRequest) -> v1.InitializeResponse:
        """Introduce this agent."""
        about = v1.Implementation(name=self.name, version=self.version)
        return v1.InitializeResponse(
            protocol_version=VERSION, agent_capabilities=self.capabilities, agent_info=about
        )

    async def session_new(self, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
        """Create a session under a new ID."""
        return v1.NewSessionResponse(session_id=uuid4().hex)

    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        """Run a turn. Raises PeerError."""
        raise PeerError(METHOD_NOT_FOUND, f"{type(self).__name__} does not define session_prompt")

    async def extension(self, method: str, params: dict[str, Any]) -> object:
        """Serve a method whose name starts with `_`. Raises PeerError."""
        raise _no_such_method(method)

    def update(self, session_id: str, update: v1.SessionUpdate) -> None:
        """Send an update of a session; never blocks. Long streams should await `drained` from time to time."""
        self._connection.notify(
            "session/update", v1.SessionNotification(session_id=session_id, update=update)
        )

    def say(
        self, session_id: str, content: str | v1.ContentBlock, meta: dict[str, Any] | None = None
    ) -> None:
        """Send a part of the answer."""
        block = v1.TextContent(text=content) if isinstance(content, str) else content
        extra = msgspec.UNSET if meta is None else meta
        self.update(session_id, v1.AgentMessageChunk(content=block, meta=extra))

    async def drained(self) -> None:
        """Wait while the client lags too far behind."""
        await self._connection.drained()

    async def ask(self, params: msgspec.Struct, result_type: type[T], *, timeout_s: float | None = None) -> T:
        """Call the client's method for parameters of this type. Raises PeerError, PeerGone or TimeoutError."""
        method = NAMES[type(params)]
        return await self._connection.request(method, params, result_type, timeout_s=timeout_s)

    async def serve(self, transport: Transport) -> None:
        """Serve a client until it disconnects. Call this once."""
        self._turns = {}
        self._connection = Connection(transport, _Dispatch(self), on_bug=_print_bug)
        await self._connection.run()

    async def run_turn(self, params: v1.PromptRequest) -> v1.PromptResponse:
        """Run a turn so that the client can cancel it."""
        scope = anyio.CancelScope()
        turns = self._turns.setdefault(params.session_id, set())
        turns.add(scope)
        try:
            with scope:
                return await self.session_prompt(params)
        finally:
            turns.discard(scope)
        return v1.PromptResponse(stop_reason="cancelled")

    def cancel_turns(self, session_id: str) -> None:
        """Cancel the running turns of a session."""
        for scope in self._turns.get(session_id, ()):
            scope.cancel()


def run_agent(agent: AgentServer) -> None:
    """Serve the client that started this process, over standard input and output, until it disconnects."""
    transport_fds = claim()

    async def run() -> None:
        await agent.serve(StdioTransport(*transport_fds))

    anyio.run(run)


class _Dispatch:
    """Finds the agent's method for each call of the client. Implements `Handler`."""

    def __init__(self, agent: AgentServer) -> None:
        self._agent = agent

    async def request(self, call: IncomingRequest) -> object:
        """Serve a call."""
        if call.method.startswith("_"):
            return await self._agent.extension(call.method, self._plain(call.method, call.params))
        method = self._method(call.method)
        if method.result is None:
            raise _no_such_method(call.method)
        params = _decoded(method, call.params)
        if isinstance(params, v1.PromptRequest):
            return await self._agent.run_turn(params)
        return await self._serve(method, params)

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        """Handle a notification; one that the agent does not know is ignored."""
        if method.startswith("_"):
            return self._tell(method, params)
        known = METHODS.get(method)
        if known is None or known.side not in OF_AGENTS or known.result is not None:
            return None
        decoded = _decoded(known, params)
        if isinstance(decoded, v1.CancelNotification):
            self._agent.cancel_turns(decoded.session_id)
        return self._serve(known, decoded) if hasattr(self._agent, known.key) else None

    async def _tell(self, method: str, params: Raw) -> None:
        with suppress(PeerError):  # a notification has no response
            await self._agent.extension(method, self._plain(method, params))

    def _method(self, name: str) -> Method:
        method = METHODS.get(name)
        if method is None or method.side not in OF_AGENTS or not hasattr(self._agent, method.key):
            raise _no_such_method(name)
        return method

    async def _serve(self, method: Method, params: object) -> Any:
        return await getattr(self._agent, method.key)(params)

    def _plain(self, method: str, params: Raw) -> dict[str, Any]:
        plain: object = msgspec.json.decode(params or NOTHING)
        if not isinstance(plain, dict):
            raise PeerError(INVALID_PARAMS, f"The parameters of {method} must be an object.")
        return cast("dict[str, Any]", plain)


def _decoded(method: Method, params: Raw) -> object:
    try:
        return salvage.decode(method.params, params or NOTHING)
    except msgspec.MsgspecError as error:
        raise PeerError(INVALID_PARAMS, f"Wrong parameters for {method.name}: {error}") from error


def _no_such_method(name: str) -> PeerError:
    return PeerError(METHOD_NOT_FOUND, f"This agent has no method {name!r}.")


def _print_bug(error: BaseException, trace: str) -> None:
    """Write the traceback of an unexpected exception to standard error, for the agent's author."""
    sys.stderr.write(f"[{trace}] " + "".join(traceback.format_exception(error)))
