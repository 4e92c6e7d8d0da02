"""Speech in the chat: a program records it, the agent transcribes it, and the text waits in the input line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes_acp.workspaces.processes.process_table import list_processes
from tests.contract.json_server import Asked, JsonServer, json_server
from tests.e2e.agent_process import configure
from tests.e2e.chat_environment import BEFORE, EDITING, READ, Place
from tests.e2e.chat_terminal import CTRL_C, CTRL_D, ENTER, ESCAPE
from tests.e2e.full_screen_stage import full_chat
from tests.e2e.test_full_screen_chat import prompt_text
from tests.model_server import Hold, Reply, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
CTRL_T = "\x14"
VOICE = b"RIFF" + bytes(range(256)) * 4
RECORDER = """#!/bin/sh
for last; do :; done
trap '/bin/cp {voice} "$last"; exit 1' TERM
while :; do /bin/sleep 0.02; done
"""
"""A recorder that, like arecord, ends with an error when it is terminated."""
STUBBORN = """#!/bin/sh
for last; do :; done
trap '' TERM
/bin/cp {voice} "$last"
while :; do /bin/sleep 0.02; done
"""
"""A recorder that survives being terminated, but has written what it heard."""
BROKEN = "#!/bin/sh\necho 'cannot open audio device default' >&2\nexit 1\n"


@pytest.fixture
def programs(tmp_path: Path) -> Callable[..., str]:
    """Return a function that creates a folder with programs from their scripts, and returns its path."""
    voice = tmp_path / "voice.wav"
    voice.write_bytes(VOICE)

    def make(**scripts: str) -> str:
        folder = tmp_path / "programs"
        folder.mkdir()
        for name, script in scripts.items():
            program = folder / name.replace("_", "-")
            program.write_text(script.format(voice=voice))
            program.chmod(0o755)
        return str(folder)

    return make


def hears(text: str) -> Any:
    def answer(asked: Asked) -> tuple[int, Any]:
        return 200, {"text": text}

    return answer


def transcribing(place: Place, server: JsonServer) -> None:
    configure(
        place.home,
        "voice: {transcription: provider, provider: heard}\n"
        f"providers: {{heard: {{wire: openai_compatible, base_url: '{server.url}/v1'}}}}\n",
    )


async def test_the_transcription_waits_in_the_line(place: Place, programs: Callable[..., str]) -> None:
    path = programs(arecord=RECORDER, pw_record=BROKEN)
    async with (
        json_server(hears("fix the tests")) as heard,
        serve([Reply("Got it.")]) as server,
    ):
        transcribing(place, heard)
        async with place.chat(server, PATH=path) as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"Please{CTRL_T}")
            await terminal.see("● Recording.")
            terminal.type(CTRL_T)
            await terminal.see("❯ Please fix the tests")
            await terminal.see("● Recording.", gone=True)
            assert server.requests == [], "nothing is sent before it was read"
            terminal.type(f" now{ENTER}")
            await terminal.see("Got it.")
    (asked,) = heard.asked
    assert VOICE in asked.body
    assert b'filename="speech.wav"' in asked.body
    assert "Please fix the tests now" in str(server.requests[-1].body)


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
async def test_a_recording_is_discarded(place: Place, programs: Callable[..., str], key: str) -> None:
    async with json_server(hears("dropped")) as heard, serve([Reply("Got it.")]) as server:
        transcribing(place, heard)
        async with place.chat(server, PATH=programs(arecord=RECORDER)) as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"typed{CTRL_T}")
            await terminal.see("● Recording.")
            terminal.type(key)
            await terminal.see("● Recording.", gone=True)
            terminal.type(ENTER)
            await terminal.see("Got it.")
            assert heard.asked == []
            assert "typed" in str(server.requests[-1].body)
            terminal.type(CTRL_T)
            await terminal.see("● Recording.")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0, "the chat ends while it records"


async def test_a_slow_transcription_is_discarded(place: Place, programs: Callable[..., str]) -> None:
    async with json_server(lambda _: (0, None)) as heard, serve([]) as server:
        transcribing(place, heard)
        async with place.chat(server, PATH=programs(arecord=RECORDER)) as terminal:
            await terminal.see("scripted-large")
            terminal.type(CTRL_T)
            await terminal.see("● Recording.")
            terminal.type(CTRL_T)
            await terminal.see("Transcribing…")
            await heard.until(lambda: bool(heard.asked))
            terminal.type(ESCAPE)
            await terminal.see("Transcribing…", gone=True)


async def test_a_killed_chat_leaves_no_microphone_on(place: Place, programs: Callable[..., str]) -> None:
    async with json_server(hears("")) as heard, serve([]) as server:
        transcribing(place, heard)
        path = programs(arecord=RECORDER)
        async with place.chat(server, PATH=path) as terminal:
            await terminal.see("scripted-large")
            terminal.type(CTRL_T)
            await terminal.see("● Recording.")
            assert recorders_in(path)
            terminal.process.kill()
            with anyio.fail_after(20):
                while recorders_in(path):
                    await anyio.sleep(0.02)


def recorders_in(path: str) -> list[int]:
    """Return the processes of programs in a folder."""
    found: list[int] = []
    for pid in list_processes():
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            found += [pid] if f"{path}/arecord" in command else []
    return found


async def test_a_failed_recording_is_explained(place: Place, programs: Callable[..., str]) -> None:
    async with json_server(hears(" ")) as heard, serve([]) as server:
        transcribing(place, heard)
        folder = Path(programs())
        async with place.chat(server, PATH=str(folder)) as terminal:
            await terminal.see("scripted-large")
            terminal.type(CTRL_T)
            await terminal.see("Install pw-record, parecord, arecord, SoX or ffmpeg.")
            (folder / "arecord").write_text(BROKEN)
            (folder / "arecord").chmod(0o755)
            terminal.type(CTRL_T)
            await terminal.see("arecord cannot record: cannot open audio device default")
            (folder / "arecord").write_text(RECORDER.format(voice=folder.parent / "voice.wav"))
            terminal.type(CTRL_T)
            await terminal.see("● Recording.")
            terminal.type(CTRL_T)
            await terminal.see("No words were found in the recording.")


async def test_without_a_transcription_nothing_is_recorded(
    place: Place, programs: Callable[..., str]
) -> None:
    path = programs(arecord=RECORDER)
    async with serve([]) as server, place.chat(server, PATH=path) as terminal:
        await terminal.see("scripted-large")
        terminal.type(CTRL_T)
        await terminal.see("Speech cannot be transcribed here.")


async def test_speech_that_arrives_at_a_question_does_not_answer_it(
    place: Place, programs: Callable[..., str]
) -> None:
    gate = anyio.Event()
    replies = (Reply(text=("I ", "will."), tool_calls=(READ,), holds=(Hold(gate, after=1),)), *EDITING[1:])
    async with json_server(hears("y")) as heard, serve(replies) as server:
        transcribing(place, heard)
        async with place.chat(server, PATH=programs(arecord=STUBBORN)) as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"change it{ENTER}{CTRL_T}")
            await terminal.see("● Recording.")
            terminal.type(CTRL_T)
            gate.set()
            await terminal.see("Your answer:")
            await heard.until(lambda: bool(heard.asked))
            assert (place.project / "a.txt").read_text() == BEFORE
            terminal.type("n")
            await terminal.see("All done.")
            await terminal.see("❯ y")
            assert (place.project / "a.txt").read_text() == BEFORE


async def test_the_full_screen_records_too(
    place: Place, programs: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", programs(arecord=RECORDER))
    async with json_server(hears("fix the tests")) as heard, serve([Reply("Got it.")]) as server:
        transcribing(place, heard)
        async with full_chat(place, server) as stage:
            await stage.say("Please")
            await stage.press("ctrl+t")
            await stage.until(lambda: "● Recording." in stage.label("status"), "recording")
            await stage.press("ctrl+t")
            await stage.until(lambda: "Please fix the tests" in prompt_text(stage.app), "the words")
            await stage.press("enter")
            await stage.see("Got it.")
    assert len(heard.asked) == 1
