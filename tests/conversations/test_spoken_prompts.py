"""Spoken prompts reach the model as text through a real transcription endpoint; without one, audio is rejected."""

import base64
from typing import Any

import anyio
import pytest

from hermes_protocol.errors import PeerError
from tests.contract.json_server import Asked, JsonServer, json_server
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
SOUND = b"OggS\0\1\2 not really a sound \r\n--"
KEY = "sk-transcription-0000"


def configured(scene: Scene, server: JsonServer, more: str = "") -> None:
    scene.configure(
        f"voice: {{transcription: provider, provider: speech, model: small{more}}}\n"
        "providers: {speech: {wire: openai_compatible, api_key_variable: SPEECH_KEY, "
        f"base_url: '{server.url}/v1'}}}}\n"
    )
    scene.variables["SPEECH_KEY"] = KEY


def spoken(content: bytes = SOUND, kind: str = "audio/ogg; codecs=opus") -> Json:
    return {"type": "audio", "mimeType": kind, "data": base64.b64encode(content).decode()}


def hears(text: str) -> Any:
    def answer(asked: Asked) -> tuple[int, Any]:
        return 200, {"text": text}

    return answer


async def say(editor: FakeEditor, session_id: str, *blocks: Json) -> Json:
    return await editor.call("session/prompt", {"sessionId": session_id, "prompt": list(blocks)})


async def test_the_transcribed_text_is_the_prompt(scene: Scene) -> None:
    scene.provider.plays(step("Done."))
    async with json_server(hears("  Fix the tests.\n")) as server:
        configured(scene, server, ", language: en")
        async with scene.editor() as editor:
            answer = await editor.initialize()
            assert answer["agentCapabilities"]["promptCapabilities"]["audio"] is True
            session_id = await editor.new_session(scene.project)
            text: Json = {"type": "text", "text": "Please:"}
            assert (await say(editor, session_id, text, spoken()))["stopReason"] == "end_turn"
            assert ShownSession(editor, session_id).text == "Done."
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/audio/transcriptions")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    for part in (SOUND, b'filename="speech.ogg"', b'name="model"\r\n\r\nsmall', b'name="language"\r\n\r\nen'):
        assert part in asked.body
    (request,) = scene.provider.requests
    assert "Fix the tests." in str(request.messages)
    (record,) = (scene.home / "sessions").glob("*.jsonl")
    assert base64.b64encode(SOUND).decode() not in record.read_text()


async def test_without_a_setting_audio_is_neither_offered_nor_accepted(scene: Scene) -> None:
    async with scene.editor() as editor:
        answer = await editor.initialize()
        assert answer["agentCapabilities"]["promptCapabilities"]["audio"] is False
        session_id = await editor.new_session(scene.project)
        with pytest.raises(PeerError, match="no transcription is set up"):
            await say(editor, session_id, spoken())


@pytest.mark.parametrize(
    ("block", "answer", "words"),
    [
        (spoken(), (200, {"text": " "}), "No words were found in the recording"),
        (spoken(), (200, {"words": 3}), "sent a transcription that cannot be read"),
        (spoken(), (401, {"error": {"message": "no"}}), "SPEECH_KEY"),
        (spoken(b"x" * (20 * 1024 * 1024 + 1)), (200, {"text": "x"}), "the maximum is 20,971,520"),
        (spoken(kind="video/mp4"), (200, {"text": "x"}), "'video/mp4' is not an audio type"),
        ({**spoken(), "data": "%%%"}, (200, {"text": "x"}), "not valid base64"),
    ],
)
async def test_an_unusable_recording_is_rejected_with_its_reason(
    scene: Scene, block: Json, answer: tuple[int, Any], words: str
) -> None:
    async with json_server(lambda _: answer) as server:
        configured(scene, server)
        async with scene.editor() as editor:
            await editor.initialize()
            session_id = await editor.new_session(scene.project)
            with pytest.raises(PeerError, match=words):
                await say(editor, session_id, block)
    assert not scene.provider.requests


async def test_a_client_can_have_a_recording_transcribed_before_it_is_sent(scene: Scene) -> None:
    async with json_server(hears(" Fix the tests. ")) as server:
        configured(scene, server)
        async with scene.strange_editor() as editor:
            answer = await editor.initialize(_meta={"hermes": {}})
            assert answer["agentCapabilities"]["_meta"]["hermes"]["transcription"] is True
            asked = {key: value for key, value in spoken().items() if key != "type"}
            assert await editor.call("_hermes/speech/transcribe", asked) == {"text": "Fix the tests."}
            with pytest.raises(PeerError, match="'video/mp4' is not an audio type"):
                await editor.call("_hermes/speech/transcribe", asked | {"mimeType": "video/mp4"})
            with pytest.raises(PeerError, match="not valid base64"):
                await editor.call("_hermes/speech/transcribe", asked | {"data": "%%%"})
    assert len(server.asked) == 1
    assert not (scene.home / "sessions").exists()


async def test_without_a_setting_no_recording_is_transcribed(scene: Scene) -> None:
    async with scene.strange_editor() as editor:
        answer = await editor.initialize(_meta={"hermes": {}})
        assert "transcription" not in answer["agentCapabilities"]["_meta"]["hermes"]
        with pytest.raises(PeerError, match="no transcription is set up"):
            await editor.call("_hermes/speech/transcribe", {"mimeType": "audio/ogg", "data": ""})


async def test_a_slow_transcription_blocks_no_other_session(scene: Scene) -> None:
    scene.provider.plays(step("Written."))
    async with json_server(lambda _: (0, None)) as server:
        configured(scene, server)
        async with scene.editor() as editor, anyio.create_task_group() as tasks:
            await editor.initialize()
            slow, other = await editor.new_session(scene.project), await editor.new_session(scene.project)
            tasks.start_soon(say, editor, slow, spoken())
            await server.until(lambda: bool(server.asked))
            assert await editor.prompt(other, "write") == "end_turn"
            tasks.cancel_scope.cancel()
