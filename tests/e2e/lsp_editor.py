"""An editor that speaks the Language Server Protocol: it sends what a test says and stores everything it receives."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from tests.e2e.agent_process import COMMAND, WAIT_S

Message = dict[str, Any]
Answer = Callable[[Message], Any]

PLAIN: Message = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
    },
}
"""The capabilities announced by a minimal editor such as eglot."""

RICH: Message = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
        "inlineCompletion": {"dynamicRegistration": True},
    },
}
"""The capabilities announced by VS Code, as far as they matter here."""


class Pipes:
    """One running server on the other end of two pipes; `answers` maps its own requests to results by method."""

    def __init__(self, process: anyio.abc.Process, answers: Mapping[str, Answer], errors: Path) -> None:
        self.process = process
        self.messages: list[Message] = []
        self.answers = dict(answers)
        self._errors = errors
        self._grown = anyio.Event()
        self._next_id = 0
        self._has_ended = False

    @property
    def errors(self) -> str:
        """Return what the server wrote to standard error so far."""
        return self._errors.read_text()

    async def read(self) -> None:
        """Receive messages until the server closes its output; anything but whole frames fails the test."""
        assert self.process.stdout
        rest = b""
        async for piece in self.process.stdout:
            rest += piece
            while b"\r\n\r\n" in rest:
                head, _, body = rest.partition(b"\r\n\r\n")
                name, _, size = head.partition(b": ")
                assert name == b"Content-Length", head
                if len(body) < int(size):
                    break
                rest = body[int(size) :]
                await self._take(json.loads(body[: int(size)]))
        assert rest == b"", rest[:200]
        self._has_ended = True
        self._wake()

    async def _take(self, message: Message) -> None:
        assert message["jsonrpc"] == "2.0"
        self.messages.append(message)
        self._wake()
        answer = self.answers.get(message.get("method", ""))
        if answer and "id" in message:
            await self.reply(message, answer(message["params"]))

    def _wake(self) -> None:
        grown, self._grown = self._grown, anyio.Event()
        grown.set()

    async def reply(self, message: Message, result: object) -> None:
        """Answer a request from the server."""
        await self.send({"id": message["id"], "result": result})

    async def send(self, message: Message) -> None:
        """Send one message."""
        await self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def send_bytes(self, body: bytes) -> None:
        """Send one frame."""
        assert self.process.stdin
        with anyio.fail_after(WAIT_S):
            await self.process.stdin.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def wait_for(self, matches: Callable[[Message], bool], *, behind: int = 0) -> Message:
        """Wait for the first message at position `behind` or later that matches."""
        with anyio.fail_after(WAIT_S):
            while True:
                for message in self.messages[behind:]:
                    if matches(message):
                        return message
                behind = len(self.messages)
                assert not self._has_ended, f"the server ended instead; it said: {self.errors[-3000:]}"
                await self._grown.wait()

    async def wait_for_method(self, method: str, *, behind: int = 0) -> Message:
        """Wait for a request or a notification from the server."""
        return await self.wait_for(lambda message: message.get("method") == method, behind=behind)

    async def begin(self, method: str, params: object) -> int:
        """Send a request without waiting; return its ID."""
        self._next_id += 1
        await self.send({"id": self._next_id, "method": method, "params": params})
        return self._next_id

    async def reply_to(self, call_id: int) -> Message:
        """Wait for the reply to a request."""
        return await self.wait_for(lambda message: "method" not in message and message.get("id") == call_id)

    async def call(self, method: str, params: object) -> Message:
        """Send a request and wait for its reply, result or error."""
        return await self.reply_to(await self.begin(method, params))

    async def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        await self.send({"method": method, "params": params})

    def sent(self, method: str) -> list[Message]:
        """Return the parameters of all messages of one method so far."""
        return [message["params"] for message in self.messages if message.get("method") == method]


class LspEditor(Pipes):
    """The requests that an editor sends to such a server."""

    async def initialize(self, folder: Path, capabilities: Message, options: object = None) -> Message:
        """Initialize the connection; return the server's capabilities."""
        params: Message = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
            "capabilities": capabilities,
        }
        if options is not None:
            params["initializationOptions"] = options
        reply = await self.call("initialize", params)
        await self.notify("initialized", {})
        return reply["result"]["capabilities"]

    async def open(self, path: Path, text: str, version: int = 1) -> str:
        """Open a document with some text; return its URI."""
        item = {"uri": path.as_uri(), "languageId": "python", "version": version, "text": text}
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return path.as_uri()

    async def change(self, uri: str, version: int, text: str) -> None:
        """Replace a document's text."""
        document = {"uri": uri, "version": version}
        await self.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
        )

    async def begin_command(self, name: str, target: Message, **more: object) -> int:
        """Start a command; return the request's ID."""
        params = {"command": f"hermes.{name}", "arguments": [target], **more}
        return await self.begin("workspace/executeCommand", params)

    async def command(self, name: str, target: Message, **more: object) -> Message:
        """Run a command; return the reply."""
        return await self.reply_to(await self.begin_command(name, target, **more))

    async def end(self) -> int:
        """Shut the server down normally; return its exit code."""
        await self.call("shutdown", None)
        await self.notify("exit", None)
        with anyio.fail_after(WAIT_S):
            return await self.process.wait()


def span(first: int, last: int, column: int = 0) -> Message:
    """Return a range of whole lines, from one to another, counted from 0."""
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": column}}


@asynccontextmanager
async def lsp_editor(
    environment: Mapping[str, str], scratch: Path, answers: Mapping[str, Answer] | None = None
) -> AsyncGenerator[LspEditor]:
    """Start `hermes-acp lsp`; end it at the end of the block, and fail the test if it has to be killed."""
    scratch.mkdir(parents=True, exist_ok=True)
    errors = scratch / "lsp-errors.txt"
    with errors.open("wb") as log:
        process = await anyio.open_process(
            [COMMAND, "lsp"], stdin=subprocess.PIPE, stderr=log, env=dict(environment), cwd=scratch
        )
    async with process, anyio.create_task_group() as tasks:
        editor = LspEditor(process, answers or {}, errors)
        tasks.start_soon(editor.read)
        try:
            yield editor
            assert process.stdin
            await process.stdin.aclose()
            with anyio.fail_after(WAIT_S):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
            tasks.cancel_scope.cancel()
