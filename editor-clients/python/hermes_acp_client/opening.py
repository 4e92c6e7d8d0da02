"""Connect to an agent: start a command, or use a stream to an agent that is already running."""

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
    """The program's user: questions and updates are passed to these callables.

    `on_permission(request)` returns the ID of the chosen option or a `Permission`; None means no, and so does a
    missing callable. `on_elicitation(request)` answers forms and pages; without it, the agent asks no such questions.
    If `on_update(session_id, update)` is given, it is called with every update, in order, and the sessions get none.
    `serves` maps further methods, such as those of `files.serve_files`, to callables that take the parameters and
    return the result. `capabilities` are announced in addition to those that follow from the callables.
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
    """Start the command, initialize the agent, and end it when the block ends.

    The command runs in its own process group, so that an interrupt at the terminal reaches only this program. `User`
    describes the callables. Raises AgentGone, AgentRefused, AgentSilent, WrongVersion.
    """
    user = user or User(on_permission, on_elicitation, serves=serves or {})
    async with adopt_agent(start_child(command, env), user=user) as agent:
        yield agent


@asynccontextmanager
async def adopt_agent(process: subprocess.Popen[bytes], *, user: User | None = None) -> AsyncGenerator[Agent]:
    """Initialize an agent that was started with three pipes, and end it when the block ends.

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
            group.cancel_scope.cancel()  # processes that the agent left running may hold its standard error open


@asynccontextmanager
async def attach_agent(stream: anyio.abc.ByteStream, *, user: User | None = None) -> AsyncGenerator[Agent]:
    """Talk to a running agent over a stream, such as a socket, which is closed when the block ends.

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
