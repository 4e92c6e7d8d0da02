"""An agent as a class: which methods it serves, and how its turns are cancelled."""

from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from msgspec import Raw

from hermes_protocol import v1
from hermes_protocol.agent_server import AgentServer
from hermes_protocol.connection import Connection, IncomingRequest
from hermes_protocol.errors import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, PeerError
from hermes_protocol.transport import memory_pair

pytestmark = pytest.mark.anyio
NEW: dict[str, object] = {"cwd": "/", "mcpServers": []}
UNKNOWN: list[tuple[str, object]] = [
    ("_other", {}),
    ("_sum", []),
    ("nothing/known", {}),
    ("session/update", {}),
]


class Client:
    """The other side: answers one method, and stores what it receives."""

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes]] = []

    async def request(self, call: IncomingRequest) -> object:
        return {"content": f"text of {call.method}"}

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        self.received.append((method, bytes(params)))
        return None


class Reader(AgentServer):
    name = "reader"

    def __init__(self) -> None:
        self.is_running = anyio.Event()
        self.heard: list[str] = []

    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        [block] = params.prompt
        assert isinstance(block, v1.TextContent)
        if block.text == "wait":
            self.is_running.set()
            await anyio.sleep_forever()
        if block.text == "fail":
            raise KeyError(block.text)
        wanted = v1.ReadTextFileRequest(session_id=params.session_id, path=block.text)
        self.say(params.session_id, (await self.ask(wanted, v1.ReadTextFileResponse)).content)
        await self.drained()
        return v1.PromptResponse(stop_reason="end_turn")

    async def session_cancel(self, params: v1.CancelNotification) -> None:
        self.heard.append(params.session_id)

    async def extension(self, method: str, params: dict[str, Any]) -> object:
        if method == "_sum":
            return sum(params["numbers"])
        return await super().extension(method, params)


@asynccontextmanager
async def talk(agent: AgentServer) -> AsyncGenerator[tuple[Connection, Client]]:
    near, far = memory_pair()
    client = Client()
    connection = Connection(near, client, on_bug=lambda error, trace: None)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.serve, far)
            tasks.start_soon(connection.run)
            yield connection, client
            await connection.aclose()


def prompt(text: str) -> dict[str, Any]:
    return {"sessionId": "s", "prompt": [{"type": "text", "text": text}]}


async def test_an_agent_with_one_method_of_its_own_is_complete() -> None:
    async with talk(Reader()) as (connection, client):
        greeting = await connection.request("initialize", {"protocolVersion": 7}, v1.InitializeResponse)
        assert (greeting.protocol_version, greeting.agent_info) == (
            1,
            v1.Implementation(name="reader", version="0"),
        )
        first, second = [await connection.request("session/new", NEW, v1.NewSessionResponse) for _ in "12"]
        assert first.session_id != second.session_id
        answer = await connection.request("session/prompt", prompt("/a.py"), v1.PromptResponse)
        assert answer.stop_reason == "end_turn"
        [(method, update)] = client.received
        assert method == "session/update"
        assert b'"text of fs/read_text_file"' in update


async def test_a_cancelled_turn_is_answered_and_the_next_one_runs() -> None:
    agent = Reader()
    async with talk(agent) as (connection, _):
        answers: list[v1.PromptResponse] = []
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                answers.append(await connection.request("session/prompt", prompt("wait"), v1.PromptResponse))

            tasks.start_soon(ask)
            await agent.is_running.wait()
            connection.notify("session/cancel", {"sessionId": "another"})
            connection.notify("session/cancel", {"sessionId": "s"})
        assert [answer.stop_reason for answer in answers] == ["cancelled"]
        assert agent.heard == ["another", "s"]
        answer = await connection.request("session/prompt", prompt("/b"), v1.PromptResponse)
        assert answer.stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("method", "params", "code", "words"),
    [
        ("session/load", {"sessionId": "s", **NEW}, METHOD_NOT_FOUND, "no method 'session/load'"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/a"}, METHOD_NOT_FOUND, "no method"),
        ("session/cancel", {"sessionId": "s"}, METHOD_NOT_FOUND, "no method"),
        ("say", {}, METHOD_NOT_FOUND, "no method 'say'"),
        ("_unknown", {}, METHOD_NOT_FOUND, "no method '_unknown'"),
        ("_sum", [1], INVALID_PARAMS, "must be an object"),
        ("session/prompt", {"sessionId": 1, "prompt": []}, INVALID_PARAMS, "sessionId"),
        ("session/prompt", prompt("fail"), INTERNAL_ERROR, ""),
    ],
)
async def test_unsupported_requests_are_errors(method: str, params: object, code: int, words: str) -> None:
    async with talk(Reader()) as (connection, _):
        with pytest.raises(PeerError) as raised:
            await connection.request(method, params, dict[str, Any])
        assert raised.value.code == code
        assert words in raised.value.message


async def test_unknown_extensions_and_notifications() -> None:
    async with talk(Reader()) as (connection, _):
        for method, params in UNKNOWN:
            connection.notify(method, params)
        assert await connection.request("_sum", {"numbers": [1, 2]}, int) == 3
