"""The web tools in a session: who is asked about a host, and which tools are offered."""

import pytest

from hermes_acp.core.messages import ToolMessage
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
SEARCH = "web:\n  search:\n    provider: tavily\n"


def offered(scene: Scene) -> list[str]:
    return [tool.name for tool in scene.provider.requests[-1].tools]


async def test_a_host_needs_approval_before_it_is_contacted(scene: Scene) -> None:
    scene.provider.plays(step(call("web_fetch", "c1", url="https://Nowhere.invalid/a?b=c")), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        card = ShownSession(editor, session).cards["c1"]
    (asked,) = editor.asks(ASK)
    assert asked["toolCall"]["title"] == "Fetch https://nowhere.invalid/a?b=c"
    assert (card["kind"], card["status"]) == ("fetch", "failed")


async def test_an_allowed_host_is_not_asked_about_again_and_another_is(scene: Scene) -> None:
    scene.provider.plays(
        step(call("web_fetch", "c1", url="http://one.invalid:1/a")),
        step(call("web_fetch", "c2", url="http://one.invalid:1/b")),
        step(call("web_fetch", "c3", url="http://two.invalid:1/")),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1", "c3"]


async def test_nobody_is_asked_about_a_private_address(scene: Scene) -> None:
    scene.provider.plays(step(call("web_fetch", "c1", url="http://127.0.0.1:1/a")), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    assert editor.asks(ASK) == []
    (outcome,) = [m.text for m in scene.provider.requests[-1].messages if isinstance(m, ToolMessage)]
    assert "not on the public network" in outcome


async def test_a_search_is_offered_only_if_an_engine_is_configured(scene: Scene) -> None:
    scene.provider.plays(step("Done."), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
        assert "web_search" not in offered(scene)
        assert "web_fetch" in offered(scene)
    scene.configure(SEARCH)
    scene.variables["TAVILY_API_KEY"] = "tvly-0123456789"
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
        assert "web_search" in offered(scene)


async def test_an_engine_without_its_key_is_reported(scene: Scene) -> None:
    scene.configure(SEARCH)
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        refusal = await editor.prompt_refusal(session)
    assert "TAVILY_API_KEY" in refusal.message


async def test_the_key_of_an_engine_is_masked_under_any_name(scene: Scene) -> None:
    scene.configure(SEARCH + "    api_key_variable: PLAIN_WORD\n")
    scene.variables["PLAIN_WORD"] = "unshaped-but-secret-9000"
    scene.write("a.txt", "It is unshaped-but-secret-9000.\n")
    scene.provider.plays(step(call("read_file", "c1", path="a.txt")), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    (outcome,) = [m for m in scene.provider.requests[-1].messages if isinstance(m, ToolMessage)]
    assert "unshaped-but-secret" not in outcome.text
