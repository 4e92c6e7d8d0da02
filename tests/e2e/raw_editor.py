"""An editor that sends JSON lines as a test says and stores everything it receives."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc

from tests.e2e.agent_process import COMMAND, WAIT_S

Message = dict[str, Any]
Answer = Callable[[Message], Any]
Matches = Callable[[Message], bool]

LOCAL: Message = {"protocolVersion": 1, "clientCapabilities": {}}


def permit(option_id: str) -> Answer:
    """Answer every permission request with one option."""
    return lambda params: {"outcome": {"outcome": "selected", "optionId": option_id}}


class RawEditor:
    """One running agent on the other end of two pipes.

    `answers` maps the agent's own requests to results by method; other requests stay unanswered. Every message is
    stored in `messages` in reading order. An unset event as `may_read` simulates an editor that hangs: output stays in
    the pipe.
    """

    def __init__(self, process: anyio.abc.Process, answers: Mapping[str, Answer], errors: Path) -> None:
        self.process = process
        self.messages: list[Message] = []
        self.has_ended = anyio.Event()
        self._answers = answers
        self._errors = errors
        self._grown = anyio.Event()
        self.may_read = anyio.Event()
        self.may_read.set()
        self._next_id = 0

    @property
    def errors(self) -> str:
        """Return what the agent wrote to standard error so far."""
        return self._errors.read_text()

    async def read(self) -> None:
        """Receive messages until the agent closes its output; a line that is not a JSON object fails the test."""
        assert self.process.stdout
        rest = b""
        async for piece in self.process.stdout:
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                message = json.loads(line)
                assert isinstance(message, dict), line[:200]
                await self._take(cast("Message", message))
            await self.may_read.wait()
        assert rest == b"", f"the agent's last line is not ended: {rest[:200]!r}"
        self.has_ended.set()
        self._wake()

    async def _take(self, message: Message) -> None:
        assert message["jsonrpc"] == "2.0"
        self.messages.append(message)
        answer = self._answers.get(message.get("method", ""))
        if answer and "id" in message:
            result = answer(message["params"])
            failed = isinstance(result, dict) and "error" in result
            reply: Message = cast("Message", result) if failed else {"result": cast("object", result)}
            await self.send({"jsonrpc": "2.0", "id": message["id"], **reply})
        self._wake()

    def _wake(self) -> None:
        grown, self._grown = self._grown, anyio.Event()
        grown.set()

    async def send(self, message: object) -> None:
        """Send one message."""
        await self.send_bytes(json.dumps(message).encode() + b"\n")

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin
        with anyio.fail_after(WAIT_S):
            await self.process.stdin.send(data)

    async def wait_for(self, matches: Matches, *, behind: int = 0) -> Message:
        """Wait for the first message at position `behind` or later that matches."""
        with anyio.fail_after(WAIT_S):
            while True:
                for message in self.messages[behind:]:
                    if matches(message):
                        return message
                behind = len(self.messages)
                assert not self.has_ended.is_set(), f"the agent ended instead; it said: {self.errors[-2000:]}"
                await self._grown.wait()

    async def begin(self, method: str, params: object, call_id: object = None) -> object:
        """Send a request without waiting; return its ID."""
        if call_id is None:
            self._next_id += 1
            call_id = self._next_id
        await self.send({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params})
        return call_id

    async def _reply_to(self, call_id: object) -> Message:
        """Wait for the reply to a request."""
        return await self.wait_for(lambda m: "method" not in m and m.get("id") == call_id)

    async def call(self, method: str, params: object, call_id: object = None) -> Message:
        """Send a request and wait for its reply, result or error."""
        return await self._reply_to(await self.begin(method, params, call_id))

    async def open_session(self, cwd: Path) -> str:
        """Create a session; return its ID."""
        reply = await self.call("session/new", {"cwd": str(cwd), "mcpServers": []})
        assert "result" in reply, reply
        return str(reply["result"]["sessionId"])

    async def prompt(self, session_id: str, text: str) -> Message:
        """Run one turn; return the reply."""
        return await self.call("session/prompt", prompt_params(session_id, text))

    async def begin_prompt(self, session_id: str, text: str) -> object:
        """Start one turn; return the request's ID."""
        return await self.begin("session/prompt", prompt_params(session_id, text))

    def updates(self, kind: str = "", session_id: str = "", until: Message | None = None) -> list[Message]:
        """Return the session updates so far, or those until a message, in order."""
        messages = self.messages if until is None else self.messages[: self.messages.index(until)]
        found = [m["params"] for m in messages if m.get("method") == "session/update"]
        return [
            params["update"]
            for params in found
            if params["update"].get("sessionUpdate", "").startswith(kind)
            and session_id in ("", params["sessionId"])
        ]

    def said(self, session_id: str = "") -> str:
        """Join the text of the answer so far."""
        return "".join(
            update["content"]["text"] for update in self.updates("agent_message_chunk", session_id)
        )

    async def wait_for_update(self, matches: Matches) -> Message:
        """Wait for a session update that matches; return it."""
        found = await self.wait_for(
            lambda m: m.get("method") == "session/update" and matches(m["params"]["update"])
        )
        return found["params"]["update"]

    async def leave(self) -> int:
        """Close the agent's input, like an editor that quits; return its exit code."""
        assert self.process.stdin
        await self.process.stdin.aclose()
        with anyio.fail_after(WAIT_S):
            await self.has_ended.wait()
            return await self.process.wait()


def prompt_params(session_id: str, text: str) -> Message:
    """Return the parameters for a prompt with one text."""
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}


def outcome_text(update: Message) -> str:
    """Return what the model was told, from the update that ended a call."""
    return str(update["rawOutput"]["text"])


@asynccontextmanager
async def editor(
    environment: Mapping[str, str],
    scratch: Path,
    *,
    answers: Mapping[str, Answer] | None = None,
    greeting: object = LOCAL,
    cwd: Path | None = None,
    command: Sequence[str] = (COMMAND,),
) -> AsyncGenerator[RawEditor]:
    """Start the agent and initialize it (unless `greeting` is None); kill it at the end if it is still running."""
    scratch.mkdir(parents=True, exist_ok=True)
    errors = scratch / f"stderr-{len(list(scratch.glob('stderr-*')))}"
    with errors.open("wb") as stderr:
        process = await anyio.open_process(
            command, stdin=subprocess.PIPE, stderr=stderr, env=dict(environment), cwd=cwd or scratch
        )
    async with process, anyio.create_task_group() as tasks:
        one = RawEditor(process, answers or {}, errors)
        tasks.start_soon(one.read)
        try:
            if greeting is not None:
                reply = await one.call("initialize", greeting)
                assert reply["result"]["protocolVersion"] == 1, reply
            yield one
        finally:
            if process.returncode is None:
                process.kill()
            tasks.cancel_scope.cancel()
