"""Home folders that cannot be read or written normally."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hermes_acp.core.events import SessionOpened, TurnStarted
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.storage.transcript import Transcript
from hermes_protocol.errors import INTERNAL_ERROR
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step
from tests.unit.tools.tool_calling import MemoryWorkspace

pytestmark = pytest.mark.anyio


async def test_an_index_of_a_newer_version_disables_only_the_list(scene: Scene) -> None:
    scene.home.mkdir()
    with closing(sqlite3.connect(scene.home / "index.db")) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    scene.provider.plays(step("Here."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        error = await editor.refusal("session/list", {})
        assert (error.code, error.data) == (INTERNAL_ERROR, {"code": "storage_trouble"})
        assert "newer hermes-acp" in error.message
        assert ShownSession(editor, session).text == "Here."


async def test_a_home_that_is_a_file_is_named(scene: Scene) -> None:
    scene.home.write_text("")
    async with scene.editor() as editor:
        for _ in range(2):
            error = await editor.refusal("session/new", {"cwd": str(scene.project), "mcpServers": []})
            assert error.data == {"code": "storage_trouble"}
            assert "HERMES_HOME" in error.message


async def test_a_home_that_cannot_be_written_is_named(scene: Scene) -> None:
    """Not even root can create a folder in /sys."""
    scene.variables["HERMES_HOME"] = "/sys/hermes"
    async with scene.editor() as editor:
        error = await editor.refusal("session/new", {"cwd": str(scene.project), "mcpServers": []})
        assert error.data == {"code": "storage_trouble"}
        assert "/sys/hermes" in error.message
        assert "HERMES_HOME" in error.message


async def test_a_full_disk_ends_the_turn_with_its_reason_and_the_session_says_so(scene: Scene) -> None:
    """`/dev/full` in place of the record answers every write as a full disk does."""
    scene.provider.plays(step("Before."), step("During.", call("write_file", "c1", path="a", content="x")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        fill_disk_under(scene.record_of(session))
        for _ in range(2):
            error = await editor.prompt_refusal(session)
            assert (error.code, error.data) == (INTERNAL_ERROR, {"code": "storage_trouble"})
            assert "disk is full" in error.message
        assert "During." not in ShownSession(editor, session).text
        scene.provider.steps = [step("Elsewhere.")]
        assert await editor.prompt(await editor.new_session(scene.project)) == "end_turn"
    assert not (scene.project / "a").exists()


def fill_disk_under(record: Path) -> None:
    """Put /dev/full behind every descriptor with which this process has the record open."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            is_it = os.readlink(f"/proc/self/fd/{name}") == str(record)
        except OSError:
            continue
        if is_it:
            full = os.open("/dev/full", os.O_RDWR | os.O_CLOEXEC)
            os.dup2(full, int(name), inheritable=False)
            os.close(full)
            found += 1
    assert found == 1


async def test_a_session_continues_when_it_is_reopened_with_free_space(scene: Scene) -> None:
    scene.provider.plays(step("Before."), step("During."), step("Again."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        fill_disk_under(scene.record_of(session))
        error = await editor.prompt_refusal(session)
        assert "Until it is opened again" in error.message
        seen = len(editor.updates)
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert ShownSession(editor, session, seen).text == "Before."
        scene.provider.steps = [step("Again.")]
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session, seen).text == "Before.Again."


async def test_a_disk_that_fills_up_while_a_session_is_opened_does_not_lock_it(scene: Scene) -> None:
    """A full disk prevents closing the calls of a killed process; once there is room, reopening closes them."""
    record = Transcript.create(scene.record_of("ses_1"))
    record.append(SessionOpened("ses_1", str(scene.project), (str(scene.project),), 1.0))
    record.append(TurnStarted("turn_1"))
    record.close()
    app, is_full = scene.open_app(), [True, False]

    def open_workspace(_: str, cwd: str, roots: tuple[str, ...]) -> Workspace:
        if is_full.pop(0):
            fill_disk_under(scene.record_of("ses_1"))
        return app.open_workspace(cwd, roots)

    session, past = await app.sessions.load("ses_1", None, open_workspace)
    assert session.is_stuck
    assert not session.record.open_turn
    assert "disk is full" in repr(past.news[-1])
    session, past = await app.sessions.load("ses_1", None, open_workspace)
    assert not session.is_stuck
    assert [type(event).__name__ for event in past.news] == ["TurnEnded", "Noticed"]
    await app.aclose()


class ClingingWorkspace(MemoryWorkspace):
    """A workspace that fails to close."""

    async def close(self) -> None:
        raise OSError("the machine is gone")


async def test_a_workspace_that_cannot_be_closed_does_not_keep_the_record_locked(scene: Scene) -> None:
    app, workspaces = scene.open_app(), [ClingingWorkspace({}), MemoryWorkspace({})]

    def open_workspace(_: str, cwd: str, roots: tuple[str, ...]) -> Workspace:
        return workspaces.pop(0)

    session = await app.sessions.create(str(scene.project), (), open_workspace)
    with pytest.raises(OSError, match="gone"):
        await app.sessions.close(session.id)
    again, _ = await app.sessions.load(session.id, None, open_workspace)
    assert again.id == session.id
    await app.aclose()
