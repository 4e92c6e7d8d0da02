"""Rules that deny paths, and attempts to bypass them: searching a whole folder, history, another name for the path."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.attacks.attack_checks import attacked_agent, result_of
from tests.attacks.test_tools_under_attack import git
from tests.e2e.raw_editor import Answer, permit
from tests.model_server import Reply, ToolCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]
REFUSE: Final[dict[str, Answer]] = {"session/request_permission": permit("reject_once")}
RULES: Final = """rules:
- deny: {path: "vault/**"}
- ask: {path: "**/*.ledger"}
- deny: {path: "closed"}
"""
SHUT: Final = ("vault/a.txt", "vault/deep/b.txt", "sub/c.ledger", "closed/d.txt")
WORD: Final = "wordthatisshut"

COMMANDS: Final = (
    f"grep -r {WORD} .",
    f"grep -rn --include=*.txt {WORD}",
    f"grep -r {WORD} vault closed",
    f"rg {WORD}",
    "git diff",
    "git show",
    "git show HEAD",
    "git log -p",
    f"git grep {WORD}",
    "git diff-tree -p --root HEAD",
    "git diff HEAD -- vault",
    "git -C vault diff",
    "git blame vault/a.txt",
    "find . -type f -exec cat {} +",
    "diff -r vault sub",
    "cd vault && grep -r . .",
)


def reading_calls() -> tuple[ToolCall, ...]:
    """Return every call that could show the contents of a file without naming it."""
    tools = (
        ToolCall("search", {"pattern": WORD}),
        ToolCall("search", {"pattern": WORD, "path": "vault"}),
        ToolCall("search", {"pattern": WORD, "show": "files"}),
        ToolCall("search", {"pattern": "nothing|ordinary", "context": 5}),
        ToolCall("git", {"action": "diff"}),
        ToolCall("git", {"action": "diff", "path": "vault"}),
        ToolCall("git", {"action": "diff", "staged": True, "ref": "HEAD"}),
        ToolCall("git", {"action": "show"}),
        ToolCall("git", {"action": "show", "ref": "HEAD", "path": "sub"}),
        ToolCall("git", {"action": "show", "ref": "HEAD:vault/a.txt"}),
        ToolCall("git", {"action": "blame", "path": "closed/d.txt"}),
    )
    return (*tools, *(ToolCall("terminal", {"command": command}) for command in COMMANDS))


def set_up(work: Path) -> None:
    for name in (*SHUT, "open.txt"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(f"ordinary words\n{WORD if name in SHUT else 'nothing'}\n")
    git(work, "init", "-q")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "All of it")
    for name in (*SHUT, "open.txt"):
        (work / name).write_text(f"changed words\n{WORD if name in SHUT else 'nothing'}\n")


async def test_no_call_on_the_folder_shows_a_denied_file(tmp_path: Path) -> None:
    set_up(tmp_path / "workspace")
    async with attacked_agent(tmp_path, settings=RULES, answers=REFUSE) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for call in reading_calls():
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert f"\n{WORD}" not in result_of(end), (call, result_of(end))
            assert not [line for line in result_of(end).split("\n") if line.endswith(WORD)], (
                call,
                result_of(end),
            )


async def test_an_allowed_file_is_still_shown(tmp_path: Path) -> None:
    set_up(tmp_path / "workspace")
    async with attacked_agent(tmp_path, settings=RULES, answers=REFUSE) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for call in (
            ToolCall("search", {"pattern": "words"}),
            ToolCall("git", {"action": "diff"}),
            ToolCall("git", {"action": "show"}),
            ToolCall("terminal", {"command": "grep words open.txt"}),
            ToolCall("terminal", {"command": "git status --short"}),
        ):
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert end["status"] == "completed", result_of(end)
            assert "open.txt" in result_of(end) or "words" in result_of(end), result_of(end)


async def test_placeholders_of_the_sandbox_cause_no_questions(tmp_path: Path) -> None:
    set_up(tmp_path / "workspace")
    async with attacked_agent(tmp_path, answers=REFUSE) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for call in (
            ToolCall("git", {"action": "diff"}),
            ToolCall("terminal", {"command": "git status --short"}),
        ):
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert end["status"] == "completed", result_of(end)


async def test_a_rule_applies_under_every_name_of_a_sessions_folder(tmp_path: Path) -> None:
    work = tmp_path / "workspace"
    set_up(work)
    (tmp_path / "alias").symlink_to(work)
    async with attacked_agent(tmp_path, settings=RULES, answers=REFUSE) as siege:
        session_id = await siege.agent.open_session(tmp_path / "alias")
        for call in (
            ToolCall("read_file", {"path": "vault/a.txt"}),
            ToolCall("read_file", {"path": str(work / "vault/a.txt")}),
            ToolCall("write_file", {"path": "vault/new.txt", "content": "x"}),
            ToolCall("terminal", {"command": "cat vault/a.txt"}),
            *reading_calls(),
        ):
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert not [line for line in result_of(end).split("\n") if line.endswith(WORD)], (
                call,
                result_of(end),
            )
        assert not (work / "vault/new.txt").exists()
        assert WORD not in json.dumps(
            [m for m in siege.agent.messages if m.get("method") == "fs/read_text_file"]
        )


def said_by_git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


async def test_c04_no_git_name_shows_a_denied_or_secret_file(tmp_path: Path) -> None:
    """In git, a file has names other than its path: a stage, a hash, a commit found by words with a colon in them."""
    work = tmp_path / "workspace"
    set_up(work)
    (work / ".env").write_text(f"{WORD}\n")
    git(work, "add", "-Af")
    git(work, "commit", "-qm", "fix: the words")
    hashes = [said_by_git(work, "rev-parse", f"HEAD:{name}") for name in ("vault/a.txt", ".env")]
    empty = said_by_git(work, "hash-object", "-w", "/dev/null")
    refs = [
        *(f"{start}{name}" for start in (":", ":0:", "HEAD:", "HEAD:./") for name in ("vault/a.txt", ".env")),
        *("HEAD^{/fix: the}", ":/fix", "HEAD@{1}:vault/a.txt", "@:vault/a.txt", "HEAD:vault/../vault/a.txt"),
        *hashes,
        *(f"{empty}..{each}" for each in hashes),
        *(f"{empty}...{each}" for each in hashes),
    ]
    async with attacked_agent(tmp_path, settings=RULES, answers=REFUSE) as siege:
        session_id, refused = await siege.agent.open_session(siege.workspace), 0
        for ref in refs:
            calls = [ToolCall("git", {"action": action, "ref": ref}) for action in ("show", "diff", "log")]
            calls.append(ToolCall("git", {"action": "blame", "ref": ref, "path": "open.txt"}))
            ends = await siege.turn(Reply(tool_calls=tuple(calls)), session_id=session_id)
            assert len(ends) == len(calls)
            refused += sum(result_of(end) == "failed: The user refused this." for end in ends)
            for end in ends:
                assert WORD not in result_of(end), (ref, end)
        asked = [each for each in siege.agent.messages if each.get("method") == "session/request_permission"]
        assert len(asked) == refused > 0, "each call was asked about by itself"
        for folder in ("vault", "."):
            call = ToolCall("git", {"action": "show", "ref": "HEAD", "path": folder})
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert WORD not in result_of(end)
        for wanted in ("HEAD", "HEAD~1..HEAD", "HEAD:open.txt", "HEAD~1"):
            call = ToolCall("git", {"action": "show", "ref": wanted})
            (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
            assert end["status"] == "completed", result_of(end)
            assert "ordinary words" in result_of(end) or "changed words" in result_of(end)
