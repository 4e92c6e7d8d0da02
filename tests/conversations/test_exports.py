"""Data that a live session records for its export, and continuing an imported session."""

import json
import shutil
from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from hermes_acp.config.environment import environment_of
from hermes_acp.core.event_types import ToolsOffered
from hermes_acp.core.events import NoteAdded, TurnStarted
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.storage.tool_schema_store import ToolSchemaStore
from hermes_acp.storage.transcript import Transcript
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import allow
from tests.conversations.scripted_provider import call, step

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


async def test_tools_and_undone_turns_are_recorded_and_an_import_is_continued(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.overrides["checkpoints.enabled"] = True
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        scene.provider.plays(step(call("write_file", "w", path="a.txt", content="one")), step("Written."))
        await editor.prompt(session, "write a")
        await editor.prompt(session, "/undo")
        scene.provider.plays(step("Nothing to do."))
        await editor.prompt(session, "and now?")
    events = Transcript.read_events(scene.record_of(session))
    offered = [event for event in events if isinstance(event, ToolsOffered)]
    assert len(offered) == 1, "the tools never changed"
    stored = ToolSchemaStore(scene.home).read(offered[0].digest)
    assert stored is not None
    assert stored.tools == scene.provider.requests[0].tools
    turns = [event.turn_id for event in events if isinstance(event, TurnStarted)]
    assert [event.undone for event in events if isinstance(event, NoteAdded) and event.undone] == [
        (turns[0],)
    ]

    monkeypatch.setenv("HERMES_HOME", environment_of({"HERMES_HOME": str(scene.home)}).home_path)
    target = tmp_path / "trajectory.json"
    command = ("sessions", "export", session, "--format", "atif", "--out", str(target), "--yes")
    assert await run_sync(run_command, command) == 0
    document = json.loads(target.read_text())
    document["trajectory_id"] = document["session_id"] = "ses_imported"
    target.write_text(json.dumps(document))
    importing = ("sessions", "import", str(target), "--cwd", str(scene.project))
    assert await run_sync(run_command, importing) == 0
    async with scene.editor() as editor:
        await editor.call(
            "session/load", {"sessionId": "ses_imported", "cwd": str(scene.project), "mcpServers": []}
        )
        scene.provider.plays(step("Yes, I know."))
        assert await editor.prompt("ses_imported", "Do you know?") == "end_turn"
    history = plain_history(scene.provider.requests[-1])
    assert any("write a" in line for line in history)
    assert any("Do you know?" in line for line in history)
