"""`hermes-acp lsp` as a real process: actions, edits that wait for their user, unsaved documents, cancelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import agent_environment, configure
from tests.e2e.lsp_editor import PLAIN, RICH, Answer, LspEditor, Message, lsp_editor, span
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = pytest.mark.anyio

SAVED = "def area(w, h):\n    return w + h\n"
UNSAVED = "# not saved\ndef area(w, h):\n    return w + h\n"
READ = Reply(tool_calls=(ToolCall("read_file", {"path": "shape.py"}),))
FIX = Reply(
    tool_calls=(ToolCall("edit_file", {"path": "shape.py", "old_text": "w + h", "new_text": "w * h"}),)
)
DONE = Reply("An area is a product.")
WRONG: Message = {
    "range": span(2, 2, 16),
    "severity": 1,
    "source": "lint",
    "message": "adds instead of multiplying",
}

SPOILED: tuple[Message, ...] = (
    {"method": "$/cancelRequest", "params": {"id": {}}},
    {"method": "$/cancelRequest", "params": {"id": "nobody's"}},
    {"method": "window/workDoneProgress/cancel", "params": {"token": "nobody's"}},
    {"method": "textDocument/didChange", "params": {"contentChanges": "all"}},
    {"id": "nobody's", "result": {}},
    {"id": True, "method": "shutdown"},
)
"""Requests that are answered or ignored, and end nothing."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    (folder / "shape.py").write_text(SAVED)
    return folder


def target(project: Path, **more: Any) -> Message:
    return {"uri": (project / "shape.py").as_uri(), "range": span(1, 3), **more}


def applied(_: Message) -> Message:
    return {"applied": True}


def picks(title: str) -> Answer:
    def pick(params: Message) -> Message:
        return next(each for each in params["actions"] if each["title"] == title)

    return pick


def edits_of(params: Message) -> list[Message]:
    return params["edit"]["documentChanges"][0]["edits"]


async def test_a_fix_to_unsaved_text_is_an_edit_to_be_confirmed(tmp_path: Path, project: Path) -> None:
    answers: dict[str, Answer] = {
        "workspace/applyEdit": applied,
        "window/workDoneProgress/create": lambda _: None,
    }
    async with (
        serve([READ, FIX, DONE]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, answers) as editor,
    ):
        await editor.initialize(project, RICH)
        uri = await editor.open(project / "shape.py", UNSAVED, version=7)
        context = {"diagnostics": [WRONG], "triggerKind": 1}
        reply = await editor.call(
            "textDocument/codeAction",
            {"textDocument": {"uri": uri}, "range": span(2, 2, 16), "context": context},
        )
        actions = {action["command"]["command"]: action for action in reply["result"]}
        assert set(actions) == {"hermes.fix", "hermes.explain", "hermes.refactor", "hermes.write_tests"}
        assert server.requests == []
        fix = actions["hermes.fix"]
        assert (fix["kind"], fix["diagnostics"][0]["message"]) == ("quickfix", WRONG["message"])
        done = await editor.call("workspace/executeCommand", fix["command"])
        assert done["result"]["status"] == "done"
        assert done["result"]["applied"] == [str(project / "shape.py")]
        params = editor.sent("workspace/applyEdit")[0]
        document = params["edit"]["documentChanges"][0]["textDocument"]
        assert document == {"uri": uri, "version": 7}
        assert [(each["range"], each["newText"]) for each in edits_of(params)] == [
            (span(2, 3), "    return w * h\n")
        ]
        note = params["edit"]["changeAnnotations"][edits_of(params)[0]["annotationId"]]
        assert note["needsConfirmation"] is True
        kinds = [each["value"]["kind"] for each in editor.sent("$/progress")]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        assert "report" in kinds
        assert (project / "shape.py").read_text() == SAVED
        assert await editor.end() == 0
    first = server.requests[0].asked
    assert WRONG["message"] in first.last_text
    assert "# not saved" in server.requests[1].asked.last_text


