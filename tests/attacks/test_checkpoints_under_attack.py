"""Checkpoints in a malicious repository, through a whole agent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.attack_checks import attacked_agent, result_of
from tests.contract.test_checkpoints import git
from tests.contract.test_checkpoints_in_danger import booby_trap, state_of_repository
from tests.model_server import Reply, ToolCall

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="hooks are POSIX"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def poison(work: Path, traps: Path) -> None:
    """Create a repository with a stash and a partly staged index, in which every setting starts a trap."""
    work.mkdir(exist_ok=True)
    traps.mkdir()
    git(work, "init", "-q")
    (work / "a.txt").write_text("one\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "first")
    (work / "a.txt").write_text("stashed\n")
    git(work, "stash")
    (work / "staged.txt").write_text("staged\n")
    git(work, "add", "-A")
    (work / ".gitattributes").write_text("* filter=evil diff=evil text eol=crlf\n")
    booby_trap(work / ".git", traps, "poison")


async def test_a09_d06_a_turn_and_its_undo_run_nothing_and_do_not_change_the_repository(
    tmp_path: Path,
) -> None:
    work, traps = tmp_path / "workspace", tmp_path / "traps"
    poison(work, traps)
    own = state_of_repository(work)
    async with attacked_agent(tmp_path, cwd=work) as siege:
        session_id = await siege.agent.open_session(work)
        write = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})
        command = ToolCall("terminal", {"command": "echo more > command.txt; rm staged.txt"})
        for call in (write, command):
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert end["status"] == "completed", result_of(end)
        assert not (work / "staged.txt").exists()
        await siege.agent.prompt(session_id, "/undo 2")
        assert (work / "staged.txt").read_text() == "staged\n"
        assert not (work / "made.txt").exists()
        assert not (work / "command.txt").exists()
        await siege.check_prompt(session_id)
    assert state_of_repository(work) == own
    assert [path.name for path in traps.iterdir() if path.name.startswith("ran-")] == []
    subprocess.run(["git", "status"], cwd=work, capture_output=True, timeout=30)
    assert [path.name for path in traps.iterdir() if path.name.startswith("ran-")], "the traps do work"
