"""Context files that change, or come into view, while a session is open."""

import pytest

from tests.conversations.fake_editor import Told
from tests.conversations.house import Scene, plain_history
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio


async def test_a_changed_file_is_told_once_and_the_prompt_stays(scene: Scene) -> None:
    scene.write("AGENTS.md", "Use tabs.\n")
    scene.provider.plays(*(step(f"Answer {number}.") for number in range(4)))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "one")
        scene.write("AGENTS.md", "Use spaces, always.\n")
        await editor.prompt(session, "two")
        await editor.prompt(session, "three")
        assert "AGENTS.md changed; the agent was told." in Told(editor, session).thoughts
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session, "four")
    first, second, third, fourth = scene.provider.requests
    assert "Use tabs." in str(first.system)
    assert first.system == second.system == third.system == fourth.system
    told = [line for line in plain_history(fourth) if "Use spaces, always." in line]
    assert len(told) == 1
    assert told[0] in plain_history(second)


async def test_a_file_in_a_folder_is_told_when_the_model_comes_there(scene: Scene) -> None:
    scene.write("web/AGENTS.md", "The web part uses pnpm.\n")
    scene.write("web/src/a.ts", "let a = 1\n")
    scene.write("b.ts", "let b = 1\n")
    scene.provider.plays(
        step(call("read_file", "c1", path="b.ts")),
        step(call("read_file", "c2", path="web/src/a.ts")),
        step(call("read_file", "c3", path="web/src/a.ts", offset=1)),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Look") == "end_turn"
    before, after, last = (plain_history(scene.provider.requests[number]) for number in (1, 2, 3))
    assert not any("pnpm" in line for line in before)
    assert sum("pnpm" in line for line in after) == 1
    assert sum("pnpm" in line for line in last) == 1
