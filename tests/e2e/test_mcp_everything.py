"""The reference MCP server, `server-everything`, as an editor configures it: started and stopped with the session."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.foreign_clients import OWN_NODE
from tests.e2e.raw_editor import LOCAL, editor, outcome_text, permit, prompt_params
from tests.model_server import Reply, ToolCall, serve
from tests.ports import quiet_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="the processes are looked up in /proc"),
]
EVERYTHING = Path(__file__).parent / "mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
MARK = "HERMES_TEST_EVERYTHING"


def node(*, is_required: bool) -> str:
    found = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
    if found and EVERYTHING.exists():
        return found
    complaint = "server-everything or a Node to run it is not installed; tests/install.sh installs both"
    if is_required:
        pytest.fail(complaint)
    pytest.skip(complaint)


def marked_processes(mark: str) -> list[str]:
    """List the processes that have the variable given to the server."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in variables:
            found.append(folder.name)
    return found


@asynccontextmanager
async def over_http(program: str) -> AsyncGenerator[str]:
    """Run the server over HTTP on a free port and return its address once it listens."""
    port = quiet_port()
    process = await anyio.open_process(
        [program, str(EVERYTHING), "streamableHttp"],
        env={"PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    async with process:
        try:
            with anyio.fail_after(WAIT_S):
                while True:
                    try:
                        async with await anyio.connect_tcp("127.0.0.1", port):
                            break
                    except OSError:
                        await anyio.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def offers_its_prompts(update: dict[str, Any]) -> bool:
    return any(each["name"].startswith("everything:") for each in update.get("availableCommands", ()))


async def converse(tmp_path: Path, server: dict[str, Any]) -> None:
    """Initialize and open a session at once, have the model call two tools, and leave."""
    calls = (
        ToolCall("mcp__everything__echo", {"message": "hello out there"}, id="c1"),
        ToolCall("mcp__everything__get-sum", {"a": 2, "b": 40}, id="c2"),
    )
    answers = {"session/request_permission": permit("allow_once")}
    async with serve([Reply("I call.", tool_calls=calls), Reply("Done.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with editor(environment, tmp_path, answers=answers, greeting=None) as one:
            params = {"cwd": str(tmp_path), "mcpServers": [server]}
            opening = [
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": LOCAL},
                {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": params},
            ]
            await one.send_bytes("".join(f"{json.dumps(frame)}\n" for frame in opening).encode())
            opened = await one.wait_for(lambda m: m.get("id") == 2)
            session = opened["result"]["sessionId"]
            await one.wait_for_update(offers_its_prompts)
            reply = await one.call("session/prompt", prompt_params(session, "call them"), 3)
            assert reply["result"]["stopReason"] == "end_turn", reply
            ends = [u for u in one.updates("tool_call_update") if u.get("status") == "completed"]
            told = [outcome_text(update) for update in ends]
            assert sum("hello out there" in text for text in told) == 1
            assert sum(bool(re.search(r"\b42\b", text)) for text in told) == 1
            assert all("untrusted" in text for text in told)
            assert await one.leave() == 0


async def test_the_server_over_stdio(tmp_path: Path, require_all: bool) -> None:
    program = node(is_required=require_all)
    server = {
        "name": "everything", "command": program, "args": [str(EVERYTHING), "stdio"],
        "env": [{"name": MARK, "value": tmp_path.name}],
    }  # fmt: skip
    await converse(tmp_path, server)
    assert marked_processes(tmp_path.name) == []
    assert (tmp_path / ".hermes" / "logs" / "mcp" / "everything.log").exists()


async def test_the_server_over_http(tmp_path: Path, require_all: bool) -> None:
    async with over_http(node(is_required=require_all)) as address:
        await converse(tmp_path, {"type": "http", "name": "everything", "url": address, "headers": []})
