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


KEY = (
    "-----BEGIN PRIVATE KEY-----\n"
    + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n" * 20
    + "-----END PRIVATE KEY-----\n"
)


async def test_a_file_is_shown_as_text_with_its_size_and_cut_at_the_limit(scene: Scene) -> None:
    (scene.project / "src").mkdir()
    (scene.project / "src" / "a.py").write_text("x = 1\n")
    (scene.project / "long.txt").write_text("0123456789\n" * 50_000)
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(scene.project)

        async def read(path: str) -> Json:
            return await editor.call("_hermes/files/read", {"sessionId": session_id, "path": path})

        whole = {"path": str(scene.project / "src/a.py"), "name": "src/a.py", "text": "x = 1\n"}
        assert await read("src/a.py") == whole | {"sizeBytes": 6, "isCut": False}
        assert await read(str(scene.project / "src/a.py")) == whole | {"sizeBytes": 6, "isCut": False}
        long = await read("long.txt")
        assert (long["sizeBytes"], long["isCut"]) == (550_000, True)
        assert len(long["text"]) <= 400_000
        assert long["text"].endswith("9\n")


async def test_no_file_is_shown_that_the_agent_may_not_read_without_asking(scene: Scene) -> None:
    project = scene.project
    scene.configure("rules:\n  - deny: {path: '**/*.private'}\n")
    elsewhere = project.parent / "elsewhere.txt"
    elsewhere.write_text("not yours\n")
    (project / ".env").write_text("A=1\n")
    (project / "server.key.txt").write_text(KEY)
    (project / "plan.private").write_text("secret plan\n")
    (project / "blob.bin").write_bytes(b"\0\1")
    (project / "out.txt").symlink_to(elsewhere)
    (project / "env.txt").symlink_to(project / ".env")
    (project / "notes.txt").write_text("use ghp_abcdefghijklmnopqrstuvwxyz0123456789 here\n")
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(project)

        async def refusal(path: str) -> str:
            with pytest.raises(PeerError) as refused:
                await editor.call("_hermes/files/read", {"sessionId": session_id, "path": path})
            return str(refused.value)

        for path in (".env", "env.txt", "server.key.txt", "plan.private"):
            assert "is not shown here" in await refusal(path)
        for path in ("/etc/passwd", "../elsewhere.txt", str(elsewhere), "out.txt"):
            assert "outside the session's folders" in await refusal(path)
        assert "There is no file" in await refusal("missing.py")
        assert "not a text file" in await refusal("blob.bin")
        for path in ("", "a\0b", "x" * 5000):
            assert "not valid" in await refusal(path)
        await refusal(".")
        notes = await editor.call("_hermes/files/read", {"sessionId": session_id, "path": "notes.txt"})
        assert "ghp_" not in notes["text"]
        with pytest.raises(PeerError):
            await editor.call("_hermes/files/read", {"sessionId": "other", "path": "notes.txt"})
