"""Usage of sessions, and files to mention, as a client requests them."""

import base64
import os
import time

import pytest

from hermes_acp.app.service_factories import build_usage_service
from hermes_acp.config.environment import environment_of
from hermes_acp.core.events import Event, StepEnded
from hermes_acp.core.messages import Usage
from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import RealClock, Scene
from tests.conversations.scripted_provider import Step
from tests.conversations.wire_laws import Json
from tests.unit.storage.timed_records import said, write_timed

pytestmark = pytest.mark.anyio
HERMES: Json = {"hermes": {}}


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.clock = RealClock()
    return scene


async def test_usage_is_summed_by_session_and_by_any_group(scene: Scene) -> None:
    scene.provider.plays(Step(("One.",), usage=Usage(100, 10, 40)), Step(("Two.",), usage=Usage(200, 20)))
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(scene.project)
        nothing = await editor.call("_hermes/usage/list", {})
        assert (nothing["groups"], nothing["sessions"], nothing["isWhole"]) == ([], [], True)
        await editor.prompt(session_id, "count")
        await editor.prompt(session_id, "count again")
        used = await editor.call("_hermes/usage/list", {"days": 1})
        (one,) = used["sessions"]
        assert (one["sessionId"], one["title"], one["cwd"]) == (session_id, "count", str(scene.project))
        assert (one["inputTokens"], one["outputTokens"]) == (300, 30)
        assert used["firstDay"] == used["lastDay"]
        (day,) = used["groups"]
        assert day["name"] == used["lastDay"]
        for by, name in (("workspace", str(scene.project)), ("profile", "default"), ("day", day["name"])):
            (group,) = (await editor.call("_hermes/usage/list", {"by": by}))["groups"]
            assert group == day | {"name": name}
        assert (day["requests"], day["inputTokens"], day["cachedTokens"], day["outputTokens"]) == (
            2,
            300,
            40,
            30,
        )
        assert (await editor.call("_hermes/usage/list", {"by": "tool"}))["groups"] == []
        with pytest.raises(PeerError):
            await editor.call("_hermes/usage/list", {"by": "colour"})


async def test_usage_of_children_counts_for_their_session_and_a_profile_sees_only_its_own(
    scene: Scene,
) -> None:
    now = time.time()
    events: list[tuple[Event, float]] = [
        (said("hi"), now),
        (StepEnded("m", usage=Usage(70, 7), provider="acme", model="big"), now),
    ]
    write_timed(scene.home, "ses_a", events, "/work")
    write_timed(scene.home, "ses_a/ses_a.1", events, "/work")
    write_timed(scene.home, "ses_old", [(each, now - 9 * 86_400) for each, _ in events], "/work")
    other = scene.home / "profiles" / "other"
    write_timed(other, "ses_b", events)
    async with scene.editor(_meta=HERMES) as editor:
        used = await editor.call("_hermes/usage/list", {"days": 7, "by": "profile"})
        assert [(one["sessionId"], one["inputTokens"]) for one in used["sessions"]] == [("ses_a", 140)]
        assert [(each["name"], each["requests"]) for each in used["groups"]] == [("default", 2), ("other", 1)]
    home = environment_of({"HERMES_HOME": str(scene.home), "HERMES_PROFILE": "other"})
    service = build_usage_service(home)
    report = await service.report("profile", ("", "9999"))
    service.close()
    assert [(each.name, each.requests) for each in report.sums] == [("other", 1)]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
async def test_no_index_is_written_to_a_folder_of_another_user(scene: Scene) -> None:
    other = scene.home / "profiles" / "other"
    write_timed(other, "ses_b", [(StepEnded("m", usage=Usage(70, 7), model="big"), time.time())])
    os.chown(other, 65534, 65534)
    service = build_usage_service(environment_of({"HERMES_HOME": str(scene.home)}))
    report = await service.report("profile", ("", "9999"))
    service.close()
    assert (report.sums, report.left_out) == ([], ["other"])
    assert [each.name for each in other.iterdir()] == ["sessions"]


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


async def test_a_file_the_agent_may_not_read_without_approval_is_not_shown(scene: Scene) -> None:
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


async def test_any_file_is_sent_completely_unless_the_agent_may_not_read_it(scene: Scene) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    scene.write("notes.txt", "use ghp_abcdefghijklmnopqrstuvwxyz0123456789 here\nGr\u00fc\u00dfe\n")
    scene.write(".env", "A=1\n")
    scene.write("key.txt", KEY)
    (scene.project / "plot.bin").write_bytes(picture)
    (scene.project / "large.bin").write_bytes(bytes((10 << 20) + 1))
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(scene.project)

        async def fetch(path: str) -> Json:
            return await editor.call("_hermes/files/fetch", {"sessionId": session_id, "path": path})

        shown = await fetch("plot.bin")
        assert (shown["name"], shown["mimeType"]) == ("plot.bin", "image/png")
        assert base64.b64decode(shown["data"]) == picture
        notes = base64.b64decode((await fetch("notes.txt"))["data"]).decode()
        assert notes.endswith("\nGr\u00fc\u00dfe\n")
        assert "ghp_" not in notes
        for path, words in (
            (".env", "is not shown here"),
            ("key.txt", "is not shown here"),
            ("/etc/passwd", "outside the session's folders"),
            ("missing.png", "There is no file"),
            ("large.bin", "the maximum is 10,485,760"),
        ):
            with pytest.raises(PeerError, match=words):
                await fetch(path)
