"""Transcriptions on this machine: a real model in a real process, all kinds of recordings, and what can go wrong."""

import os
import shutil
import signal
import sys
from pathlib import Path

import anyio
import numpy
import pytest

from hermes_acp.config.sections.voice_settings import VoiceSettings
from hermes_acp.config.speech_models import speech_model
from hermes_acp.core.errors import BadRequest, ConfigError, ModelUnavailable
from hermes_acp.core.ports.model_ports import Recording
from hermes_acp.models.transcription.local_transcription import LocalTranscriber
from hermes_acp.workspaces.processes.process_table import list_processes
from tests.contract.json_server import json_server
from tests.speech.sounds import RATE, encoded, speech, wav
from tests.speech.whisper_model import SAID

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
WORKER = "hermes_acp.models.transcription.transcription_worker"
PLAYLIST = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{url}/secret.wav\n#EXT-X-ENDLIST\n"
LEAVES_AT_FIRST = """
import os, runpy, sys
if not os.path.exists(sys.argv[1] + "/left"):
    open(sys.argv[1] + "/left", "w").close()
    print('{{"id": 0}}', flush=True)
    raise SystemExit(0)
runpy.run_module("{worker}", run_name="__main__", alter_sys=True)
"""
"""A worker that ends just after it was started, like one that nobody has used for a while."""


def workers() -> list[int]:
    """Return the workers that this process has started."""
    table = list_processes().values()
    return [row.pid for row in table if row.parent == os.getpid() and not row.is_dead and is_worker(row.pid)]


def is_worker(pid: int) -> bool:
    return WORKER in Path(f"/proc/{pid}/cmdline").read_bytes().decode()


async def heard(folder: Path, content: bytes) -> str:
    transcriber = LocalTranscriber(folder, "cpu", None)
    try:
        with anyio.fail_after(60):
            return await transcriber.transcribe(Recording(content, "audio/ogg"))
    finally:
        await transcriber.aclose()


@pytest.mark.parametrize(
    ("container", "codec", "rate"),
    [
        ("ogg", "libopus", 48000),
        ("webm", "libopus", 48000),
        ("ipod", "aac", 44100),
        ("mp3", "libmp3lame", 44100),
        ("flac", "flac", 16000),
        ("wav", "pcm_s16le", 16000),
    ],
)
async def test_recordings_of_every_kind_are_transcribed(
    whisper: Path, container: str, codec: str, rate: int
) -> None:
    assert await heard(whisper, encoded(speech(3), container, codec, rate)) == SAID


@pytest.mark.slow
async def test_a_recording_longer_than_one_window_is_transcribed_completely(whisper: Path) -> None:
    assert await heard(whisper, wav(speech(45))) == f"{SAID}{SAID}"


