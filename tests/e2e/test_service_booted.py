"""The unit of a user service, in a real systemd user manager: it starts, is confined, works and stops."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import AsyncGenerator

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S
from tests.e2e.raw_editor import RawEditor, editor, permit
from tests.e2e.user_manager import UserManager, missing, user_manager
from tests.model_server import ModelServer, Reply, Rule, Script, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"no user manager can be started: {missing()}"),
]
UNIT = ".config/systemd/user/hermes-acp.service"
LOOK = "cat notes.txt; ps -e -o comm="
CHANGE = "touch made.txt /tmp/$$.x; rm /tmp/$$.x; touch /usr/made; nice -n 5 echo nice; ulimit -n 64 && echo limited"
MAX_EXPOSURE = 3.4
"""The unit names no user, which costs 0.4 of this; `docs/deploy.md` lists what reducing the rest would cost."""


@pytest.fixture
async def manager() -> AsyncGenerator[UserManager]:
    async with user_manager() as started:
        yield started


async def state(manager: UserManager) -> dict[str, str]:
    shown = await manager.run("systemctl", "--user", "show", "hermes-acp")
    return dict(line.split("=", 1) for line in shown.output.splitlines() if "=" in line)


async def call(one: RawEditor, server: ModelServer, session: str, words: str) -> str:
    """Run a turn with one command; return what the model was told about it."""
    reply = await one.prompt(session, words)
    assert reply["result"] == {"stopReason": "end_turn"}, reply
    return json.dumps(server.requests[-1].body["messages"][-1])


async def test_a_user_service_starts_is_confined_and_works(manager: UserManager) -> None:
    rules = [
        Rule(
            words,
            (Reply("", tool_calls=(ToolCall("terminal", {"command": command}),)), Reply("Done.")),
            "step",
        )
        for words, command in (("look", LOOK), ("change", CHANGE))
    ]
    manager.write("work/notes.txt", "walnut\n")
    async with serve(Script(rules=rules)) as server:
        keys = (
            f"OPENAI_BASE_URL={server.openai_base_url}\nOPENAI_API_KEY=sk-test\nHERMES_MODEL=scripted-large\n"
        )
        manager.write(".hermes/.env", keys)
        installed = await manager.run(COMMAND, "service", "install", "--yes")
        assert installed.code == 0, installed.output + installed.errors
        started = await state(manager)
        process = started["MainPID"]
        assert started["StatusText"].startswith("The resident process is ready: ")
        assert os.readlink(f"/proc/{process}/ns/user") != os.readlink("/proc/self/ns/user")
        command = manager.command(COMMAND)
        permits = {"session/request_permission": permit("allow_once")}
        async with editor(os.environ, manager.folder, command=command, answers=permits) as one:
            session = await one.open_session(manager.home / "work")
            looked = await call(one, server, session, "look")
            assert re.search(r"walnut\\n.*ps\\n", looked), looked
            assert "systemd" not in looked, "in the sandbox, only its own processes are seen"
            assert not [m for m in one.messages if m.get("method") == "session/request_permission"]
            changed = await call(one, server, session, "change")
            assert (manager.home / "work" / "made.txt").is_file()
            assert "Read-only file system" in changed
            assert re.search(r"nice\\+nlimited", changed), changed
            assert await one.leave() == 0
        assert (await state(manager))["MainPID"] == process, "the turn ran in the service"
    rated = await manager.run("systemd-analyze", "--user", "security", "--no-pager", "hermes-acp")
    assert float(rated.output.splitlines()[-1].partition(": ")[2].split()[0]) <= MAX_EXPOSURE
    removed = await manager.run(COMMAND, "service", "remove", "--yes")
    assert removed.code == 0, removed.errors
    assert not (manager.home / UNIT).exists()
    assert not os.path.exists(f"/proc/{process}")


async def test_a_service_that_hangs_or_crashes_is_restarted(manager: UserManager) -> None:
    installed = await manager.run(COMMAND, "service", "install", "--yes")
    assert installed.code == 0, installed.output + installed.errors
    unit = manager.home / UNIT
    manager.write(
        UNIT,
        unit.read_text()
        .replace("RestartSec=5", "RestartSec=100ms")
        .replace("WatchdogSec=60", "WatchdogSec=2"),
    )
    await manager.run("systemctl", "--user", "daemon-reload")
    await manager.run("systemctl", "--user", "restart", "hermes-acp")
    for number in (signal.SIGKILL, signal.SIGSTOP):
        before = await state(manager)
        os.kill(int(before["MainPID"]), number)
        with anyio.fail_after(WAIT_S):
            while (now := await state(manager))["NRestarts"] == before["NRestarts"] or now[
                "SubState"
            ] != "running":
                await anyio.sleep(0.05)
        assert now["MainPID"] != before["MainPID"]
        assert now["StatusText"].startswith("The resident process is ready: ")
