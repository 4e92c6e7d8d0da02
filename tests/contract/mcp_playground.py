"""MCP servers in child processes, and calls to their tools like those of a turn."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from hermes_acp.core.event_types import EventContext, PlanEntry
from hermes_acp.core.proposals import Confinement, Effect, Question, Reply, Result
from hermes_acp.mcp.server_definitions import (
    HttpServer,
    ServerContext,
    ServerSpec,
    ServerTimeouts,
    SseServer,
    StdioServer,
)
from hermes_acp.mcp.server_pool import McpServerPool
from tests.unit.tools.tool_calling import MemoryWorkspace

EXAMPLE = Path(__file__).with_name("mcp_example.py")
WAIT_S = 60.0
QUICK = ServerTimeouts(waits_s=(0.01, 0.01), connect_s=60)


class Reports:
    """Reports and questions of a running call; `heard` is set by the first report. `reply` answers each question."""

    session_id = "ses_present"
    event_context = EventContext("ses_present", "turn_1", 0.0)
    prompts: tuple[str, ...] = ()
    trace_parent = ""
    confinement: Confinement = "usual"

    def __init__(self, reply: Reply | None = None) -> None:
        self.said = ""
        self.asked: list[Question] = []
        self.reply = reply
        self.heard = anyio.Event()

    def output(self, text: str) -> None:
        self.said += text
        self.heard.set()

    def terminal(self, terminal_id: str) -> None:
        raise AssertionError(terminal_id)

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        raise AssertionError(entries)

    def allows(self, *effects: Effect) -> bool:
        return False

    async def inquire(self, question: Question) -> Reply | None:
        self.asked.append(question)
        self.heard.set()
        return self.reply


class Playground:
    """Running servers, with a folder in which the example records what happens."""

    def __init__(self, servers: McpServerPool, place: Path, changes: list[int]) -> None:
        self.servers = servers
        self.place = place
        self.changes = changes

    @property
    def events(self) -> list[str]:
        noted = self.place / "events.txt"
        return noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []

    async def call(self, name: str, reports: Reports | None = None, **arguments: Any) -> Result:
        tool: Any = self.servers.tools()[name]
        proposal = await tool.propose(arguments, MemoryWorkspace())
        return await proposal.perform(reports or Reports())


def python_server(code: str, name: str = "odd") -> StdioServer:
    """Return a server written in a few lines of Python."""
    return StdioServer(name, sys.executable, ("-c", code))


def example(place: Path, name: str = "example", **env: str) -> StdioServer:
    return StdioServer(name, sys.executable, (str(EXAMPLE), "stdio", str(place)), tuple(env.items()))


@asynccontextmanager
async def at_work(
    place: Path, *specs: ServerSpec, timeouts: ServerTimeouts = QUICK, clean: Any = str, **variables: str
) -> AsyncGenerator[Playground]:
    """Run servers and wait until each has been tried once."""
    surroundings = ServerContext(str(place), (str(place),), variables, place / "logs", clean, can_ask=True)
    async with playing(place, surroundings, *specs, timeouts=timeouts) as playground:
        yield playground


@asynccontextmanager
async def playing(
    place: Path, surroundings: ServerContext, *specs: ServerSpec, timeouts: ServerTimeouts
) -> AsyncGenerator[Playground]:
    """Run servers in a given environment and wait until each has been tried once."""
    changes: list[int] = []
    servers = McpServerPool(specs, surroundings, lambda: changes.append(len(changes)), timeouts)
    with anyio.fail_after(2 * WAIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(servers.run)
            try:
                await servers.settled()
                yield Playground(servers, place, changes)
            finally:
                with anyio.CancelScope(shield=True):
                    await servers.close()


@asynccontextmanager
async def listening(kind: str, place: Path, port: int = 0) -> AsyncGenerator[HttpServer | SseServer]:
    """Start the example over HTTP or SSE and return how to reach it."""
    command = [sys.executable, str(EXAMPLE), kind, str(place), str(port)]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout
            with anyio.fail_after(WAIT_S):
                line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 100)
            address = f"http://127.0.0.1:{int(line)}"
            yield (
                HttpServer("example", f"{address}/mcp")
                if kind == "http"
                else SseServer("example", f"{address}/sse")
            )
        finally:
            with suppress(ProcessLookupError):
                process.kill()
