"""In a home that has become read-only or full, stored sessions are still listed, searched, shown and opened."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import (
    WAIT_S,
    agent_environment,
    mount_disk,
    run_command,
    run_headless,
    unmount,
)
from tests.e2e.raw_editor import editor
from tests.model_server import Reply, serve

EMPTY = ("hermes-acp: Nothing was found.\n", "hermes-acp: There are no sessions here yet.\n")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="disks are mounted here"),
]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    if why := mount_disk(folder, "size=1m,mode=700"):
        pytest.skip(why)
    yield folder
    unmount(folder)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def forbid_writing(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], timeout=WAIT_S, check=True)


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(b"x" * 4096):
            pass
    assert shutil.disk_usage(disk).free == 0


async def talk(disk: Path, workspace: Path) -> str:
    async with serve([Reply("The kettle is blue.")]) as server:
        environment = agent_environment(disk, server)
        done = await run_headless(
            "--output-format", "json", "-p", "Which kettle?", environment=environment, cwd=workspace
        )
    assert done.code == 0, done.errors
    return str(done.report["session_id"])


@pytest.mark.parametrize("has_indexes", [True, False], ids=["with indexes", "without indexes"])
@pytest.mark.parametrize("trouble", [forbid_writing, fill], ids=["read-only", "full"])
async def test_stored_sessions_stay_accessible(
    disk: Path, workspace: Path, trouble: Any, has_indexes: bool
) -> None:
    session_id = await talk(disk, workspace)
    environment = agent_environment(disk)
    if has_indexes:
        assert (
            await run_command("sessions", "search", "x", environment=environment, cwd=workspace)
        ).code == 1
    else:
        for file in (disk / ".hermes").glob("*.db*"):
            file.unlink()
    trouble(disk)
    found = await run_command(
        "sessions", "search", "kettle", "--json", environment=environment, cwd=workspace
    )
    assert found.code == 0, found.errors
    assert [find["position"] for find in json.loads(found.output)] != []
    assert {find["session_id"] for find in json.loads(found.output)} == {session_id}
    listed = await run_command("sessions", "list", "--json", environment=environment, cwd=workspace)
    assert [entry["title"] for entry in json.loads(listed.output)] == ["Which kettle?"]
    shown = await run_command("sessions", "show", session_id, environment=environment, cwd=workspace)
    assert re.search(r"#2 agent  \S+ \S+\nThe kettle is blue\.", shown.output)
    for done in (found, listed, shown):
        assert "Traceback" not in done.errors
    if not has_indexes:
        assert "cannot be written" in found.errors


async def test_a_session_in_a_read_only_home_is_opened_and_says_that_it_cannot_continue(
    disk: Path, workspace: Path, tmp_path: Path
) -> None:
    session_id = await talk(disk, workspace)
    forbid_writing(disk)
    async with serve([Reply("More.")]) as server:
        environment = agent_environment(disk, server)
        async with editor(environment, tmp_path / "scratch") as one:
            listed = await one.call("session/list", {})
            assert [entry["sessionId"] for entry in listed["result"]["sessions"]] == [session_id]
            params: dict[str, object] = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
            assert "result" in await one.call("session/load", params)
            assert one.said() == "The kettle is blue."
            assert "can be read but not continued" in json.dumps(one.updates())
            for reply in (
                await one.prompt(session_id, "Go on"),
                await one.call("session/new", {"cwd": str(workspace), "mcpServers": []}),
            ):
                assert reply["error"]["data"]["code"] == "storage_trouble"
                assert "HERMES_HOME" in reply["error"]["message"]
            assert await one.leave() == 0
            assert one.errors == ""


async def test_two_processes_list_search_and_write_in_one_home(tmp_path: Path, workspace: Path) -> None:
    async with serve([Reply("The kettle is blue.") for _ in range(6)]) as server:
        environment = agent_environment(tmp_path / "home", server)

        async def converse() -> None:
            for _ in range(3):
                done = await run_headless("-p", "Which kettle?", environment=environment, cwd=workspace)
                assert done.code == 0, done.errors

        async def look(*arguments: str) -> None:
            for _ in range(4):
                done = await run_command(*arguments, environment=environment, cwd=workspace)
                assert done.code in (0, 1), done.errors
                assert done.errors in ("", *EMPTY)

        (tmp_path / "home").mkdir()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse)
            tasks.start_soon(converse)
            tasks.start_soon(look, "sessions", "search", "kettle")
            tasks.start_soon(look, "sessions", "list")
    found = await run_command("sessions", "search", "blue", "--json", environment=environment, cwd=workspace)
    assert len(json.loads(found.output)) == 6
    assert (await run_command("doctor", environment=environment, cwd=workspace)).code == 0
