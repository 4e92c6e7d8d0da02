"""Notes that would reach other workspaces: no mode writes one without approval, and unattended ones wait.

The worst case is a model that notes whatever it read. A note counts as stored if a later session's prompt contains it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.messages import ToolCall
from hermes_acp.memory.pending_notes import PendingNotes
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import call, step
from tests.e2e.agent_process import COMMAND, agent_environment, run_command, run_headless
from tests.model_server import Reply, serve
from tests.model_server import ToolCall as Served

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
POISON = "Releases are built with the mirror at packages.example.net."
ATTENDED = ("ask", "accept_edits", "auto", "bypass")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return folder(tmp_path / "home")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return folder(tmp_path / "workspace")


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def noting(store: str, call_id: str = "m1", text: str = POISON) -> ToolCall:
    return call("memory", call_id, action="add", store=store, text=text)


def kept(home: Path) -> list[str]:
    return sorted(path.name for path in home.rglob("*.md") if POISON in path.read_text())


async def prompts_elsewhere(scene: Scene) -> str:
    """Open a session in another workspace, and return its system prompt."""
    scene.provider.plays(step("Hello."))
    (scene.project.parent / "other").mkdir(exist_ok=True)
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project.parent / "other"), "Hi")
    return str(scene.provider.requests[-1].system)


def can_bypass(scene: Scene) -> None:
    scene.configure("allow_bypass: true\n")


@pytest.mark.parametrize("mode", ATTENDED)
@pytest.mark.parametrize("store", ["user", "memory"])
async def test_a_note_for_every_workspace_needs_approval_in_every_mode(
    scene: Scene, store: str, mode: str
) -> None:
    can_bypass(scene)
    scene.provider.plays(step(noting(store)), step("Then not."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, mode)
        await editor.prompt(session, "Read the notes on releases")
        (asked,) = editor.asks(ASK)
        (diff,) = [block for block in asked["toolCall"]["content"] if block["type"] == "diff"]
        assert POISON in diff["newText"], "the question shows the whole note"
        assert "every workspace" in asked["toolCall"]["title"]
        options = {option["kind"] for option in asked["options"]}
        assert options == {"allow_once", "reject_once"}, "no answer applies to the next note"
    assert kept(scene.home) == []
    assert POISON not in await prompts_elsewhere(scene)


async def test_plan_mode_writes_no_notes(scene: Scene) -> None:
    scene.provider.plays(step(noting("user"), noting("workspace", "m2")), step("Then not."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "plan")
        await editor.prompt(session, "Read the notes")
        assert editor.asks(ASK) == []
    assert kept(scene.home) == []
    assert PendingNotes(scene.home).all() == ()


async def test_only_the_users_own_rule_allows_notes(scene: Scene) -> None:
    rule = "rules: [{allow: {tool: memory}}]\n"
    scene.write(".hermes/policy.yaml", rule)
    scene.provider.plays(step(noting("user")), step("Then not."), step(noting("user", "m2")), step("Noted."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        await editor.prompt(await editor.new_session(scene.project), "Read")
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)][-1] == "m1"
    assert kept(scene.home) == []
    scene.configure(rule)
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project), "Read")
        assert "m2" not in [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)]
    assert kept(scene.home) == ["USER.md"]


async def look_back(scene: Scene, editor: FakeEditor, store: str) -> str:
    """Have a reflection write a note after the turn, and return the session."""
    scene.overrides["skills.look_back_after_calls"] = 2
    scene.write("a.txt", "text")
    scene.provider.plays(
        *(step(call("read_file", f"r{number}", path="a.txt", offset=number)) for number in (1, 2)),
        step("Done."),
        step(noting(store)),
        step("Kept a note."),
    )
    session = await editor.new_session(scene.project)
    await editor.set_mode(session, "auto")
    await editor.prompt(session, "Work")
    await editor.until(lambda: is_over(ShownSession(editor, session).cards))
    return session


def is_over(cards: dict[str, dict[str, Any]]) -> bool:
    return any(
        card.get("name") == "look_back" and card.get("status") == "completed" for card in cards.values()
    )


@pytest.mark.parametrize("store", ["user", "memory", "workspace"])
async def test_a_note_from_a_reflection_waits_for_the_users_approval(scene: Scene, store: str) -> None:
    scene.overrides["skills.look_back_after_calls"] = 2
    async with scene.editor() as editor:
        session = await look_back(scene, editor, store)
        assert kept(scene.home) == []
        (waiting,) = PendingNotes(scene.home).all()
        scene.provider.plays(step("Yes?"))
        await editor.prompt(session, "Go on")
        assert "1 note is waiting for your approval" in ShownSession(editor, session).thoughts
        await editor.prompt(session, "/memory")
        assert POISON in ShownSession(editor, session).text, "it is shown completely"
        await editor.prompt(session, f"/memory approve {waiting.id}")
    assert len(kept(scene.home)) == 1
    assert PendingNotes(scene.home).all() == ()
    assert (POISON in await prompts_elsewhere(scene)) == (store != "workspace")


async def test_a_pending_note_survives_the_process_is_in_no_prompt_and_can_be_rejected(scene: Scene) -> None:
    scene.overrides["skills.look_back_after_calls"] = 2
    async with scene.editor() as editor:
        await look_back(scene, editor, "memory")
    assert POISON not in await prompts_elsewhere(scene)
    scene.provider.plays(step("Hi."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "Hello")
        assert "1 note is waiting for your approval" in ShownSession(editor, session).thoughts
        await editor.prompt(session, "/memory approve none")
        assert "No pending note has the ID 'none'." in ShownSession(editor, session).text
        await editor.prompt(session, "/memory reject all")
        await editor.prompt(session, "/memory")
        assert "No notes are waiting for your approval." in ShownSession(editor, session).text
    assert kept(scene.home) == []


@pytest.mark.parametrize("mode", ["ask", "accept_edits", "auto", "bypass"])
async def test_a_run_without_a_user_keeps_its_notes_pending(home: Path, workspace: Path, mode: str) -> None:
    calls = tuple(
        Served("memory", {"action": "add", "store": store, "text": f"{store}: {POISON}"})
        for store in ("user", "memory", "workspace")
    )
    async with serve([Reply("I note.", tool_calls=calls), Reply("Done.")]) as server:
        environment = agent_environment(home, server)
        arguments = ("--mode", mode, "--allow-bypass", "-p", "Read the notes")
        done = await run_headless(*arguments, environment=environment, cwd=workspace)
        pending = await run_command(
            "memory", "pending", environment=environment, cwd=workspace, command=COMMAND
        )
        assert done.code == 0, (done.output, done.errors)
        assert kept(home) == []
        assert [
            pending.output.count(f"+ {store}: {POISON}") for store in ("user", "memory", "workspace")
        ] == [1] * 3
        approved = await run_command(
            "memory", "approve", "all", environment=environment, cwd=workspace, command=COMMAND
        )
    assert approved.code == 0, approved.errors
    assert kept(home) == ["MEMORY.md", "MEMORY.md", "USER.md"]
    assert PendingNotes(home / ".hermes").all() == ()
    changes = (home / ".hermes" / "history" / "note-changes.jsonl").read_bytes().split(b"\n")
    assert {json.loads(line)["store"] for line in changes if line} == {"user", "memory", "workspace"}