async def test_an_editor_without_annotations_asks_first(tmp_path: Path, project: Path) -> None:
    waits: dict[str, Answer] = {"workspace/applyEdit": applied}
    async with (
        serve([READ, FIX, DONE]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, waits) as editor,
    ):
        await editor.initialize(project, PLAIN)
        uri = await editor.open(project / "shape.py", UNSAVED)
        call_id = await editor.begin_command("refactor", target(project))
        question = await editor.wait_for_method("window/showMessageRequest")
        assert [each["title"] for each in question["params"]["actions"]] == ["Apply", "Discard"]
        assert "shape.py (+1 -1)" in question["params"]["message"]
        assert editor.sent("workspace/applyEdit") == []
        at = {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 4}}
        hover = (await editor.call("textDocument/hover", at))["result"]
        assert "-    return w + h\n+    return w * h" in hover["contents"]["value"]
        elsewhere = {**at, "position": {"line": 0, "character": 0}}
        assert (await editor.call("textDocument/hover", elsewhere))["result"] is None
        await editor.reply(question, {"title": "Apply"})
        assert (await editor.reply_to(call_id))["result"]["applied"] == [str(project / "shape.py")]
        assert "changeAnnotations" not in editor.sent("workspace/applyEdit")[0]["edit"]
        assert (await editor.call("textDocument/hover", at))["result"] is None


@pytest.mark.parametrize("answer", [{"title": "Discard"}, None, {"title": "Something else"}])
async def test_a_rejected_edit_is_not_applied_and_reported_to_the_model(
    tmp_path: Path, project: Path, answer: Message | None
) -> None:
    answers: dict[str, Answer] = {"window/showMessageRequest": lambda _: answer}
    async with (
        serve([READ, FIX, DONE, Reply("Understood.")]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, answers) as editor,
    ):
        await editor.initialize(project, PLAIN)
        await editor.open(project / "shape.py", UNSAVED)
        done = (await editor.command("refactor", target(project)))["result"]
        assert (done["applied"], list(done["notApplied"])) == ([], [str(project / "shape.py")])
        await editor.command("explain", target(project))
        assert editor.sent("workspace/applyEdit") == []
    assert "What you proposed was not applied" in str(server.requests[3].body)


async def test_an_edit_of_a_document_that_changed_meanwhile_is_rejected(
    tmp_path: Path, project: Path
) -> None:
    async with (
        serve([READ, FIX, DONE]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, {"workspace/applyEdit": applied}) as editor,
    ):
        await editor.initialize(project, PLAIN)
        uri = await editor.open(project / "shape.py", UNSAVED)
        call_id = await editor.begin_command("refactor", target(project))
        question = await editor.wait_for_method("window/showMessageRequest")
        await editor.change(uri, 2, UNSAVED + "# typed on\n")
        await editor.reply(question, {"title": "Apply"})
        done = (await editor.reply_to(call_id))["result"]
        assert done["notApplied"] == {str(project / "shape.py"): "it changed in the meantime"}
        assert "it changed in the meantime" in editor.sent("window/showMessage")[-1]["message"]
        assert editor.sent("workspace/applyEdit") == []
        stale = await editor.command("refactor", target(project, version=1))
        assert stale["error"]["code"] == -32801


async def test_created_and_deleted_files_are_proposed_too(tmp_path: Path, project: Path) -> None:
    (project / "old.py").write_text("gone = 1\n")
    patch = (
        "*** Begin Patch\n*** Add File: test_shape.py\n+from shape import area\n+\n+assert area(2, 3) == 6\n"
        "*** Delete File: old.py\n*** End Patch\n"
    )
    read = Reply(tool_calls=(ToolCall("read_file", {"path": "old.py"}),))
    change = Reply(tool_calls=(ToolCall("apply_patch", {"patch": patch}),))
    look = Reply(tool_calls=(ToolCall("list_files", {"path": "."}),))
    answers: dict[str, Answer] = {
        "workspace/applyEdit": applied,
        "window/workDoneProgress/create": lambda _: None,
    }
    async with (
        serve([read, change, look, DONE]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, answers) as editor,
    ):
        await editor.initialize(project, RICH)
        await editor.open(project / "shape.py", SAVED)
        await editor.command("write_tests", target(project))
        params = editor.sent("workspace/applyEdit")[0]
        changes = {each.get("kind", "edit"): each for each in params["edit"]["documentChanges"]}
        assert set(changes) == {"create", "edit", "delete"}
        assert changes["create"]["uri"] == changes["edit"]["textDocument"]["uri"]
        assert changes["edit"]["textDocument"]["version"] is None
        assert "assert area(2, 3) == 6" in changes["edit"]["edits"][0]["newText"]
        assert changes["delete"]["uri"].endswith("/old.py")
        assert (project / "old.py").exists()
        assert not (project / "test_shape.py").exists()
    listed = server.requests[3].asked.last_text
    assert "test_shape.py" in listed
    assert "old.py" not in listed


