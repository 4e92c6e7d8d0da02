"""Workspace files in answers: permitted ones arrive, and others do not leave."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from hermes_acp.frontends.gateway.conversations.sent_files import shown_files
from hermes_acp.frontends.gateway.messages import SENT_AGAIN
from hermes_acp.frontends.gateway.port.platform_port import PlatformError
from tests.gateway.fake_platform import WAIT_S, FakePlugin, FakeServer, Post
from tests.gateway.gateway_stage import SECRET, Stage, gateway_stage
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
KEY = (
    "-----BEGIN PRIVATE KEY-----\n"
    + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n" * 20
    + "-----END PRIVATE KEY-----\n"
)


def plugin(max_file_bytes: int = 1_000) -> FakePlugin:
    return FakePlugin(FakeServer(), max_file_bytes=max_file_bytes)


def files_in(stage: Stage) -> list[tuple[str, str, bytes]]:
    return [(each.name, each.mime_type, each.content) for post in stage.server.posts if (each := post.file)]


def kept(stage: Stage) -> list[Path]:
    folder = stage.home / ".hermes" / "gateway-files"
    return [*folder.iterdir()] if folder.exists() else []


async def until_removed(stage: Stage) -> None:
    """Wait until no file is stored; the platform is not notified of that."""
    with anyio.fail_after(WAIT_S):
        while kept(stage):
            await anyio.sleep(0.02)


async def test_files_shown_in_an_answer_arrive_after_it(tmp_path: Path) -> None:
    answer = "Here:\n\n![plot](out/plot.png)\n![Notes](<my notes.txt>)\n![plot](out/plot.png)\n`![x](a.txt)`"
    async with (
        serve((Reply(answer), Reply("Again."))) as model,
        gateway_stage(tmp_path, model, plugin=plugin()) as stage,
    ):
        (stage.project / "out").mkdir()
        (stage.project / "out/plot.png").write_bytes(PICTURE)
        (stage.project / "my notes.txt").write_text(f"token = {SECRET}\nall is well\n")
        (stage.project / "a.txt").write_text("in code")
        anna = stage.direct("anna")
        await anna.send("Show me")
        await stage.server.see("[file] my notes.txt")
        assert [(post.text.partition(" ")[0], bool(post.file)) for post in anna.posts()] == [
            ("Here:\n\n![plot](out/plot.png)\n![Notes](<my", False),
            ("[file]", True),
            ("[file]", True),
        ]
        picture, notes = files_in(stage)
        assert picture == ("plot.png", "image/png", PICTURE)
        assert (notes[0], notes[1]) == ("my notes.txt", "text/plain")
        assert notes[2].endswith(b"all is well\n")
        await until_removed(stage)
        assert "To send a file of the workspace" in str(model.requests[0].body)
        await anna.send("Thanks")
        await stage.server.see("Again.")
        assert str(model.requests[1].body).count("To send a file of the workspace") == 1
        assert not stage.bugs


async def test_a_file_the_agent_may_not_read_without_approval_is_not_sent(tmp_path: Path) -> None:
    names = (".env", "../elsewhere.txt", "/etc/passwd", "key.txt", "missing.png")
    answer = "\n".join(f"![x]({name})" for name in names)
    (tmp_path / "elsewhere.txt").write_text("outside")
    async with serve((Reply(answer),)) as model, gateway_stage(tmp_path, model, plugin=plugin()) as stage:
        (stage.project / ".env").write_text("A=1\n")
        (stage.project / "key.txt").write_text(KEY)
        await stage.direct("anna").send("Show me")
        for name in names:
            await stage.server.see(f"The file {Path(name).name} was not sent: ")
        assert files_in(stage) == []
        assert kept(stage) == []


async def test_secrets_in_a_text_are_masked(tmp_path: Path) -> None:
    async with (
        serve((Reply("![x](log.txt)"),)) as model,
        gateway_stage(tmp_path, model, plugin=plugin()) as stage,
    ):
        key = "sk-test-openai"
        (stage.project / "log.txt").write_text(f"called with {key}\n")
        await stage.direct("anna").send("Show me")
        await stage.server.see("[file] log.txt")
        ((_, _, content),) = files_in(stage)
        assert content.startswith(b"called with ")
        assert key.encode() not in content


async def test_a_platform_without_file_support_gets_none(tmp_path: Path) -> None:
    page = "https://agent.example/"
    reply = Reply("![x](out/a.txt)\n![x](b.txt)")
    async with serve((reply,)) as model, gateway_stage(tmp_path, model, web_page=page) as stage:
        (stage.project / "b.txt").write_text("text")
        await stage.direct("anna").send("Show me")
        reported = await stage.server.see("Files cannot be sent here.")
        assert reported.text.endswith(f": out/a.txt, b.txt. The web page opens the session: {page}")
        assert len(stage.server.posts) == 2
        assert "To send a file" not in str(model.requests[0].body)


async def test_a_file_that_does_not_arrive_is_reported(tmp_path: Path) -> None:
    async with (
        serve((Reply("![x](long.txt) ![x](a.txt)"),)) as model,
        gateway_stage(tmp_path, model, plugin=plugin(10)) as stage,
    ):
        (stage.project / "a.txt").write_text("text")
        (stage.project / "long.txt").write_text("longer than ten bytes")

        def refuses() -> bool:
            return bool(stage.server.with_text("long.txt was not sent: too large"))

        await stage.direct("anna").send("Show me")
        await stage.server.until(refuses)
        await stage.server.see("[file] a.txt")


async def test_a_file_that_the_platform_rejects_is_reported(tmp_path: Path) -> None:
    answer = Reply("![x](a.txt)")
    async with serve((answer,)) as model, gateway_stage(tmp_path, model, plugin=plugin()) as stage:
        (stage.project / "a.txt").write_text("text")
        server = stage.server
        server.refused_files = PlatformError("no room left", is_permanent=True)
        await stage.direct("anna").send("Show me")
        await server.see("The file a.txt was not sent: no room left")
        assert kept(stage) == []


async def test_a_file_that_may_have_arrived_is_announced_when_it_is_resent(tmp_path: Path) -> None:
    first = plugin()
    async with (
        serve((Reply("![x](a.txt)"),)) as model,
        gateway_stage(tmp_path, model, plugin=first) as stage,
    ):
        (stage.project / "a.txt").write_text("text")
        server = stage.server
        await server.until(lambda: server.context)
        server.loses_files = True
        await stage.direct("anna").send("Show me")
        await server.see(SENT_AGAIN)
        await server.until(lambda: len(server.with_text("[file] a.txt")) == 2)
        shown = [post.text.partition("\n") for post in server.posts[1:]]
        assert [(head, end) for head, _, end in shown] == [
            ("[file] a.txt", ""),
            (SENT_AGAIN, "a.txt"),
            ("[file] a.txt", ""),
        ]
        await until_removed(stage)


async def test_an_unsent_file_is_sent_after_a_restart(tmp_path: Path) -> None:
    first = plugin()
    async with serve((Reply("![x](a.txt)"),)) as model:
        async with gateway_stage(tmp_path, model, plugin=first) as stage:
            (stage.project / "a.txt").write_text("text")
            first.server.refused_files = PlatformError("later", retry_after_s=60)
            await stage.direct("anna").send("Show me")
            await stage.server.until(lambda: first.server.refusals > 0)
            assert len(kept(stage)) == 1
            (stage.project / "a.txt").write_text("changed since")
        second = FakePlugin(FakeServer(), max_file_bytes=1_000)
        async with gateway_stage(tmp_path, model, plugin=second) as stage:
            stage.gateway.stores.database.transact(
                lambda connection: connection.execute("UPDATE outbox SET due_at = 0")
            )
            post: Post = await stage.server.see("[file] a.txt")
            assert post.file is not None
            assert post.file.content == b"text"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("![a](b.png)", ["b.png"]),
        ("![a](b%20c.png) ![](<d e.png>)", ["b c.png", "d e.png"]),
        ('![a](b.png "title")', ["b.png"]),
        ("![a](file:///w/b%20c.png)", ["/w/b c.png"]),
        ("![a](https://x.invalid/b.png) ![a](data:image/png;base64,AA) ![a](//x/y) ![a](#b)", []),
        ("[a](b.png) and main.py", []),
        ("```md\n![a](b.png)\n```\n~~~\n![a](b.png)\n", []),
        ("``![a](b.png)`` `![a](c.png)` ![a](d.png)", ["d.png"]),
        (" ".join(f"![a]({number})" for number in range(9)), ["0", "1", "2", "3", "4"]),
        ("![" * 20_000 + "](", []),
        ("`" * 30_000, []),
    ],
)
def test_only_images_with_file_paths_are_files(text: str, paths: list[str]) -> None:
    assert shown_files(text) == paths
