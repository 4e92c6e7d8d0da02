"""How an agent is reached: a command that is started, or a stream to one that runs already.

Knows: the greeting, what the agent is told of this side, the end of a conversation. Does not know: sessions.
"""

import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import anyio.abc
from msgspec import Struct

from hermes_acp_client.agent import Agent
from hermes_acp_client.answers import capabilities_of
from hermes_acp_client.asking import OnElicitation, OnPermission
from hermes_acp_client.child import start_child
from hermes_acp_client.client_handler import ClientHandler, OnUpdate, Serve
from hermes_acp_client.errors import AgentGone, WrongVersion
from hermes_acp_client.tasks import task_group
from hermes_acp_client.transport import ChildTransport, StreamTransport
from hermes_protocol import v1
from hermes_protocol.connection import Connection
from hermes_protocol.transport import Transport

GREETING_TIMEOUT_S: Final = 60.0
VERSION: Final = 1
CLIENT_NAME: Final = "hermes-acp-client"


class User(Struct, frozen=True):
    """Who stands behind the program: what is asked and told goes to these callables.

    `on_permission(request)` gives the id of the chosen option or a `Permission`; None, and no callable at all, is a no.
    `on_elicitation(request)` answers forms and pages; without it the agent asks nothing of the kind.
    `on_update(session_id, update)` is called with every update in its order, which then does not reach the sessions.
    `serves` maps further methods, such as those of `files.serve_files`, to callables from params to result.
    `capabilities` are told beside those that follow from all this.
    """

    on_permission: OnPermission | None = None
    on_elicitation: OnElicitation | None = None
    on_update: OnUpdate | None = None
    serves: Mapping[str, Serve] = {}
    capabilities: Mapping[str, Any] = {}
    name: str = CLIENT_NAME


@asynccontextmanager
async def open_agent(
    command: Sequence[str] = ("hermes-acp",),
    *,
    env: Mapping[str, str] | None = None,
    on_permission: OnPermission | None = None,
    on_elicitation: OnElicitation | None = None,
    serves: Mapping[str, Serve] | None = None,
    user: User | None = None,
) -> AsyncGenerator[Agent]:
    """Start the command, initialize it, and end it with the block.

    It runs in a process group of its own, so that an interrupt at the terminal reaches this program alone. The
    callables are those of `User`, which has them all. Raises AgentGone, AgentRefused, AgentSilent, WrongVersion.
    """
    user = user or User(on_permission, on_elicitation, serves=serves or {})
    async with adopt_agent(start_child(command, env), user=user) as agent:
        yield agent


@asynccontextmanager
async def adopt_agent(process: subprocess.Popen[bytes], *, user: User | None = None) -> AsyncGenerator[Agent]:
    """Initialize an agent that was started with its three streams in pipes, and end it with the block.

    `child.start_child` starts one before there is an event loop. Raises AgentGone, AgentRefused, AgentSilent,
    WrongVersion.
    """
    child = ChildTransport(process)
    async with task_group() as group:
        group.start_soon(child.keep_stderr)
        try:
            async with _converse(child, child.exit_error, user or User()) as agent:
                yield agent
        finally:
            group.cancel_scope.cancel()  # what the agent leaves running may hold its standard error open


@asynccontextmanager
async def attach_agent(stream: anyio.abc.ByteStream, *, user: User | None = None) -> AsyncGenerator[Agent]:
    """Talk to an agent that runs already, over a stream such as a socket; the stream is closed with the block.

    Raises AgentGone, AgentRefused, AgentSilent, WrongVersion.
    """

    async def exit_error() -> AgentGone:
        return AgentGone("the agent closed the stream")

    async with _converse(StreamTransport(stream), exit_error, user or User()) as agent:
        yield agent


@asynccontextmanager
async def _converse(
    transport: Transport, exit_error: Callable[[], Awaitable[AgentGone]], user: User
) -> AsyncGenerator[Agent]:
    handler = ClientHandler(user.on_permission, user.on_elicitation, user.serves, user.on_update)
    async with task_group() as group:
        connection = Connection(transport, handler, on_bug=handler.keep_bug)
        agent = Agent(connection, handler, exit_error)
        group.start_soon(agent.serve)
        try:
            request = {
                "protocolVersion": VERSION,
                "clientCapabilities": _capabilities(user),
                "clientInfo": {"name": user.name, "version": "1"},
            }
            agent.greeting = await agent.call(
                "initialize", request, v1.InitializeResponse, GREETING_TIMEOUT_S
            )
            if agent.greeting.protocol_version != VERSION:
                raise WrongVersion(agent.greeting.protocol_version, VERSION)
            yield agent
        finally:
            with anyio.CancelScope(shield=True):
                await connection.aclose()
    if handler.bugs:
        raise handler.bugs[0]


def _capabilities(user: User) -> dict[str, Any]:
    told: dict[str, Any] = {**capabilities_of(user.serves), "_meta": {"hermes": {"edits": True}}}
    if user.on_elicitation is not None:
        told["elicitation"] = {"form": {}, "url": {}}
    return {**told, **user.capabilities}
