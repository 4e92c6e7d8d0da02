"""`/digest` in an editor and as a run: the model finds earlier sessions by date and names their IDs."""

import pytest

from tests.conversations.app_scene import RealClock, Scene, plain_history
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.test_runs import ended_or_waiting, opened, wish

pytestmark = pytest.mark.anyio
SEARCH = call("session_search", "s1", since="7d", limit=20)


async def test_past_work_is_found_by_date_with_its_session(scene: Scene) -> None:
    scene.provider.plays(
        step("Fixed: the cookie was read too early."),
        step(call("session_search", "s1", since="today", until="today")),
        step("The login test was fixed."),
    )
    async with scene.editor() as editor:
        earlier = await editor.new_session(scene.project)
        await editor.prompt(earlier, "Fix the login test")
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "/digest today") == "end_turn"
        found = ShownSession(editor, session).cards["s1"]["rawOutput"]["text"]
    assert f"{earlier} #" in found
    assert "Fix the login test" in found
    asked = plain_history(scene.provider.requests[1])
    assert any("The user wants a digest of what was done here. When: today." in line for line in asked)


async def test_a_digest_is_a_run_that_asks_nobody(scene: Scene) -> None:
    scene.clock = RealClock()
    scene.provider.plays(step("Fixed."), step(SEARCH), step("The login test was fixed."))
    async with scene.editor() as editor:
        earlier = await editor.new_session(scene.project)
        await editor.prompt(earlier, "Fix the login test")
    async with opened(scene) as app:
        await app.run_service.start(wish(scene, "/digest"))
        view = await ended_or_waiting(app)
        assert await app.run_service.records.answer_of(view) == "The login test was fixed."
    assert view.state == "done"
    requests = scene.provider.requests
    assert any("When: the last 7 days (since=7d)." in line for line in plain_history(requests[1]))
    assert any(f"{earlier} #" in line for line in plain_history(requests[2]))
