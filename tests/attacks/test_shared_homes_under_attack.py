"""Two agents working in one home at once, and unusual homes of every kind."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, mount_disk, run_command, unmount
from tests.e2e.raw_editor import Message, RawEditor, editor
from tests.model_server import Reply, Rule, Script, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]

SESSIONS_EACH = 50


async def test_g08_two_servers_with_50_sessions_each_lose_nothing(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege, siege.another() as other:
        opened: dict[RawEditor, list[str]] = {siege.agent: [], other: []}

        async def converse(client: RawEditor) -> None:
            session_id = await client.open_session(siege.workspace)
            opened[client].append(session_id)
            for _ in range(2):
                reply = await client.prompt(session_id, "Are you still there?")
                assert reply.get("result") == {"stopReason": "end_turn"}, reply

        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as tasks:
                for client in (siege.agent, other) * SESSIONS_EACH:
                    tasks.start_soon(converse, client)
                tasks.start_soon(delete_and_list, siege, other)
        words = json.dumps([*siege.agent.messages, *other.messages])
        assert "locked" not in words
        assert all(client.said(each) == "Still here." * 2 for client in opened for each in opened[client])
    done = await run_command(
        "sessions", "list", "--json", environment=agent_environment(tmp_path), cwd=tmp_path
    )
    listed = {entry["id"] if "id" in entry else entry["session_id"] for entry in json.loads(done.output)}
    everyone = {each for sessions in opened.values() for each in sessions}
    assert len(everyone) == 2 * SESSIONS_EACH
    assert listed >= everyone or len(listed) >= 50  # One page.
    doctor = await run_command("doctor", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert doctor.code == 0, doctor.output


async def delete_and_list(siege: AttackedAgent, other: RawEditor) -> None:
    """Remove sessions while the other process lists and searches them."""
    for _ in range(10):
        gone = await siege.agent.open_session(siege.workspace)
        await siege.agent.prompt(gone, "Are you still there?")
        here: Message = {"sessionId": gone, "cwd": str(siege.workspace), "mcpServers": []}
        busy = await other.call("session/load", here)
        assert busy["error"]["data"]["code"] == "busy"
        refused = await other.call("session/delete", {"sessionId": gone})
        assert refused["error"]["data"]["code"] == "busy"
        assert "result" in await siege.agent.call("session/delete", {"sessionId": gone})
        assert "result" in await other.call("session/list", {})
        assert (await other.call("session/load", here))["error"]["code"] == -32002


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "locale C": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a locale there is not": {"LC_ALL": "xx_YY.nonsense"},
    "no temporary folder": {"TMPDIR": "/no/such/folder", "TEMP": "", "TMP": ""},
    "variables that are not set": {"XDG_CONFIG_HOME": "", "HERMES_HOME": "", "HERMES_PROVIDER": ""},
    "a strange time zone": {"TZ": ":/etc/passwd"},
    "Python's own switches": {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "PYTHONUNBUFFERED": "1"},
    "a faulty PATH": {"PATH": ":::/no/such:relative:/usr/bin:/bin:"},
}  # fmt: skip


@pytest.mark.parametrize("name", ENVIRONMENTS)
async def test_g14_the_agent_works_in_any_environment(tmp_path: Path, name: str) -> None:
    async with attacked_agent(tmp_path, environment=ENVIRONMENTS[name]) as siege:
        (siege.workspace / "Größe 日本.txt").write_text("Übermut")
        read = await siege.call("read_file", {"path": "Größe 日本.txt"})
        assert read["rawOutput"]["text"].endswith("Übermut")
        ran = await siege.call("terminal", {"command": "echo grün; cat G*"})
        assert "grün\nÜbermut" in ran["rawOutput"]["text"]


@pytest.mark.parametrize(
    "name", ["with spaces", "Zuhause Größe 日本", "a'b\"c $(touch x) ;", "-rf", "line\nbreak", "%41?#[x]"]
)
async def test_g14_a_home_with_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    async with attacked_agent(folder) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.check_prompt(session_id)
        listed = await siege.agent.call("session/list", {})
        assert session_id in json.dumps(listed)
        assert (await siege.call("session_search", {"query": "still"}))["status"] == "completed"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


async def test_g14_without_home_the_users_own_is_used_or_one_clear_line_printed(tmp_path: Path) -> None:
    """Without HOME, the home comes from the user database; a relative one is rejected with a sentence."""
    done = await run_command(
        environment={"PATH": os.environ["PATH"], "HERMES_HOME": "relative"}, cwd=tmp_path
    )
    assert done.code != 0
    assert done.output == ""
    assert "HERMES_HOME" in done.errors
    assert "Traceback" not in done.errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("umask", [0o000, 0o777])
async def test_c10_g14_whatever_the_umask_only_the_owner_can_read_stored_files(
    tmp_path: Path, umask: int
) -> None:
    session_id = ""
    script = f"import os, sys; os.umask({umask}); os.execv(sys.argv[1], sys.argv[1:])"
    rules = [Rule("hello", (Reply("Hello."),), pick="cycle")]
    (tmp_path / "workspace").mkdir()
    async with serve(Script(rules=rules)) as server:
        with anyio.fail_after(WAIT_S):
            process = await anyio.open_process(
                [sys.executable, "-c", script, COMMAND],
                stdin=subprocess.PIPE,
                env=agent_environment(tmp_path, server),
                cwd=tmp_path,
            )
            async with process, anyio.create_task_group() as tasks:
                one = RawEditor(process, {}, tmp_path / "none")
                tasks.start_soon(one.read)
                await one.call("initialize", {"protocolVersion": 1})
                session_id = await one.open_session(tmp_path / "workspace")
                assert (await one.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}
                assert "result" in await one.call("session/list", {})
                assert await one.leave() == 0
    home = tmp_path / ".hermes"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}
    wide = {str(path): oct(mode) for path, mode in modes.items() if mode & 0o077}
    assert wide == {}
    assert {path.name for path in modes} >= {"sessions", "index.db", f"{session_id}.jsonl"}


async def test_g14_a_full_temporary_folder_prevents_nothing(tmp_path: Path) -> None:
    if why := mount_disk(tmp_path / "tmp", "size=16k,mode=1777"):
        pytest.skip(why)
    try:
        subprocess.run(
            ["sh", "-c", f"cat /dev/zero > '{tmp_path}/tmp/filler'"],
            timeout=WAIT_S,
            check=False,
            stderr=subprocess.DEVNULL,
        )
        async with attacked_agent(tmp_path, environment={"TMPDIR": str(tmp_path / "tmp")}) as siege:
            ends = [
                await siege.call("write_file", {"path": "a.txt", "content": "x" * 100_000}),
                await siege.call("search", {"pattern": "xxx"}),
                await siege.call("terminal", {"command": "wc -c < a.txt"}),
                await siege.call("session_search", {"query": "still"}),
            ]
            assert [end["status"] for end in ends] == ["completed"] * 4
    finally:
        unmount(tmp_path / "tmp")


async def test_g14_closed_standard_error_and_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / ".hermes").write_text("a file")
    async with serve([]) as server, editor(agent_environment(tmp_path, server), tmp_path / "scratch") as one:
        reply = await one.call("session/new", {"cwd": str(tmp_path / "workspace"), "mcpServers": []})
        assert reply["error"]["data"]["code"] == "storage_trouble"
        assert await one.leave() == 0
        assert one.errors == ""
    assert (tmp_path / ".hermes").read_text() == "a file"
