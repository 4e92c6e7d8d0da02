"""`acpx` as it is published on npm: one-shot runs, kept sessions, modes, cancelling, rejecting everything."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import (
    COMMAND,
    WAIT_S,
    Finished,
    agent_environment,
    run_command,
    wait_for_end,
    watch_process,
)
from tests.e2e.foreign_clients import AFTER, BEFORE, MODULES, conversation, node_for
from tests.model_server import ModelServer, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX"),
]


class Acpx:
    """The command with its constant arguments."""

    def __init__(self, node: str, home: Path, server: ModelServer) -> None:
        self.server = server
        self.workspace = home / "workspace"
        self.file = self.workspace / "a.py"
        self._node = node
        self._environment = agent_environment(home, server)

    async def run(self, *arguments: str) -> Finished:
        constant = (
            str(MODULES / "acpx" / "dist" / "cli.js"),
            "--cwd",
            str(self.workspace),
            "--agent",
            COMMAND,
        )
        return await run_command(
            *constant, *arguments, environment=self._environment, cwd=self.workspace, command=self._node
        )

    async def status(self) -> dict[str, object]:
        status: dict[str, object] = (await self.run("--format", "json", "status")).report
        return status


@asynccontextmanager
async def acpx(home: Path, *, is_required: bool) -> AsyncGenerator[Acpx]:
    node = node_for("acpx", is_required=is_required)
    (home / "workspace").mkdir()
    async with serve(conversation()) as server:
        one = Acpx(node, home, server)
        one.file.write_text(BEFORE)
        try:
            yield one
        finally:
            await one.run("sessions", "close")


async def test_exec_with_everything_approved(tmp_path: Path, require_all: bool) -> None:
    async with acpx(tmp_path, is_required=require_all) as client:
        done = await client.run("--approve-all", "exec", "edit the file")
        assert done.code == 0, done.errors
        assert client.file.read_text() == AFTER
        for shown in (
            "I will change it.",
            "The file is changed.",
            "Edit a.py (completed)",
            "[done] end_turn",
        ):
            assert shown in done.output
        done = await client.run("--approve-all", "exec", "run the command")
        assert "from the command" in done.output
        assert "terminal/create" in done.output


async def test_exec_without_the_clients_files_and_terminals(tmp_path: Path, require_all: bool) -> None:
    async with acpx(tmp_path, is_required=require_all) as client:
        done = await client.run("--approve-all", "--no-fs", "--no-terminal", "exec", "edit the file")
        assert (done.code, client.file.read_text()) == (0, AFTER)
        assert "fs/" not in done.output
        done = await client.run("--approve-all", "--no-fs", "--no-terminal", "exec", "run the command")
        assert "from the command" in done.output
        assert "terminal/" not in done.output


async def test_json_is_strict(tmp_path: Path, require_all: bool) -> None:
    async with acpx(tmp_path, is_required=require_all) as client:
        strict = ("--format", "json", "--json-strict", "--approve-all")
        done = await client.run(*strict, "exec", "edit the file")
    assert (done.code, done.errors) == (0, "")
    messages = done.events
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    stops = [
        message["result"]["stopReason"] for message in messages if "stopReason" in message.get("result", {})
    ]
    assert stops == ["end_turn"]
    updates = [
        message["params"]["update"] for message in messages if message.get("method") == "session/update"
    ]
    cards = [update for update in updates if update["sessionUpdate"] == "tool_call"]
    (card,) = [each for each in cards if each["kind"] == "edit"]
    asked = [message for message in messages if message.get("method") == "session/request_permission"]
    assert [one["params"]["toolCall"]["toolCallId"] for one in asked] == [card["toolCallId"]]


async def test_rejecting_everything_changes_nothing_and_kills_nothing(
    tmp_path: Path, require_all: bool
) -> None:
    async with acpx(tmp_path, is_required=require_all) as client:
        await client.run("sessions", "new")
        done = await client.run("--deny-all", "prompt", "edit the file")
        assert client.file.read_text() == BEFORE
        assert "(failed)" in done.output
        assert "[done] end_turn" in done.output
        before = await client.status()
        assert before["status"] == "alive"
        done = await client.run("--deny-all", "prompt", "run the command")
        assert "The user refused this" in done.output
        done = await client.run("prompt", "still there?")
        assert "Still here." in done.output
        assert "initialize" not in done.output, "the agent had to be started again"
        assert (await client.status())["pid"] == before["pid"]


async def test_sessions_are_kept_listed_switched_and_cancelled(tmp_path: Path, require_all: bool) -> None:
    async with acpx(tmp_path, is_required=require_all) as client:
        session_id = (await client.run("sessions", "new")).output.strip()
        done = await client.run("--approve-all", "prompt", "edit the file")
        assert (done.code, client.file.read_text()) == (0, AFTER)
        listed = (await client.run("sessions", "list")).output
        assert session_id in listed
        assert "edit the file" in listed
        assert (await client.run("set-mode", "plan")).output.strip() == "mode set: plan"
        assert (await client.run("set-mode", "ask")).code == 0
        assert (await client.run("set-mode", "yolo")).code != 0
        await cancel_in_mid_turn(client)
        assert "Still here." in (await client.run("prompt", "still there?")).output
        owner_pid = int(str((await client.status())["pid"]))
        owner = watch_process(owner_pid)
        closed = await client.run("sessions", "close")
        if "birth identity is unverified" in closed.errors:
            # On a machine whose clock is adjusted, acpx does not recognise its own process and leaves ending it to us.
            os.kill(owner_pid, signal.SIGTERM)
        else:
            assert session_id in closed.output
        await wait_for_end(owner)


async def cancel_in_mid_turn(client: Acpx) -> None:
    ended: list[Finished] = []

    async def talk() -> None:
        ended.append(await client.run("--format", "json", "prompt", "talk for ever"))

    count = len(client.server.requests)
    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            await client.server.wait_for_request(count + 1)
            cancelled = await client.run("cancel")
            assert "cancel requested" in cancelled.output, json.dumps([cancelled.output, cancelled.errors])
            await client.server.wait_for_disconnect()
    assert '"stopReason":"cancelled"' in ended[0].output.replace(" ", "")


def test_the_installed_clients_have_the_pinned_versions(require_all: bool) -> None:
    node_for("acpx", is_required=require_all)
    wanted = json.loads((MODULES.parent / "package.json").read_text())["dependencies"]
    for name, version in wanted.items():
        installed = json.loads((MODULES / name / "package.json").read_text())
        assert installed["version"] == version
    lock = (MODULES.parent / "package-lock.json").read_text()
    assert '"resolved"' not in lock, "the lock file must not name a registry"
    assert os.access(COMMAND, os.X_OK)