async def test_an_explanation_is_opened_as_a_document(tmp_path: Path, project: Path) -> None:
    shown: list[Message] = []
    answers: dict[str, Answer] = {
        "window/showDocument": lambda params: shown.append(params) or {"success": True},
        "window/workDoneProgress/create": lambda _: None,
    }
    async with (
        serve([Reply("It **adds**.")]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, answers) as editor,
    ):
        await editor.initialize(project, RICH)
        await editor.open(project / "shape.py", UNSAVED)
        done = (await editor.command("explain", target(project)))["result"]
        assert done["text"] == "It **adds**."
        assert Path(shown[0]["uri"].removeprefix("file://")).read_text() == "It **adds**.\n"
    asked = str(server.requests[0].body)
    assert "return w + h" in asked
    assert "lines 2 to 3" in asked


@pytest.mark.parametrize("way", ["$/cancelRequest", "window/workDoneProgress/cancel"])
async def test_a_cancelled_action_ends_its_turn(tmp_path: Path, project: Path, way: str) -> None:
    gate, reached = anyio.Event(), anyio.Event()
    slow = Reply("One two", deltas=2, holds=(Hold(gate, after=1, reached=reached),))
    async with (
        serve([slow, Reply("Again.")]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path) as editor,
    ):
        await editor.initialize(project, PLAIN)
        await editor.open(project / "shape.py", UNSAVED)
        call_id = await editor.begin_command("explain", target(project), workDoneToken="mine")
        with anyio.fail_after(90):
            await reached.wait()
        by_id = way == "$/cancelRequest"
        await editor.notify(way, {"id": call_id} if by_id else {"token": "mine"})
        reply = await editor.reply_to(call_id)
        if by_id:
            assert reply["error"]["code"] == -32800
        else:
            assert reply["result"]["status"] == "cancelled"
        assert editor.sent("$/progress")[-1]["value"]["kind"] == "end"
        with anyio.fail_after(90):
            await server.wait_for_disconnect()
        gate.set()
        again = await editor.command("explain", target(project))
        assert again["result"]["text"] == "Again."


async def test_a_question_nobody_waits_for_is_withdrawn(tmp_path: Path, project: Path) -> None:
    async with (
        serve([READ, FIX, DONE, Reply("Understood.")]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path) as editor,
    ):
        await editor.initialize(project, PLAIN)
        await editor.open(project / "shape.py", UNSAVED)
        call_id = await editor.begin_command("refactor", target(project), workDoneToken="mine")
        question = await editor.wait_for_method("window/showMessageRequest")
        await editor.notify("window/workDoneProgress/cancel", {"token": "mine"})
        assert (await editor.reply_to(call_id))["result"]["status"] == "cancelled"
        assert editor.sent("$/cancelRequest") == [{"id": question["id"]}]
        await editor.reply(question, {"title": "Apply"})
        await editor.command("explain", target(project))
        assert editor.sent("workspace/applyEdit") == []
    assert "the action was stopped first" in str(server.requests[3].body)


async def test_a_command_needs_approval_and_a_dismissed_question_approves_nothing(
    tmp_path: Path, project: Path
) -> None:
    run = Reply(tool_calls=(ToolCall("terminal", {"command": "touch made-it"}),))
    async with (
        serve([run, DONE, run, DONE]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path) as editor,
    ):
        await editor.initialize(project, PLAIN)
        await editor.open(project / "shape.py", UNSAVED)
        editor.answers["window/showMessageRequest"] = lambda _: None
        await editor.command("explain", target(project))
        question = editor.sent("window/showMessageRequest")[0]
        titles = [each["title"] for each in question["actions"]]
        assert "touch made-it" in question["message"]
        assert (titles[0], titles[-2].startswith("Reject")) == ("Allow once", True)
        assert not (project / "made-it").exists()
        assert "closed without an answer" in server.requests[1].asked.last_text
        editor.answers["window/showMessageRequest"] = picks("Allow once")
        await editor.command("explain", target(project))
        assert (project / "made-it").exists()


