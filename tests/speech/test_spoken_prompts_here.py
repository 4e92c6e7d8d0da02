"""Spoken prompts with a local model: the transcription reaches the model, and no other session waits."""

import os
import shutil
import signal
from pathlib import Path

import anyio
import pytest

from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import step
from tests.conversations.test_spoken_prompts import say, spoken
from tests.speech.test_local_transcription import workers
from tests.speech.whisper_model import SAID

pytestmark = pytest.mark.anyio


def configured(scene: Scene, model: Path | str) -> None:
    scene.configure(f"voice: {{transcription: faster_whisper, model: '{model}'}}\n")


async def is_audio_offered(editor: FakeEditor) -> bool:
    answer = await editor.initialize()
    return answer["agentCapabilities"]["promptCapabilities"]["audio"]


async def test_the_transcription_is_the_prompt(scene: Scene, whisper: Path, note: bytes) -> None:
    scene.provider.plays(step("Done."))
    configured(scene, whisper)
    async with scene.editor() as editor:
        assert await is_audio_offered(editor)
        session_id = await editor.new_session(scene.project)
        assert (await say(editor, session_id, spoken(note, "audio/wav")))["stopReason"] == "end_turn"
        assert ShownSession(editor, session_id).text == "Done."
    (request,) = scene.provider.requests
    assert SAID in str(request.messages)
    assert workers() == []


async def test_a_30_second_recording_blocks_no_other_session(
    scene: Scene, whisper: Path, note: bytes
) -> None:
    scene.provider.plays(step("Ready."), step("Written."), step("Done."))
    configured(scene, whisper)
    async with scene.editor() as editor:
        await editor.initialize()
        spoken_to, other = await editor.new_session(scene.project), await editor.new_session(scene.project)
        assert (await say(editor, spoken_to, spoken(note, "audio/wav")))["stopReason"] == "end_turn"
        (worker,) = workers()
        os.kill(worker, signal.SIGSTOP)  # A transcription that takes as long as this test wants.
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(say, editor, spoken_to, spoken(note, "audio/wav"))
            assert await editor.prompt(other, "write") == "end_turn"
            assert ShownSession(editor, other).text == "Written."
            assert len(scene.provider.requests) == 2
            os.kill(worker, signal.SIGCONT)
        assert ShownSession(editor, spoken_to).text == "Ready.Done."


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("small", "The speech model 'small' is not on this machine"),
        ("/nowhere", "`voice.model` names /nowhere, which is not a folder"),
    ],
)
async def test_without_the_model_audio_is_neither_offered_nor_accepted(
    scene: Scene, model: str, error: str
) -> None:
    configured(scene, model)
    async with scene.editor() as editor:
        assert not await is_audio_offered(editor)
        session_id = await editor.new_session(scene.project)
        with pytest.raises(PeerError, match=error):
            await say(editor, session_id, spoken())
    assert not (scene.home / "speech-models").exists()


async def test_a_downloaded_model_is_used_by_its_name(scene: Scene, whisper: Path, note: bytes) -> None:
    scene.provider.plays(step("Done."))
    configured(scene, "small")
    shutil.copytree(whisper, scene.home / "speech-models" / "Systran--faster-whisper-small")
    async with scene.editor() as editor:
        assert await is_audio_offered(editor)
        session_id = await editor.new_session(scene.project)
        assert (await say(editor, session_id, spoken(note, "audio/wav")))["stopReason"] == "end_turn"


async def test_an_unreadable_recording_is_rejected_with_its_reason(scene: Scene, whisper: Path) -> None:
    configured(scene, whisper)
    async with scene.editor() as editor:
        await editor.initialize()
        session_id = await editor.new_session(scene.project)
        with pytest.raises(PeerError, match=r"The recording cannot be used\. It cannot be decoded"):
            await say(editor, session_id, spoken())
    assert not scene.provider.requests
