"""`hermes-acp lsp` when documents close, folders change, line endings differ, and the server is killed."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.lsp_editor import PLAIN, Answer, Message, lsp_editor, span
from tests.model_server import Hold, ModelServer, Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FOLDERS: Message = {**PLAIN, "workspace": {**PLAIN["workspace"], "workspaceFolders": True}}


def picks_apply(_: Message) -> Message:
    return {"title": "Apply"}


def applied(_: Message) -> Message:
    return {"applied": True}


YES: dict[str, Answer] = {"window/showMessageRequest": picks_apply, "workspace/applyEdit": applied}


def read(path: Path) -> Reply:
    return Reply(tool_calls=(ToolCall("read_file", {"path": str(path)}),))


def edit(path: Path, old: str, new: str) -> Reply:
    return Reply(tool_calls=(ToolCall("edit_file", {"path": str(path), "old_text": old, "new_text": new}),))


def make_folder(home: Path, name: str, text: str) -> Path:
    """Create a project with one file; return the file."""
    folder = (home / name).resolve()
    folder.mkdir()
    path = folder / "a.py"
    path.write_bytes(text.encode())
    return path


def last_outcome(server: ModelServer) -> str:
    return json.dumps(server.requests[-1].body["messages"][-1], ensure_ascii=False)


async def requested(server: ModelServer, count: int) -> None:
    """Wait until the model has received this many requests."""
    with anyio.fail_after(WAIT_S):
        while len(server.requests) < count:
            await anyio.sleep(0.01)


async def test_other_line_ends_and_wide_characters_are_edited_at_the_right_position(tmp_path: Path) -> None:
    text = "x = '👍'\r\ny = '👍👍'  # ü\r\nz = 3"
    path = make_folder(tmp_path, "project", text)
    replies = [read(path), edit(path, "z = 3", "z = '👍'\nw = 4"), Reply("Done.")]
    async with (
        serve(replies) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path / "scratch", YES) as editor,
    ):
        await editor.initialize(path.parent, PLAIN)
        uri = await editor.open(path, text.replace("x = '👍'", "x = '👍"))
        mend = {
            "range": {"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 7}},
            "text": "'",
        }
        await editor.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [mend]},
        )
        reply = await editor.command("refactor", {"uri": uri, "range": span(0, 2), "version": 2})
        assert reply["result"]["applied"] == [str(path)]
        (proposed,) = editor.sent("workspace/applyEdit")
        (change,) = proposed["edit"]["documentChanges"]
        assert change["textDocument"]["version"] == 2
        assert change["edits"] == [{"range": span(2, 2, 5), "newText": "z = '👍'\r\nw = 4"}]


async def test_a_document_that_is_closed_during_the_turn_is_not_edited(tmp_path: Path) -> None:
    path, go = make_folder(tmp_path, "project", "x = 1\n"), anyio.Event()
    replies = [read(path), edit(path, "x = 2", "x = 3"), Reply("Done.", holds=(Hold(go),))]
    async with (
        serve(replies) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path / "scratch", YES) as editor,
    ):
        await editor.initialize(path.parent, PLAIN)
        uri = await editor.open(path, "x = 2\n")
        call = await editor.begin_command("refactor", {"uri": uri, "range": span(0, 1)})
        await requested(server, 3)
        await editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        go.set()
        result = (await editor.reply_to(call))["result"]
        assert result["applied"] == []
        assert "changed" in result["notApplied"][str(path)]
        assert not editor.sent("workspace/applyEdit")
        assert path.read_text() == "x = 1\n"


async def test_added_and_removed_folders_change_the_session(tmp_path: Path) -> None:
    first = make_folder(tmp_path, "first", "x = 1\n")
    second = make_folder(tmp_path, "second", "y = 1\n")
    other = {"uri": second.parent.as_uri(), "name": "second"}
    replies = [Reply("One."), read(second), Reply("Two."), read(second), Reply("Three.")]
    async with (
        serve(replies) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path / "scratch", YES) as editor,
    ):
        await editor.initialize(first.parent, FOLDERS)
        place = {"uri": await editor.open(first, "x = 1\n"), "range": span(0, 1)}
        begun = await editor.command("explain", place)
        await editor.notify(
            "workspace/didChangeWorkspaceFolders", {"event": {"added": [other], "removed": []}}
        )
        again = await editor.command("explain", place)
        assert "y = 1" in last_outcome(server)
        assert again["result"]["sessionId"] == begun["result"]["sessionId"]
        await editor.notify(
            "workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [other]}}
        )
        await editor.command("explain", place)
        assert "y = 1" not in last_outcome(server)


async def test_the_next_server_continues_after_a_killed_one(tmp_path: Path) -> None:
    path, never = make_folder(tmp_path, "project", "x = 1\n"), anyio.Event()
    replies = [Reply("First."), Reply("Half", holds=(Hold(never),)), Reply("Again.")]
    async with serve(replies) as server:
        environment = agent_environment(tmp_path, server)
        place = {"uri": path.as_uri(), "range": span(0, 1)}
        async with lsp_editor(environment, tmp_path / "scratch") as editor:
            await editor.initialize(path.parent, PLAIN)
            await editor.open(path, "x = 1\n")
            session_id = (await editor.command("explain", place))["result"]["sessionId"]
            await editor.begin_command("explain", place)
            await requested(server, 2)
            editor.process.kill()
            await editor.process.wait()
        async with lsp_editor(environment, tmp_path / "scratch") as editor:
            await editor.initialize(path.parent, PLAIN, {"session": session_id})
            await editor.open(path, "x = 1\n")
            result = (await editor.command("explain", place))["result"]
            assert (result["sessionId"], result["text"]) == (session_id, "Again.")
            assert "First." in str(server.requests[-1].body)
