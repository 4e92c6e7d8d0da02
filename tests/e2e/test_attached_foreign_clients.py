"""Other projects' clients in one session of the resident process: JupyterLab, official SDKs, Neovim and acpx.

JupyterLab starts the turn, all of them see the question, and acpx answers it. Neovim is represented by its plugin's
recorded `initialize` request.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import acp
import anyio
import anyio.abc
import pytest
from acp import schema
from playwright.async_api import expect

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, run_command
from tests.e2e.foreign_clients import AFTER, CLIENTS, MODULES, conversation, node_for, python_of
from tests.e2e.raw_editor import editor
from tests.e2e.resident_process import resident
from tests.e2e.test_jupyterlab import lab, page_of, set_up
from tests.e2e.test_python_sdk import Editor
from tests.model_server import serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]
NEOVIM = Path(__file__).parents[2] / "editor-clients" / "neovim" / "check.jsonl"
ASK = "session/request_permission"


class Watcher(Editor):
    """Sees questions and answers none."""

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **kwargs: Any,
    ) -> schema.RequestPermissionResponse:
        self.asked.append(tool_call)
        self.wake()
        await anyio.sleep_forever()
        raise AssertionError("nobody wakes it")


class TypeScript:
    """The TypeScript program that uses its SDK as a client."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.lines: list[dict[str, Any]] = []
        self._process = process
        self._grown = anyio.Event()

    async def keep(self) -> None:
        assert self._process.stdout
        rest = b""
        async for piece in self._process.stdout:
            *whole, rest = (rest + piece).split(b"\n")
            self.lines += [json.loads(line) for line in whole]
            grown, self._grown = self._grown, anyio.Event()
            grown.set()

    async def has(self, name: str, value: object) -> None:
        with anyio.fail_after(WAIT_S):
            while not any(line.get(name) == value for line in self.lines):
                await self._grown.wait()


@asynccontextmanager
async def typescript(node: str, environment: Mapping[str, str], **joins: str) -> AsyncGenerator[TypeScript]:
    options = json.dumps({"command": COMMAND, **joins})
    process = await anyio.open_process(
        [node, str(CLIENTS / "attached.mjs"), options],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
    )
    async with process, anyio.create_task_group() as tasks:
        client = TypeScript(process)
        tasks.start_soon(client.keep)
        await client.has("attached", True)
        yield client
        process.kill()


@asynccontextmanager
async def python_sdk(
    environment: Mapping[str, str], folder: Path, session_id: str
) -> AsyncGenerator[Watcher]:
    async with anyio.create_task_group() as tasks:
        watcher = Watcher(folder, tasks)
        client = cast("acp.Client", watcher)
        async with acp.spawn_agent_process(client, COMMAND, env=environment, cwd=folder) as (agent, process):
            info = schema.Implementation(name="python", version="1")
            await agent.initialize(protocol_version=1, client_info=info)
            await agent.load_session(cwd=str(folder), session_id=session_id)
            yield watcher
            process.kill()
        tasks.cancel_scope.cancel()


def answerers(updates: list[dict[str, Any]]) -> list[str]:
    """Return who answered, according to a client's updates."""
    metas: list[dict[str, Any]] = [update.get("_meta") or {} for update in updates]
    own: list[dict[str, str]] = [meta.get("hermes", {}) for meta in metas]
    return [each["answeredBy"] for each in own if "answeredBy" in each]


async def test_one_of_many_clients_answers(tmp_path: Path, require_all: bool) -> None:
    python_of("jupyterlab", is_required=require_all)
    node = node_for("acpx", is_required=require_all)
    folder = set_up(tmp_path)
    greeting = json.loads(NEOVIM.read_text().splitlines()[1])["frame"]["params"]
    async with serve(conversation()) as model:
        environment = agent_environment(tmp_path, model)

        async def acpx(*words: str) -> None:
            # Its background process ends by itself: `sessions close` may refuse on a busy machine.
            script = str(MODULES / "acpx/dist/cli.js")
            constant = (script, "--cwd", str(folder), "--agent", COMMAND, "--approve-all", "--ttl", "1")
            done = await run_command(*constant, *words, environment=environment, cwd=folder, command=node)
            assert done.code == 0, done

        async with (
            resident(environment, tmp_path),
            lab(folder, environment) as address,
            page_of(address) as page,
        ):
            await expect(page.get_by_role("button", name="scripted-large").first).to_be_visible()
            shown = await run_command("status", "--json", environment=environment, cwd=tmp_path)
            (session,) = json.loads(shown.output)["sessions"]
            joins = {"sessionId": session["id"], "cwd": str(folder)}
            async with (
                typescript(node, environment, **joins) as typed,
                python_sdk(environment, folder, session["id"]) as python,
                editor(environment, tmp_path / "neovim", greeting=greeting) as neovim,
            ):
                assert "result" in await neovim.call("session/load", {**joins, "mcpServers": []})
                words = page.locator(".jp-chat-input-container textarea:not([readonly])").first
                await words.fill("edit the file")
                await words.press("Enter")
                await page.get_by_role("button", name="Allow once").wait_for()
                asked = await neovim.wait_for(lambda m: m.get("method") == ASK)
                call_id = asked["params"]["toolCall"]["toolCallId"]
                await typed.has("asked", call_id)
                await python.until(lambda: [each.tool_call_id for each in python.asked] == [call_id])
                shown = await run_command("status", environment=environment, cwd=tmp_path)
                assert "1 question is waiting for you." in shown.output
                await acpx("sessions", "new", "--resume-session", session["id"])
                await acpx("prompt", "still there?")
                await expect(page.get_by_text("The file is changed.")).to_be_visible()
                await neovim.wait_for(lambda _: neovim.said().endswith("Still here."))
                await python.until(lambda: python.words("agent_message_chunk").endswith("Still here."))
                updates = [
                    m["params"]["update"] for m in neovim.messages if m.get("method") == "session/update"
                ]
                assert answerers(updates) == answerers(typed.lines) == ["acpx"]
                plain = [each.model_dump(by_alias=True) for each in python.updates]
                assert answerers(plain) == ["acpx"]
        assert (folder / "a.py").read_text() == AFTER
