"""What sessions have used, and files to mention, as a client asks for them."""

import pytest

from hermes_acp.core.messages import Usage
from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import RealClock, Scene
from tests.conversations.scripted_provider import Step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
HERMES: Json = {"hermes": {}}


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.clock = RealClock()
    return scene


async def test_usage_is_summed_by_session_and_by_day(scene: Scene) -> None:
    scene.provider.plays(Step(("One.",), usage=Usage(100, 10)), Step(("Two.",), usage=Usage(200, 20)))
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(scene.project)
        assert await editor.call("_hermes/usage/list", {}) == {"sessions": [], "days": [], "isWhole": True}
        await editor.prompt(session_id, "count")
        await editor.prompt(session_id, "count again")
        used = await editor.call("_hermes/usage/list", {"days": 1})
        (one,) = used["sessions"]
        assert (one["sessionId"], one["title"], one["cwd"]) == (session_id, "count", str(scene.project))
        assert (one["inputTokens"], one["outputTokens"]) == (300, 30)
        assert sum(day["inputTokens"] for day in used["days"]) == 300
        assert all(day["day"] for day in used["days"])


async def test_files_are_found_by_parts_of_their_names_and_ignored_ones_are_not(scene: Scene) -> None:
    (scene.project / "src").mkdir()
    for name in ("src/Lexer.py", "src/flex.py", "notes.md", "a[1].py", "built.py"):
        (scene.project / name).write_text("x\n")
    (scene.project / ".gitignore").write_text("built.py\n")
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(scene.project)

        async def found(query: str) -> list[str]:
            params = {"sessionId": session_id, "query": query}
            return [each["name"] for each in (await editor.call("_hermes/files/find", params))["files"]]

        assert await found("lex") == ["src/Lexer.py", "src/flex.py"]
        assert await found("src/fl") == ["src/flex.py"]
        assert await found("a[1]") == ["a[1].py"]
        assert await found("built") == []
        assert await found("../") == []
        assert "notes.md" in await found("")
        with pytest.raises(PeerError):
            await editor.call("_hermes/files/find", {"sessionId": "other"})
