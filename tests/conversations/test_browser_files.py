"""Uploads and downloads between the workspace and a real browser, with the questions to an editor's user."""

import pytest

from tests.attacks.browser_session import IS_THERE
from tests.contract.web_server import web_server
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import Json, ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(not IS_THERE, reason="Chromium or its driver is missing"),
]
ASK = "session/request_permission"
PAGE = """<title>Desk</title><p id=o>nothing</p><input type=file aria-label=Report
onchange="this.files[0].text().then(t => { o.textContent = 'got ' + t })">
<a href=/data download>Data</a>"""


def words_of(question: Json) -> str:
    """Return the title and the text of a question."""
    shown = question["toolCall"]
    return f"{shown['title']}\n{shown.get('content')}"


async def test_an_upload_and_a_download_are_each_asked_about_with_their_file(scene: Scene) -> None:
    scene.write("report.txt", "figures")
    async with web_server() as server, scene.editor() as editor:
        server.serve("/", PAGE)
        server.serve("/data", b"PK\0\1", "content-type: application/zip")
        url = server.url("/", "localhost")
        upload = {"ref": "e3", "path": "report.txt", "url": url}
        scene.provider.plays(
            step(call("browser", "b1", action="navigate", url=url)),
            step(call("browser", "b2", action="upload", **upload)),
            step(call("browser", "b3", action="wait_for", text="got figures")),
            step(call("browser", "b4", action="download", ref="e4", path="data.zip")),
            step("Done."),
        )
        editor.on[ASK] = allow("allow_once")
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Send the report") == "end_turn"
        cards = ShownSession(editor, session).cards
        assert {card: cards[card]["status"] for card in ("b1", "b2", "b3", "b4")} == dict.fromkeys(
            ("b1", "b2", "b3", "b4"), "completed"
        )
        assert "got figures" in cards["b3"]["rawOutput"]["text"]
        asked = [words_of(question) for question in editor.asks(ASK)]
    upload_question = next(words for words in asked if "Upload report.txt" in words)
    assert f"to {url}" in upload_question
    assert "report.txt would be sent to localhost" in upload_question
    assert any("as data.zip" in words for words in asked)
    assert (scene.project / "data.zip").read_bytes() == b"PK\0\1"


async def test_a_rejected_upload_does_not_reach_the_page(scene: Scene) -> None:
    scene.write("report.txt", "figures")
    async with web_server() as server, scene.editor() as editor:
        server.serve("/", PAGE)
        url = server.url("/", "localhost")
        scene.provider.plays(
            step(call("browser", "b1", action="navigate", url=url)),
            step(call("browser", "b2", action="upload", ref="e3", path="report.txt", url=url)),
            step(call("browser", "b3", action="snapshot")),
            step("Done."),
        )
        editor.on[ASK] = lambda params: allow(
            "reject_once" if "Upload" in params["toolCall"]["title"] else "allow_once"
        )(params)
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "Send the report")
        cards = ShownSession(editor, session).cards
    assert cards["b2"]["status"] == "failed"
    assert "nothing" in cards["b3"]["rawOutput"]["text"]