async def test_no_words_are_invented_for_silence(whisper: Path) -> None:
    assert await heard(whisper, wav(numpy.zeros(5 * RATE, dtype="float32"))) == ""


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"OggS\0\1\2 not really a sound", "It cannot be decoded"),
        (b"", "It cannot be decoded"),
        (wav(numpy.zeros(0, dtype="float32")), "It contains no sound"),
    ],
)
async def test_an_unreadable_recording_is_rejected(whisper: Path, content: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        await heard(whisper, content)


async def test_a_recording_of_hours_is_rejected_before_it_fills_the_memory(whisper: Path) -> None:
    silence = encoded(numpy.zeros(16 * 60 * RATE, dtype="float32"), "flac", "flac", 16000)
    assert len(silence) < 1 << 20
    with pytest.raises(BadRequest, match="longer than 15 minutes"):
        await heard(whisper, silence)


@pytest.mark.slow
async def test_a_recording_cannot_make_the_decoder_open_addresses_or_files(
    whisper: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.wav").write_bytes(wav(speech(3)))
    async with json_server(lambda _: (200, {})) as server:
        for url in (server.url, f"file://{tmp_path}", str(tmp_path)):
            with pytest.raises(BadRequest, match="cannot be decoded"):
                await heard(whisper, PLAYLIST.format(url=url).encode())
            with pytest.raises(BadRequest, match="cannot be decoded"):
                await heard(whisper, f"ffconcat version 1.0\nfile {url}/secret.wav\n".encode())
    assert server.asked == []


@pytest.mark.slow
async def test_an_abandoned_recording_uses_no_more_resources(whisper: Path, note: bytes) -> None:
    transcriber = LocalTranscriber(whisper, "cpu", None)
    with anyio.fail_after(60):
        await transcriber.check()
        (worker,) = workers()
        os.kill(worker, signal.SIGSTOP)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcriber.transcribe, Recording(note, "audio/wav"))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert workers() == []
        assert await transcriber.transcribe(Recording(note, "audio/wav")) == SAID
        await transcriber.aclose()
    assert workers() == []


async def test_a_worker_that_ended_when_idle_is_restarted(whisper: Path, tmp_path: Path, note: bytes) -> None:
    folder = shutil.copytree(whisper, tmp_path / "model")
    command = (sys.executable, "-P", "-c", LEAVES_AT_FIRST.format(worker=WORKER))
    transcriber = LocalTranscriber(folder, "cpu", None, command)
    with anyio.fail_after(60):
        await transcriber.check()
        assert await transcriber.transcribe(Recording(note, "audio/wav")) == SAID
        await transcriber.aclose()
    assert (folder / "left").exists()


@pytest.mark.slow
async def test_a_worker_that_is_killed_is_reported_and_replaced(whisper: Path, note: bytes) -> None:
    transcriber = LocalTranscriber(whisper, "cpu", None)
    with anyio.fail_after(60):
        await transcriber.check()
        (worker,) = workers()
        os.kill(worker, signal.SIGSTOP)
        async with anyio.create_task_group() as tasks:

            async def fails() -> None:
                with pytest.raises(ModelUnavailable, match="its process ended with -9"):
                    await transcriber.transcribe(Recording(note, "audio/wav"))

            tasks.start_soon(fails)
            await anyio.wait_all_tasks_blocked()
            os.kill(worker, signal.SIGKILL)
        assert await transcriber.transcribe(Recording(note, "audio/wav")) == SAID
        await transcriber.aclose()


async def test_a_damaged_model_is_named(whisper: Path, tmp_path: Path, note: bytes) -> None:
    folder = shutil.copytree(whisper, tmp_path / "model")
    (folder / "model.bin").write_bytes(b"\0" * 100)
    with pytest.raises(ConfigError, match=f"The speech model in {folder} cannot be loaded"):
        await heard(folder, note)
    assert workers() == []


async def test_the_agents_keys_are_not_in_the_workers_environment(whisper: Path) -> None:
    transcriber = LocalTranscriber(whisper, "cpu", None)
    with anyio.fail_after(60):
        await transcriber.check()
        (worker,) = workers()
        variables = Path(f"/proc/{worker}/environ").read_bytes().split(b"\0")
        await transcriber.aclose()
    assert [each for each in variables if each] == [b"HF_HUB_OFFLINE=1"]


@pytest.mark.parametrize("missing", ["model.bin", "config.json", "tokenizer.json", "vocabulary.json"])
def test_a_folder_without_a_model_file_is_rejected(whisper: Path, tmp_path: Path, missing: str) -> None:
    folder = shutil.copytree(whisper, tmp_path / "model")
    voice = VoiceSettings(transcription="faster_whisper", model=str(folder))
    assert speech_model(tmp_path, voice) == folder
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=f"which does not contain {missing}"):
        speech_model(tmp_path, voice)


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (None, "Run `hermes-acp voice download small`"),
        ("Systran/faster-whisper-tiny", "Run `hermes-acp voice download Systran/faster-whisper-tiny`"),
        ("gigantic", "There is no speech model 'gigantic'"),
        ("../../etc", "There is no speech model '../../etc'"),
        ("a/../b", "There is no speech model 'a/../b'"),
        ("/nowhere/at/all", "which is not a folder"),
    ],
)
def test_a_missing_model_is_named_and_never_downloaded(tmp_path: Path, model: str | None, error: str) -> None:
    with pytest.raises(ConfigError) as caught:
        speech_model(tmp_path, VoiceSettings(transcription="faster_whisper", model=model))
    assert error in caught.value.sentence()
    assert list(tmp_path.iterdir()) == []
