"""Images that tools read: on the card, in what a model with vision is sent, and after a restart."""

import base64

import pytest

from hermes_acp.core.messages import ImagePart, ToolMessage
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR\0\0\0\1\0\0\0\1" + bytes(9) + b"\0\0\0\0IEND"
DATA = base64.b64encode(PNG).decode()


@pytest.mark.parametrize("sees", [True, False], ids=["seeing", "blind"])
async def test_an_image_is_on_its_card_and_is_sent_to_a_model_with_vision(scene: Scene, sees: bool) -> None:
    scene.configure(f"models:\n  scripted-1:\n    sees: {str(sees).lower()}\n")
    (scene.project / "p.png").write_bytes(PNG)
    scene.provider.plays(step(call("read_file", "c1", path="p.png")), step("A picture."), step("Still."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        content = ShownSession(editor, session).cards["c1"]["content"]
        assert content[-1]["content"] == {"type": "image", "mimeType": "image/png", "data": DATA}
    async with scene.editor() as editor:
        params: dict[str, object] = {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}
        await editor.call("session/load", params)
        assert ShownSession(editor, session).cards["c1"]["content"] == content
        await editor.prompt(session)
    for request in scene.provider.requests[1:]:
        (outcome,) = [message for message in request.messages if isinstance(message, ToolMessage)]
        assert outcome.parts == ((ImagePart("image/png", DATA),) if sees else ())
        assert ("cannot see" in outcome.text) is not sees
