"""A real `hermes-acp serve` process, and raw clients of it over HTTP with event streams and over WebSocket."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import httpx2
import websockets
from websockets.asyncio.client import ClientConnection, connect

from tests.e2e.agent_process import COMMAND, WAIT_S

Message = dict[str, Any]
Answer = Callable[[Message], Any]
Matches = Callable[[Message], bool]

TOKEN = "a-token-for-the-tests-0123456789"
BEARER = {"authorization": f"Bearer {TOKEN}"}
GREETING: Message = {"protocolVersion": 1, "clientCapabilities": {}}


class Serving:
    """One running server."""

    def __init__(self, process: anyio.abc.Process, url: str, errors: Path) -> None:
        self.process = process
        self.url = url
        self._errors = errors

    @property
    def errors(self) -> str:
        """Return its standard error."""
        return self._errors.read_text()

    async def wait(self) -> int:
        """Return the exit code."""
        with anyio.fail_after(WAIT_S):
            return await self.process.wait()


@asynccontextmanager
async def serving(
    environment: Mapping[str, str], scratch: Path, *flags: str, token: str = TOKEN, before: Sequence[str] = ()
) -> AsyncGenerator[Serving]:
    """Start a server on a free port; kill it at the end if it still runs."""
    scratch.mkdir(parents=True, exist_ok=True)
    errors = scratch / "serve-stderr"
    variables = {**environment, **({"HERMES_SERVE_TOKEN": token} if token else {})}
    process = await anyio.open_process(
        [*before, COMMAND, "serve", "--listen", "127.0.0.1:0", *flags],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=variables,
        cwd=scratch,
    )
    async with process, anyio.create_task_group() as tasks:
        said = _Said(process, errors)
        tasks.start_soon(said.keep)
        try:
            yield Serving(process, await said.url(), errors)
        finally:
            if process.returncode is None:
                process.kill()
            tasks.cancel_scope.cancel()


class _Said:
    """Standard error, stored in a file in which the address is searched for."""

    def __init__(self, process: anyio.abc.Process, errors: Path) -> None:
        self._process = process
        self._errors = errors
        self._errors.write_bytes(b"")
        self._grown = anyio.Event()

    async def keep(self) -> None:
        assert self._process.stderr
        async for piece in self._process.stderr:
            with self._errors.open("ab") as file:
                file.write(piece)
            self._grown.set()
            self._grown = anyio.Event()

    async def url(self) -> str:
        with anyio.fail_after(WAIT_S):
            while True:
                for line in self._errors.read_text().splitlines(keepends=True):
                    if line.startswith("hermes-acp serves ") and line.endswith("\n"):
                        return line.split()[-1]
                await self._grown.wait()


class Client:
    """Shared parts of both kinds of client: messages in order of arrival, replies, answers to the agent's requests."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.messages: list[Message] = []
        self._answers = answers or {}
        self._grown = anyio.Event()
        self._next_id = 0

    async def send(self, message: Message) -> None:
        """Send one message."""
        raise NotImplementedError

    async def take(self, message: Message) -> None:
        """Store a message; answer it if it is a request that this client knows."""
        assert message["jsonrpc"] == "2.0"
        self.messages.append(message)
        answer = self._answers.get(message.get("method", ""))
        if answer and "id" in message:
            await self.send({"jsonrpc": "2.0", "id": message["id"], "result": answer(message["params"])})
        grown, self._grown = self._grown, anyio.Event()
        grown.set()

    async def wait_for(self, matches: Matches) -> Message:
        """Wait for the first message that matches."""
        with anyio.fail_after(WAIT_S):
            seen = 0
            while True:
                for message in self.messages[seen:]:
                    if matches(message):
                        return message
                seen = len(self.messages)
                await self._grown.wait()

    async def begin(self, method: str, params: object) -> int:
        """Send a request; return its ID."""
        self._next_id += 1
        call_id = self._next_id
        await self.send({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params})
        return call_id

    async def reply_to(self, call_id: int) -> Message:
        """Wait for a reply."""
        return await self.wait_for(lambda m: "method" not in m and m.get("id") == call_id)

    async def call(self, method: str, params: object) -> Message:
        """Send a request and wait for its reply."""
        return await self.reply_to(await self.begin(method, params))

    async def open_session(self, cwd: Path) -> str:
        """Create a session; return its ID."""
        reply = await self.call("session/new", {"cwd": str(cwd), "mcpServers": []})
        assert "result" in reply, reply
        return str(reply["result"]["sessionId"])

    async def begin_prompt(self, session_id: str, text: str) -> int:
        """Start a turn; return the request's ID."""
        return await self.begin(
            "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        )

    async def prompt(self, session_id: str, text: str) -> Message:
        """Run a turn; return the reply."""
        return await self.reply_to(await self.begin_prompt(session_id, text))

    async def cancel(self, session_id: str) -> None:
        """Stop the turn."""
        await self.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})

    def said(self, session_id: str) -> str:
        """Join the text of the answers so far."""
        return "".join(
            m["params"]["update"]["content"]["text"]
            for m in self.messages
            if m.get("method") == "session/update"
            and m["params"]["sessionId"] == session_id
            and m["params"]["update"].get("sessionUpdate") == "agent_message_chunk"
        )

    async def hear(self, session_id: str, words: str) -> None:
        """Wait until the answer so far ends with these words."""
        await self.wait_for(lambda _: self.said(session_id).endswith(words))


