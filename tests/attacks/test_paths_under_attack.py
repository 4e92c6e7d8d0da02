"""Paths that lead outside, deceive or cannot exist, and forbidden session folders.

The canary is the file that must not be reached.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]


async def try_everything(siege: AttackedAgent, names: list[str]) -> dict[str, list[str]]:
    """Read, list, search, write, edit and run at each of these paths; return what the model was told about each."""
    outcomes: dict[str, list[str]] = {}
    for name in names:
        calls = (
            ToolCall("read_file", {"path": name}),
            ToolCall("list_files", {"path": name}),
            ToolCall("search", {"pattern": "canary", "path": name}),
            ToolCall("write_file", {"path": name, "content": "defaced"}),
            ToolCall("edit_file", {"path": name, "old_text": "canary", "new_text": "defaced"}),
            ToolCall("terminal", {"command": "true", "cwd": name}),
        )
        outcomes[name] = [result_of(end) for end in await siege.turn(Reply(tool_calls=calls))]
    return outcomes


def patch_of(section: str) -> str:
    """Return a patch with a section for one file."""
    return f"*** Begin Patch\n{section}\n*** End Patch"


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for path in sorted(folder.rglob("*"))
    }


async def test_a04_links_that_lead_outside_or_in_circles(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        work, secrets = siege.workspace, siege.canary.parent
        (work / "a").symlink_to("b")
        (work / "b").symlink_to("a")
        (work / "self").symlink_to("self")
        (work / "out").symlink_to(siege.canary)
        (work / "folder").symlink_to(secrets)
        (work / "chain1").symlink_to("chain2")
        (work / "chain2").symlink_to("folder/../secrets")
        (work / "new").symlink_to(secrets / "new.txt")
        (work / "root").symlink_to("/")
        (work / "proc").symlink_to("/proc/self/root")
        names = [
            "a",
            "b/x",
            "self",
            "out",
            "folder",
            "folder/canary.txt",
            "chain1",
            "chain1/canary.txt",
            "new",
            "new/x",
        ]
        names += [f"root{siege.canary}", f"proc{siege.canary}", f"/proc/self/root{siege.canary}", "/dev/fd/0"]
        names += [f"/proc/self/cwd/../secrets/{siege.canary.name}", f"/proc/{os.getpid()}/root{siege.canary}"]
        before = tree_of(work)
        outcomes = await try_everything(siege, names)
        for name, ends in outcomes.items():
            assert {end.partition(":")[0] for end in ends} == {"failed"}, (name, ends)
        assert tree_of(work) == before
        assert sorted(path.name for path in secrets.iterdir()) == ["canary.txt"]


async def test_a10_spellings_of_a_path_that_leads_outside(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        canary = siege.canary
        outside = [
            *("../secrets/canary.txt", "a/./../..//secrets/canary.txt", "./../secrets/canary.txt"),
            *("x/../../secrets/canary.txt", f"file://{siege.workspace}/%2e%2e/secrets/canary.txt"),
            *(str(canary), f"/{canary}", f"//{canary}", f"{siege.workspace}/../secrets/canary.txt"),
            *(canary.as_uri(), f"file://localhost{canary}", f"FILE://{canary}"),
            *("file:///etc/passwd", "file://evil.example/etc/passwd", "file:etc/passwd", "file:////etc/passwd"),
            *(f"{siege.workspace}evil/x", "..", "../", "/", "../workspace/../secrets/canary.txt"),
        ]  # fmt: skip
        for name, ends in (await try_everything(siege, outside)).items():
            assert {end.partition(":")[0] for end in ends} == {"failed"}, (name, ends)
        assert tree_of(siege.workspace) == {}


async def test_a10_names_that_only_look_like_outside_paths_stay_inside(tmp_path: Path) -> None:
    """What other systems read as a path or a device is an ordinary name here, and only that file changes."""
    nfc, nfd = "Gr\u00fc\u00dfe", unicodedata.normalize("NFD", "Gr\u00fc\u00dfe")
    names = [
        *(
            "..\\..\\x",
            "%2e%2e%2fx",
            "\\\\?\\C:\\x",
            "C:\\Windows\\x",
            "CON",
            "NUL",
            "aux.txt",
            "x.",
            "x ",
            " x",
            "~",
            "$HOME",
        ),
        *(
            "~root",
            "FOO",
            "foo",
            nfc,
            nfd,
            "\uff0e\uff0e\uff0fx",
            "...",
            "a\u2215b",
            "-rf",
            "*",
            "`id`",
            "x:stream",
        ),
    ]
    async with attacked_agent(tmp_path) as siege:
        calls = tuple(ToolCall("write_file", {"path": name, "content": f"<{name}>"}) for name in names)
        ends = await siege.turn(Reply(tool_calls=calls))
        assert {end["status"] for end in ends} == {"completed"}
        written = tree_of(siege.workspace)
        assert written == {name: f"<{name}>".encode() for name in names}
        ends = await siege.turn(
            Reply(tool_calls=tuple(ToolCall("read_file", {"path": name}) for name in names))
        )
        assert [f"<{name}>" in result_of(end) for name, end in zip(names, ends, strict=True)] == [True] * len(
            names
        )
        assert sorted(path.name for path in siege.home.iterdir()) == [
            ".hermes",
            "scratch",
            "secrets",
            "workspace",
        ]


async def test_a10_a15_protected_names_need_approval_in_every_case_and_mode(tmp_path: Path) -> None:
    names = (
        ".GIT/hooks/pre-commit",
        ".git/config",
        ".cLauDe/x.json",
        "sub/.Git/x",
        "AGENTS.MD",
        ".ENVRC",
        ".github/x",
    )
    async with attacked_agent(tmp_path, answers={}) as siege:
        agent = siege.agent
        for name in names:
            session_id = await agent.open_session(siege.workspace)
            mode = {"sessionId": session_id, "modeId": "accept_edits"}
            assert "result" in await agent.call("session/set_mode", mode)
            await siege.check_prompt(session_id)  # After it, the model knows the mode.
            call = ToolCall("write_file", {"path": name, "content": "x"})
            siege.model.learn(f"plant {name}", Reply(tool_calls=(call,)))
            seen = len(agent.messages)
            prompt = await agent.begin_prompt(session_id, f"plant {name}")
            asked = await agent.wait_for(
                lambda m, call_id=prompt: (
                    m.get("method") == "session/request_permission" or m.get("id") == call_id
                ),
                behind=seen,
            )
            assert "method" in asked, (name, asked)
            await agent.send(
                {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}
            )
            await agent.wait_for(
                lambda m, call_id=prompt: m.get("id") == call_id and "method" not in m, behind=seen
            )
            assert not (siege.workspace / name).exists()


async def test_a11_impossible_or_deceptive_names(tmp_path: Path) -> None:
    impossible = ["a\0b", "\0", "a" * 300, "a/" * 3_000, "x" * 5_000, ""]
    deceiving = {
        "evil\u202etxt.exe": "\\u202e",
        "new\nline": "\\n",
        "esc\x1b[2Jx": "\\x1b",
        "zero\u200bwidth": "\\u200b",
    }
    async with attacked_agent(tmp_path) as siege:
        for name, ends in (await try_everything(siege, [name for name in impossible if name])).items():
            assert {end.partition(":")[0] for end in ends} == {"failed"}, (name[:20], ends)
            assert all(len(end) < 10_000 for end in ends)
        for spelled in ('""', r'"\ud800"', r'"a\udcffb"', r'"\ud83d.txt"'):
            for name, more in (("read_file", ""), ("write_file", ', "content": "x"'), ("list_files", "")):
                end = await siege.call(name, f'{{"path": {spelled}{more}}}')
                assert end["status"] == "failed" or (spelled, name) == ('""', "list_files"), result_of(end)
        assert tree_of(siege.workspace) == {}
        for name, shown in deceiving.items():
            end = await siege.call("write_file", {"path": name, "content": "x"})
            assert end["status"] == "completed", result_of(end)
            question = [m for m in siege.agent.messages if m.get("method") == "session/request_permission"][
                -1
            ]
            title = question["params"]["toolCall"]["title"]
            assert shown in title
            assert name not in title
        (siege.workspace / os.fsdecode(b"bytes\xff\xfe")).write_text("x")
        listed = await siege.call("list_files", {})
        assert listed["status"] == "completed"
        assert "\\" in result_of(listed)


async def test_a18_folders_that_no_session_can_have(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        (siege.workspace / "file").write_text("x")
        (siege.workspace / "pipe").unlink(missing_ok=True)
        os.mkfifo(siege.workspace / "pipe")
        (siege.workspace / "loop").symlink_to("loop")
        (siege.workspace / "nowhere").symlink_to("missing")
        bad: list[Any] = [
            *("", ".", "relative", "~", "~/x", "$HOME", "file:///tmp", "/no/such/folder", "\0", "/tmp/\0x", "\ud800"),
            *(f"{siege.workspace}/{name}" for name in ("file", "pipe", "loop", "nowhere", "file/x")),
            *("/proc/self/nothing", "/dev/null", "x" * 100_000, "/" + "x/" * 50_000, 7, None, ["/tmp"], {}),
        ]  # fmt: skip
        for folder in bad:
            reply = await agent.call("session/new", {"cwd": folder, "mcpServers": []})
            assert reply.get("error", {}).get("code") == -32602, (str(folder)[:80], reply)
            more = {"cwd": str(siege.workspace), "mcpServers": [], "additionalDirectories": [folder]}
            reply = await agent.call("session/new", more)
            # Entries that are not text may be omitted from a list, as in the protocol; text must name a folder.
            assert "error" in reply or not isinstance(folder, str), (str(folder)[:80], reply)


async def test_a18_even_in_the_root_folder_the_agents_home_and_proc_are_inaccessible(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(Path("/"))
        home = tmp_path / ".hermes"
        for name in (
            home / "config.yaml",
            home / "sessions" / "x.jsonl",
            home / "index.db",
            Path("/proc/self/environ"),
        ):
            for call in (
                ToolCall("read_file", {"path": str(name)}),
                ToolCall("write_file", {"path": str(name), "content": "mode: auto"}),
            ):
                (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
                assert end["status"] == "failed", result_of(end)
        assert not (home / "config.yaml").exists()


async def test_a19_no_file_tool_removes_a_root(tmp_path: Path) -> None:
    """Deleting, moving and writing apply to files only: folders are rejected, including the workspace itself."""
    async with attacked_agent(tmp_path) as siege:
        (siege.workspace / "kept.txt").write_text("kept")
        for name in (".", "./", "", "..", str(siege.workspace), f"{siege.workspace}/.", "sub/.."):
            for call in (
                ToolCall("write_file", {"path": name, "content": ""}),
                ToolCall("edit_file", {"path": name, "old_text": "a", "new_text": ""}),
                ToolCall("apply_patch", {"patch": patch_of(f"*** Delete File: {name}")}),
                ToolCall(
                    "apply_patch", {"patch": patch_of(f"*** Update File: {name}\n*** Move to: elsewhere")}
                ),
                ToolCall("apply_patch", {"patch": patch_of(f"*** Add File: {name}\n+x")}),
                ToolCall(
                    "apply_patch", {"patch": patch_of(f"*** Update File: kept.txt\n*** Move to: {name}")}
                ),
                ToolCall("delete_file", {"path": name}),
            ):
                (end,) = await siege.turn(Reply(tool_calls=(call,)))
                assert end["status"] == "failed", (name, result_of(end))
        assert tree_of(siege.workspace) == {"kept.txt": b"kept"}
