"""An endpoint that does not list its models delays only requests that need the list."""

import anyio
import pytest

from hermes_protocol.errors import AUTH_REQUIRED
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import Pause, ScriptedProvider, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ROUTE: Json = {"providerId": "anthropic", "apiType": "anthropic", "baseUrl": "http://gate.invalid"}
CONFIGURED: Json = {"methodId": "hermes-configured"}


@pytest.fixture
def slow(scene: Scene) -> Scene:
    """Configure no model, and have the endpoint never list its models."""
    scene.offer_unstable()
    del scene.variables["HERMES_MODEL"]
    scene.provider.listing = Pause()
    return scene


async def reached(scene: Scene) -> None:
    assert scene.provider.listing
    await scene.provider.listing.reached.wait()


async def test_configuration_changes_do_not_wait(slow: Scene) -> None:
    async with slow.editor() as editor:
        await reached(slow)
        assert await editor.call("authenticate", CONFIGURED) == {}
        assert await editor.new_session(slow.project)
        assert await editor.call("logout", {}) == {}
        assert (await editor.refusal("session/new", {"cwd": "/", "mcpServers": []})).code == AUTH_REQUIRED
        assert await editor.call("authenticate", CONFIGURED) == {}
        assert await editor.call("providers/set", ROUTE) == {}
        assert await editor.new_session(slow.project)
        assert (await editor.call("auth/status", {}))["state"] == "not_required"


async def test_a_waiting_prompt_uses_the_route_that_is_configured_meanwhile(slow: Scene) -> None:
    other = slow.others["anthropic"] = ScriptedProvider()
    other.listed = ("other-1",)
    other.plays(step("From there."))
    async with slow.editor() as editor:
        session = await editor.new_session(slow.project)
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                assert await editor.prompt(session) == "end_turn"

            tasks.start_soon(ask)
            await reached(slow)
            await editor.call("providers/set", ROUTE)
        assert ShownSession(editor, session).text == "From there."
        await editor.until(lambda: "other-1" in str(editor.options(session)))


async def test_a_named_model_is_prompted_while_the_list_of_models_is_pending(scene: Scene) -> None:
    scene.provider.listing = Pause()
    scene.provider.plays(step("Yes."), step("Yes, too."))
    async with scene.editor() as editor:
        first, second = await editor.new_session(scene.project), await editor.new_session(scene.project)
        await scene.provider.listing.reached.wait()
        assert await editor.call("authenticate", CONFIGURED) == {}
        assert await editor.prompt(first) == await editor.prompt(second) == "end_turn"
