"""The backend of a session: chosen in the settings, or for one session by its editor."""

import pytest

from hermes_protocol.errors import INVALID_PARAMS
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
CONFIG = "ssh: {host: far, folder: /srv/work}\ndocker: {image: small}\n"


def backend(editor: FakeEditor, session: str) -> Json | None:
    """Return the choice of backends as last sent."""
    return next((option for option in editor.options(session) if option["id"] == "backend"), None)


async def test_with_this_machine_only_there_is_no_choice(scene: Scene) -> None:
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert backend(editor, session) is None


async def test_a_configured_backend_can_be_chosen(scene: Scene) -> None:
    scene.configure(CONFIG)
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await editor.until(lambda: backend(editor, session))
        option = backend(editor, session)
        assert option is not None
        assert option["currentValue"] == "local"
        assert [choice["value"] for choice in option["options"]] == ["local", "docker", "ssh"]
        params: Json = {"sessionId": session, "configId": "backend", "value": "modal"}
        assert (await editor.refusal("session/set_config_option", params)).code == INVALID_PARAMS


async def test_a_chosen_backend_is_used_from_the_next_turn_on(scene: Scene) -> None:
    scene.configure(CONFIG)
    scene.provider.plays(step("Hello."), step("There."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        params: Json = {"sessionId": session, "configId": "backend", "value": "ssh"}
        await editor.call("session/set_config_option", params)
        await editor.prompt(session)
    assert "the backend ssh now" in str(scene.provider.requests[-1])
    assert "/srv/work" in str(scene.provider.requests[-1])
