"""`hermes-acp checkpoints` and `hermes-acp undo`, on checkpoints of a real process."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment, run_command
from tests.model_server import Reply, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="locks are POSIX"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]
WRITE = ToolCall("write_file", {"path": "new.txt", "content": "made\n"})
READ = ToolCall("read_file", {"path": "a.txt"})
EDIT = ToolCall("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "two"})


@pytest.mark.slow
async def test_the_changes_of_a_run_are_listed_compared_and_undone(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "a.txt").write_text("one\n")
    steps = [Reply(tool_calls=(READ,)), Reply(tool_calls=(EDIT, WRITE)), Reply("Done.")]
    async with serve(steps) as server:
        variables = agent_environment(home, server)
        run = ("run", "-p", "edit it", "--mode", "accept_edits", "--cwd", str(work))
        assert (await run_command(*run, environment=variables, cwd=home)).code == 0
    assert (work / "a.txt").read_text() == "two\n"

    async def ask(*arguments: str, code: int = 0) -> str:
        done = await run_command(*arguments, environment=variables, cwd=work)
        assert (done.code, done.errors if not code else "") == (code, ""), done
        return done.output

    (listed,) = json.loads(await ask("checkpoints", "list", "--json"))
    changes = {(Path(file["path"]).name, file["change"]) for file in listed["files"]}
    assert (changes, listed["title"]) == ({("a.txt", "modified"), ("new.txt", "added")}, "edit it")
    patch = await ask("checkpoints", "diff")
    assert "--- a/a.txt\n+++ b/a.txt\n" in patch
    assert "+two" in patch
    told = await ask("undo")
    assert "new.txt" in told
    assert "`hermes-acp undo --redo` reverts that" in told
    assert ((work / "a.txt").read_text(), (work / "new.txt").exists()) == ("one\n", False)
    assert "[undone]" in await ask("checkpoints", "list")
    await ask("undo", "--redo")
    assert (work / "new.txt").read_text() == "made\n"
    (work / "new.txt").write_text("mine")
    assert "changed since" in await ask("undo", code=1)
    await ask("checkpoints", "restore", listed["id"], "a.txt")
    assert ((work / "a.txt").read_text(), (work / "new.txt").read_text()) == ("one\n", "mine")
    await ask("checkpoints", "restore", listed["id"], "--force")
    assert not (work / "new.txt").exists()
    shown = await ask("sessions", "list", "--json")
    record = (home / ".hermes" / "sessions" / f"{json.loads(shown)[0]['session_id']}.jsonl").read_text()
    assert record.count("note_added") >= 3
    await ask("checkpoints", "restore", "cp_none", code=2)
    assert list((home / ".hermes" / "checkpoints" / "turns").rglob("*.json"))
    await ask("sessions", "delete", json.loads(shown)[0]["session_id"], "--yes")
    assert not list((home / ".hermes" / "checkpoints" / "turns").rglob("*.json"))
    await ask("undo", "--cwd", str(home), code=2)
