"""If a home folder cannot be written, only the calls that write to it fail."""

from pathlib import Path

import pytest

from hermes_acp.core.messages import ToolCall
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio
SKILL = "---\nname: ship\ndescription: Ships it.\n---\nDo it.\n"
TOOL = 'TOOL = {"name": "greet", "description": "Greet."}\n\n\ndef run():\n    return 1\n'
WRITES = {
    "memories": call("memory", "m1", action="add", store="memory", text="The tests run with make."),
    "skills": call("skill_manage", "s1", action="create", name="ship", reason="why", text=SKILL),
    "tools": call("tool_manage", "t1", action="create", name="greet", reason="why", text=TOOL),
}


@pytest.mark.parametrize(("store", "written"), WRITES.items())
async def test_a_store_that_fails_is_an_outcome_and_the_turn_continues(
    scene: Scene, store: str, written: ToolCall
) -> None:
    blocked(scene.home / store)
    blocked(scene.home / "history")
    scene.provider.plays(step(written), step("So it could not be kept."), step("Hello."))
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Keep it") == "end_turn"
        (card,) = ShownSession(editor, session).cards.values()
        assert card["status"] == "failed"
        assert str(scene.home) in card["rawOutput"]["text"]
        assert await editor.prompt(session, "Hello") == "end_turn"


def blocked(folder: Path) -> None:
    """Put something else where a folder should be; this stops even a superuser."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("no folder")