async def test_mistakes_are_answered_and_nothing_else_is_on_standard_output(
    tmp_path: Path, project: Path
) -> None:
    async with lsp_editor(agent_environment(tmp_path), tmp_path) as editor:
        early = await editor.call("textDocument/hover", {})
        assert early["error"]["code"] == -32002
        await editor.initialize(project, PLAIN, {"inlineCompletion": {"enabled": "yes"}})
        warning = await editor.wait_for_method("window/showMessage")
        assert "inlineCompletion.enabled" in warning["params"]["message"]
        await editor.send_bytes(b"{not json")
        broken = await editor.wait_for(lambda message: message.get("id", 0) is None)
        assert broken["error"]["code"] == -32700
        for params, said in (
            ({"command": "hermes.dance"}, "hermes.explain"),
            ({"command": "hermes.fix"}, "one argument"),
            ({"command": "hermes.fix", "arguments": [{"uri": "file:///a", "range": span(0, -1)}]}, "range"),
            ({"command": "hermes.fix", "arguments": [target(project)]}, "is not open"),
        ):
            error = (await editor.call("workspace/executeCommand", params))["error"]
            assert (error["code"], said in error["message"]) == (-32602, True), error
        wrong = await editor.call("textDocument/codeAction", {"textDocument": 5})
        assert wrong["error"]["code"] == -32602
        assert (await editor.call("textDocument/rename", {}))["error"]["code"] in (-32601, -32602)
        for message in SPOILED:
            await editor.send(message)
        await editor.open(project / "shape.py", SAVED)
        unset = (await editor.command("explain", target(project)))["error"]
        assert (unset["code"], "No model is set up" in unset["message"]) == (-32803, True)
        assert await editor.end() == 0


async def test_a_settings_change_reaches_the_session(tmp_path: Path, project: Path) -> None:
    configure(tmp_path, "provider: openai_compatible\n")
    async with (
        serve([Reply("One."), Reply("Two.")], models=("scripted-large", "scripted-small")) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path) as editor,
    ):
        await editor.initialize(project, PLAIN)
        await editor.open(project / "shape.py", SAVED)
        await editor.command("explain", target(project))
        await editor.notify("workspace/didChangeConfiguration", {"settings": {"python": {"x": 1}}})
        await editor.notify(
            "workspace/didChangeConfiguration", {"settings": {"hermes": {"model": "scripted-small"}}}
        )
        await editor.command("explain", target(project))
    assert [request.asked.model for request in server.requests] == ["scripted-large", "scripted-small"]


async def complete(editor: LspEditor, uri: str, line: int, character: int) -> int:
    params = {
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": character},
        "context": {"triggerKind": 2},
    }
    return await editor.begin("textDocument/inlineCompletion", params)


async def test_inline_completion_is_off_by_default_and_cancelled_by_the_next_keystroke(
    tmp_path: Path, project: Path
) -> None:
    gate, reached = anyio.Event(), anyio.Event()
    held = Reply("w * h", holds=(Hold(gate, reached=reached),))
    wanted = {"inlineCompletion": {"enabled": True, "debounceMs": 1}}
    async with (
        serve([held, Reply("```python\nw * h\n```")]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path) as editor,
    ):
        capabilities = await editor.initialize(project, RICH, wanted)
        assert "inlineCompletionProvider" in capabilities
        text = "def area(w, h):\n    return "
        uri = await editor.open(project / "shape.py", text)
        first = await complete(editor, uri, 1, 11)
        with anyio.fail_after(90):
            await reached.wait()
        await editor.change(uri, 2, text)
        assert (await editor.reply_to(first))["result"] == []
        with anyio.fail_after(90):
            await server.wait_for_disconnect()
        gate.set()
        items = (await editor.reply_to(await complete(editor, uri, 1, 11)))["result"]
        assert [item["insertText"] for item in items] == ["w * h"]
    assert "return <cursor/>" in server.requests[1].asked.last_text


async def test_inline_completion_can_be_enabled_later(tmp_path: Path, project: Path) -> None:
    answers: dict[str, Answer] = {"client/registerCapability": lambda _: None}
    async with (
        serve([Reply("w * h")]) as server,
        lsp_editor(agent_environment(tmp_path, server), tmp_path, answers) as editor,
    ):
        assert "inlineCompletionProvider" not in await editor.initialize(project, RICH)
        uri = await editor.open(project / ".env", "KEY=")
        wanted = {"hermes": {"inlineCompletion": {"enabled": True, "debounceMs": 1}}}
        await editor.notify("workspace/didChangeConfiguration", {"settings": wanted})
        registered = await editor.wait_for_method("client/registerCapability")
        assert registered["params"]["registrations"][0]["method"] == "textDocument/inlineCompletion"
        assert (await editor.reply_to(await complete(editor, uri, 0, 4)))["result"] == []
    assert server.requests == []
