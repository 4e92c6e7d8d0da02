"""Serve a running script: perform its calls and report what it printed.

Lines travel over a live process's input and output, so a script can run wherever commands can. Only a small window
of a process's output is buffered between two reads, so the runner never sends more than one unanswered
part.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import anyio

from hermes_acp.core.ports.workspace_ports import CommandResult, LiveProcess
from hermes_acp.core.proposals import Result
from hermes_acp.tools.scripts.runner import MAX_MESSAGE_CHARS, TOO_LARGE

MIN_POLL_INTERVAL_S: Final = 0.005
MAX_POLL_INTERVAL_S: Final = 0.25
MAX_LINE_BYTES: Final = 64 * 1024
MAX_NOISE_CHARS: Final = 4000
REFUSED: Final = "This script has made {most} calls, the limit for one script."

Call = Callable[[str, str], Awaitable[Result]]


class ScriptCallServer:
    """Serve one running script."""

    def __init__(self, process: LiveProcess, task: object, call: Call, most_calls: int) -> None:
        """Serve a process that runs the runner.

        `task` is sent to it at its first request; the callback performs calls.
        """
        self._process = process
        self._task = task
        self._call = call
        self._most_calls = most_calls
        self._rest = ""
        self._message = ""
        self.calls = 0
        self.printed: str | None = None
        self.outcome: dict[str, Any] | None = None
        """The outcome of the task, if the runner reports one."""
        self.noise = ""
        """Output that did not come from the runner, such as a shell's message that Python is missing."""

    async def run(self) -> CommandResult:
        """Answer requests until the process has ended."""
        wait_s = MIN_POLL_INTERVAL_S
        while True:
            sight = await self._process.read(wait_s)
            wait_s = MIN_POLL_INTERVAL_S if sight.output else min(2 * wait_s, MAX_POLL_INTERVAL_S)
            *lines, self._rest = (self._rest + sight.output).split("\n")
            if len(self._rest) > MAX_LINE_BYTES:
                lines, self._rest = [*lines, self._rest], ""
            for line in lines:
                await self._take(line)
            if sight.end is not None:
                self._hear(self._rest)
                return sight.end
            await anyio.lowlevel.checkpoint()

    async def _take(self, line: str) -> None:
        if not line.startswith(("+", "=")):
            self._hear(line)
            return
        if len(self._message) <= MAX_MESSAGE_CHARS:
            self._message += line[1:].rstrip("\r")
        if line.startswith("+"):
            await self._process.write("\n")
            return
        text, self._message = self._message, ""
        if len(text) > MAX_MESSAGE_CHARS:
            await self._answer_with(Result(TOO_LARGE, is_error=True))
            return
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            await self._answer(cast("dict[str, Any]", message))
        else:
            self._hear(line)

    async def _answer(self, message: dict[str, Any]) -> None:
        match message:
            case {"ready": True}:
                await self._reply(self._task)
            case {"call": str(name), "arguments": dict()}:
                self.calls += 1
                if self.calls > self._most_calls:
                    result = Result(REFUSED.format(most=self._most_calls), is_error=True)
                else:
                    result = await self._call(name, json.dumps(message["arguments"]))
                await self._answer_with(result)
            case {"outcome": dict()}:
                self.outcome = message["outcome"]
            case {"printed": str(text)}:
                self.printed = text
            case _:
                self._hear(json.dumps(message))

    async def _answer_with(self, result: Result) -> None:
        await self._reply({"text": result.text, "is_error": result.is_error})

    async def _reply(self, answer: object) -> None:
        await self._process.write(json.dumps(answer) + "\n")

    def _hear(self, line: str) -> None:
        self.noise = f"{self.noise}{line}\n"[-MAX_NOISE_CHARS:]
