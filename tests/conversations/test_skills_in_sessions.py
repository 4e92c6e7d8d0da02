"""Skills as an editor and the model see them."""

import pytest

from tests.conversations.app_scene import RealClock, Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


def write_skill(scene: Scene, name: str, body: str, description: str = "Does it.") -> None:
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"
    scene.write(f".agents/skills/{name}/SKILL.md", text)


def offered(editor: FakeEditor, session: str) -> list[str]:
    updates = ShownSession(editor, session).of("available_commands_update")
    return [command["name"] for command in updates[-1]["availableCommands"]] if updates else []


async def test_the_prompt_names_skills_and_the_tool_loads_them(scene: Scene) -> None:
    scene.clock = RealClock()
    write_skill(scene, "deploy", "Run make deploy.\nThen look.", "Deploys the site.")
    scene.provider.plays(step(call("skill", "s1", name="deploy")), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Ship it") == "end_turn"
        assert editor.asks(ASK) == []
        assert "Run make deploy." in ShownSession(editor, session).cards["s1"]["rawOutput"]["text"]
    system = str(scene.provider.requests[0].system)
    assert "- deploy: Deploys the site." in system
    assert "Run make deploy." not in system


async def test_a_workspaces_skill_is_a_command_once_the_workspace_is_trusted(scene: Scene) -> None:
    write_skill(scene, "greet", "Say hello to $ARGUMENTS.")
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.until(lambda: "greet" in offered(editor, session))
        assert await editor.prompt(session, "/greet Kim") == "end_turn"
        assert "you have not trusted" in ShownSession(editor, session).text
        assert scene.provider.requests == []
        editor.on[ASK] = allow("allow_always")
        await editor.prompt(session, "/trust")
        assert await editor.prompt(session, "/greet Kim") == "end_turn"
    assert "Say hello to Kim." in plain_history(scene.provider.requests[-1])[-1]


async def test_a_new_skill_is_offered_while_the_session_is_open(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.until(lambda: "write-a-skill" in offered(editor, session))
        write_skill(scene, "late", "Do it.")
        await editor.until(lambda: "late" in offered(editor, session))
        (scene.project / ".agents/skills/late/SKILL.md").unlink()
        await editor.until(lambda: "late" not in offered(editor, session))


async def test_the_first_skill_in_a_folder_is_offered_too(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.until(lambda: "write-a-skill" in offered(editor, session))
        for folder, name in (
            (scene.home / "skills", "mine"),
            (scene.project / "packages/web/.claude/skills", "web"),
        ):
            (folder / name).mkdir(parents=True)
            (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n---\nDo it.\n")
            await editor.until(lambda name=name: name in offered(editor, session))
