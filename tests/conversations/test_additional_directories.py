"""Folders besides a session's working directory: an editor always names the complete list, and it persists."""

from pathlib import Path

import pytest

from hermes_protocol.errors import INVALID_PARAMS
from tests.conversations.app_scene import Scene
from tests.conversations.draft_editor import Shown, drafter, turn
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


@pytest.fixture
def folders(scene: Scene, tmp_path: Path) -> tuple[str, str]:
    """Create two folders outside the project, each with a file `a.txt`."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"from {name}\n")
    return str(tmp_path.resolve() / "one"), str(tmp_path.resolve() / "two")


def placed(scene: Scene, session: str, folders: object = None) -> Json:
    more = {} if folders is None else {"additionalDirectories": folders}
    return {"sessionId": session, "cwd": str(scene.project), "mcpServers": [], **more}


async def begin(scene: Scene, editor: FakeEditor, *folders: str) -> str:
    params = {"cwd": str(scene.project), "mcpServers": [], "additionalDirectories": list(folders)}
    session = (await editor.call("session/new", params))["sessionId"]
    scene.provider.plays(step("Begun."))
    await editor.prompt(session)  # A session is listed once it has a prompt.
    return session


async def listed(editor: FakeEditor, session: str) -> list[str]:
    rows = (await editor.call("session/list", {}))["sessions"]
    return next(row for row in rows if row["sessionId"] == session).get("additionalDirectories", [])


async def reads(scene: Scene, editor: FakeEditor, session: str, folder: str) -> bool:
    """Return whether the model can read the file in a folder."""
    card = f"c{len(scene.provider.requests)}"
    scene.provider.plays(step(call("read_file", card, path=f"{folder}/a.txt")), step("Tried."))
    await editor.prompt(session)
    return ShownSession(editor, session).cards[card]["status"] == "completed"


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize("is_open", [False, True])
async def test_the_named_folders_are_the_complete_list(
    scene: Scene, folders: tuple[str, str], method: str, is_open: bool
) -> None:
    one, two = folders
    async with scene.editor() as editor:
        session = await begin(scene, editor, one)
        assert await listed(editor, session) == [one]
        assert await reads(scene, editor, session, one)
        if not is_open:
            await editor.call("session/close", {"sessionId": session})
        await editor.call(method, placed(scene, session, [two]))
        assert await listed(editor, session) == [two]
        assert await reads(scene, editor, session, two)
        assert not await reads(scene, editor, session, one)


@pytest.mark.parametrize("named", [None, []])
@pytest.mark.parametrize("is_open", [False, True])
async def test_naming_no_folder_removes_all(
    scene: Scene, folders: tuple[str, str], named: object, is_open: bool
) -> None:
    async with scene.editor() as editor:
        session = await begin(scene, editor, *folders)
        if not is_open:
            await editor.call("session/close", {"sessionId": session})
        await editor.call("session/load", placed(scene, session, named))
        assert await listed(editor, session) == []
        assert not await reads(scene, editor, session, folders[0])


async def test_the_list_survives_the_process_and_its_index(scene: Scene, folders: tuple[str, str]) -> None:
    one, two = folders
    async with scene.editor() as editor:
        session = await begin(scene, editor, one)
        await editor.call("session/close", {"sessionId": session})
        await editor.call("session/load", placed(scene, session, [two, one, str(scene.project), two]))
    (scene.home / "index.db").unlink()
    async with scene.editor() as editor:
        assert await listed(editor, session) == [two, one]


async def test_an_unusable_folder_changes_nothing(scene: Scene, folders: tuple[str, str]) -> None:
    async with scene.editor() as editor:
        session = await begin(scene, editor, folders[0])
        for wrong in ("relative", "/nowhere/at/all"):
            refusal = await editor.refusal("session/load", placed(scene, session, [wrong]))
            assert refusal.code == INVALID_PARAMS
        assert await listed(editor, session) == [folders[0]]
        assert await reads(scene, editor, session, folders[0])


async def test_a_fork_has_the_requested_folders(scene: Scene, folders: tuple[str, str]) -> None:
    one, two = folders
    scene.offer_unstable()
    async with scene.editor() as editor:
        session = await begin(scene, editor)
        await editor.call("session/load", placed(scene, session, [one]))
        forks = [
            (await editor.call("session/fork", placed(scene, session, named)))["sessionId"]
            for named in (None, [two])
        ]
        assert [await listed(editor, fork) for fork in forks] == [[], [two]]
        assert await listed(editor, session) == [one]
        assert not await reads(scene, editor, forks[1], one)


async def test_version_2_resumes_with_the_complete_list_too(draft: Scene, folders: tuple[str, str]) -> None:
    one, two = folders
    async with drafter(draft) as editor:
        params = {"cwd": str(draft.project), "additionalDirectories": [one]}
        session = (await editor.call("session/new", params))["sessionId"]
        draft.provider.plays(step("Begun."))
        await turn(editor, session)
        await editor.call("session/close", {"sessionId": session})
        await editor.call("session/resume", placed(draft, session, [two]))
        assert await listed(editor, session) == [two]
        draft.provider.plays(step(call("read_file", "c1", path=f"{two}/a.txt")), step("Read."))
        await turn(editor, session)
        assert Shown(editor, session).statuses("c1")[-1] == "completed"
        await editor.call("session/resume", placed(draft, session))
        assert await listed(editor, session) == []