class HttpClient(Client):
    """Posts messages; listens on one stream for the connection and one for each session."""

    def __init__(
        self,
        url: str,
        http: httpx2.AsyncClient,
        tasks: anyio.abc.TaskGroup,
        answers: Mapping[str, Answer] | None,
    ) -> None:
        super().__init__(answers)
        self.url = url
        self.http = http
        self.connection: dict[str, str] = {}
        self.places: dict[str | None, int] = {}
        self._next_places: dict[str | None, int] = {}
        self.ended: set[str | None] = set()
        self._asked: dict[int, str] = {}
        self._tasks = tasks
        self._scopes: dict[str | None, anyio.CancelScope] = {}

    async def greet(self) -> Message:
        """Open a connection and listen on its stream."""
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": GREETING}
        response = await self.http.post(self.url, json=body)
        assert response.status_code == 200, response.text
        self.connection = {"acp-connection-id": response.headers["acp-connection-id"]}
        await self.listen(None)
        return response.json()

    async def send(self, message: Message) -> None:
        response = await self.post(message)
        assert response.status_code == 202, response.text

    async def post(self, message: Message, **headers: str) -> httpx2.Response:
        """Post a message with the required headers and any others given."""
        session_id = message.get("params", {}).get("sessionId") or self._asked.get(message.get("id", -1))
        named = {"acp-session-id": session_id} if session_id else {}
        if message.get("method") in ("session/load", "session/attach") and session_id not in self._scopes:
            await self.listen(session_id)
        return await self.http.post(self.url, json=message, headers={**self.connection, **named, **headers})

    async def listen(self, session_id: str | None, after: int | None = None) -> None:
        """Open the stream of a session or of the connection; return when it is open."""
        named = {"acp-session-id": session_id} if session_id else {}
        place = {} if after is None else {"last-event-id": str(after)}
        headers = {**self.connection, **named, **place, "accept": "text/event-stream"}
        await self._tasks.start(self._follow, session_id, headers)

    async def _follow(
        self, session_id: str | None, headers: dict[str, str], *, task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        with anyio.CancelScope() as scope:
            self._scopes[session_id] = scope
            async with self.http.stream("GET", self.url, headers=headers, timeout=None) as response:
                assert response.status_code == 200, await response.aread()
                assert response.headers["content-type"] == "text/event-stream"
                task_status.started()
                async for line in response.aiter_lines():
                    await self._take_line(session_id, line)
            self.ended.add(session_id)
            self._grown.set()

    async def _take_line(self, session_id: str | None, line: str) -> None:
        field, _, value = line.partition(": ")
        if field == "id":
            self._next_places[session_id] = int(value)
        elif field == "data":
            with anyio.CancelScope(shield=True):  # A stream lost now has already delivered this message.
                await self._take_data(session_id, json.loads(value))
            if session_id in self._next_places:
                self.places[session_id] = self._next_places.pop(session_id)

    async def _take_data(self, session_id: str | None, message: Message) -> None:
        begun = message.get("result", {}).get("sessionId") if "result" in message else None
        if begun and begun not in self._scopes:
            await self.listen(begun)
        if "method" in message and "id" in message and session_id:
            self._asked[message["id"]] = session_id
        await self.take(message)

    def drop(self, session_id: str | None) -> None:
        """Drop a stream without notice."""
        self._scopes.pop(session_id).cancel()

    def drop_all(self) -> None:
        """Drop every stream."""
        for session_id in tuple(self._scopes):
            self.drop(session_id)


@asynccontextmanager
async def http_client(
    url: str, answers: Mapping[str, Answer] | None = None, *, http2: bool = False, token: str = TOKEN
) -> AsyncGenerator[HttpClient]:
    """Yield a client with a connection."""
    async with (
        httpx2.AsyncClient(
            headers={"authorization": f"Bearer {token}"}, http1=not http2, http2=http2, timeout=WAIT_S
        ) as http,
        anyio.create_task_group() as tasks,
    ):
        client = HttpClient(url, http, tasks, answers)
        await client.greet()
        yield client
        tasks.cancel_scope.cancel()


class SocketClient(Client):
    """Sends everything over one WebSocket."""

    def __init__(self, socket: ClientConnection, answers: Mapping[str, Answer] | None) -> None:
        super().__init__(answers)
        self.socket = socket
        self.has_ended = anyio.Event()

    @property
    def connection_id(self) -> str:
        """Return the connection's ID."""
        assert self.socket.response
        return self.socket.response.headers["acp-connection-id"]

    async def send(self, message: Message) -> None:
        await self.socket.send(json.dumps(message))

    async def follow(self) -> None:
        """Receive messages until the socket closes."""
        try:
            async for text in self.socket:
                assert isinstance(text, str)
                await self.take(json.loads(text))
        except websockets.ConnectionClosedError:
            pass
        self.has_ended.set()

    def drop(self) -> None:
        """Break the connection without notice."""
        self.socket.transport.abort()


@asynccontextmanager
async def socket_client(
    url: str, answers: Mapping[str, Answer] | None = None, *, token: str = TOKEN, **headers: str
) -> AsyncGenerator[SocketClient]:
    """Yield a client whose socket is open but not initialized."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    address = url.replace("http://", "ws://")
    async with (
        connect(
            address,
            additional_headers={"authorization": f"Bearer {token}", **more},
            max_size=None,
            open_timeout=WAIT_S,
        ) as socket,
        anyio.create_task_group() as tasks,
    ):
        client = SocketClient(socket, answers)
        tasks.start_soon(client.follow)
        yield client
        tasks.cancel_scope.cancel()
