"""`hermes-acp voice` and the doctor's findings about speech: the model in use, downloads on request, trials, faults."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.json_server import json_server
from tests.e2e.agent_process import COMMAND, Finished, agent_environment, configure, run_command
from tests.speech.hub_server import COMMIT, REPOSITORY, hub_server
from tests.speech.whisper_model import SAID

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
WITHOUT_PACKAGE = """
import runpy
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda _, name, *more: None if name == "faster_whisper" else find(name, *more))
runpy.run_module("hermes_acp", run_name="__main__", alter_sys=True)
"""
"""A hermes-acp whose Python does not have the packages."""
UNREACHABLE = "http://127.0.0.1:9"


def uses(home: Path, model: Path | str) -> None:
    configure(home, f"voice: {{transcription: faster_whisper, model: '{model}'}}\n")


async def voice(home: Path, *words: str, hub: str = UNREACHABLE) -> Finished:
    environment = agent_environment(home, HF_ENDPOINT=hub, HF_TOKEN="hf_secret")
    return await run_command("voice", *words, environment=environment, cwd=home)


async def doctor(home: Path, *before: str) -> tuple[str, str]:
    """Return the level and the text of the doctor's finding about speech."""
    command = sys.executable if before else COMMAND
    environment = agent_environment(home)
    done = await run_command(*before, "doctor", "--json", environment=environment, cwd=home, command=command)
    findings: list[dict[str, Any]] = json.loads(done.output)["findings"]
    (found,) = (each for each in findings if each["check"] == "voice")
    return found["level"], f"{found['text']} {found['hint']}".strip()


async def test_a_model_is_downloaded_on_request_and_used(tmp_path: Path, whisper: Path, note: bytes) -> None:
    uses(tmp_path, "tiny")
    folder = tmp_path / ".hermes" / "speech-models" / "Systran--faster-whisper-tiny"
    (tmp_path / "note.wav").write_bytes(note)
    with hub_server(whisper) as hub:
        refused = await voice(tmp_path, "transcribe", "note.wav", hub=hub.url)
        assert (refused.code, hub.asked) == (2, [])
        assert refused.errors == (
            "hermes-acp: The speech model 'tiny' is not on this machine. Run `hermes-acp voice download tiny`.\n"
        )
        done = await voice(tmp_path, "download", hub=hub.url)
        assert (done.code, done.errors) == (0, "")
        assert done.output.splitlines() == [
            f"Downloading {REPOSITORY} (3 MB) to {folder}",
            f"The model is in {folder}.",
        ]
        assert not any("README" in each for each in hub.asked)
        assert hub.tokens == []
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in whisper.iterdir())
    heard = await voice(tmp_path, "transcribe", "note.wav")
    assert (heard.code, heard.output, heard.errors) == (0, f"{SAID}\n", "")
    status = await voice(tmp_path)
    assert status.output == (
        "Spoken prompts are transcribed by Systran--faster-whisper-tiny on this machine. "
        "A test with a silent recording worked.\n"
    )
    again = await voice(tmp_path, "download", "tiny")
    assert (again.code, again.output.partition(" in ")[0]) == (0, "The model is already")


ANSWERS: tuple[tuple[tuple[int, Any], int, str], ...] = (
    ((200, {"text": ""}), 0, "A test with a silent recording worked."),
    ((404, {"error": {"message": "Not Found"}}), 3, "Not Found"),
    ((200, {"models": []}), 3, "sent a transcription that cannot be read"),
)


@pytest.mark.parametrize(("answer", "code", "words"), ANSWERS)
async def test_an_endpoint_is_tested_with_silence(
    tmp_path: Path, answer: tuple[int, Any], code: int, words: str
) -> None:
    async with json_server(lambda _: answer) as server:
        configure(
            tmp_path,
            "voice: {transcription: provider, provider: speech, model: small}\n"
            f"providers: {{speech: {{wire: openai_compatible, base_url: '{server.url}/v1'}}}}\n",
        )
        done = await voice(tmp_path)
    assert (done.code, words in done.output + done.errors) == (code, True), done
    (asked,) = server.asked
    assert asked.path == "/v1/audio/transcriptions"
    assert b"RIFF" in asked.body
    assert b'filename="speech.wav"' in asked.body
    assert len(asked.body) < 10_000


async def test_a_model_is_downloaded_before_it_is_set(tmp_path: Path, whisper: Path) -> None:
    with hub_server(whisper) as hub:
        done = await voice(tmp_path, "download", REPOSITORY, hub=hub.url)
    assert (done.code, done.errors) == (0, "")
    wanted = f"voice: {{transcription: faster_whisper, model: {REPOSITORY}}}"
    assert done.output.splitlines()[-1].endswith(wanted)
    configure(tmp_path, wanted)
    assert (await doctor(tmp_path))[0] == "fine"


async def test_a_damaged_download_is_not_used_and_is_repeated(tmp_path: Path, whisper: Path) -> None:
    uses(tmp_path, "tiny")
    with hub_server(whisper) as hub:
        hub.damaged = "model.bin"
        failed = await voice(tmp_path, "download", hub=hub.url)
        assert (failed.code, "model.bin arrived damaged. Run the command again" in failed.errors) == (1, True)
        assert (await doctor(tmp_path))[0] == "problem"
        hub.damaged = ""
        hub.asked.clear()
        assert (await voice(tmp_path, "download", hub=hub.url)).code == 0
        fetched = {
            each.rpartition("/")[2]
            for each in hub.asked
            if each.startswith(f"GET /{REPOSITORY}/resolve/{COMMIT}")
        }
        assert fetched == {"model.bin"}
    assert (await doctor(tmp_path))[0] == "fine"


async def test_a_failed_download_is_explained(tmp_path: Path, whisper: Path) -> None:
    uses(tmp_path, "tiny")
    offline = await voice(tmp_path, "download")
    assert offline.code == 1
    assert f"{REPOSITORY} could not be downloaded: " in offline.errors
    assert "Traceback" not in offline.errors
    incomplete = shutil.copytree(whisper, tmp_path / "incomplete")
    (incomplete / "model.bin").unlink()
    with hub_server(incomplete) as hub:
        for words, error in (
            (
                ["download", "nobody/nothing"],
                "nobody/nothing could not be downloaded: the Hugging Face Hub has no such",
            ),
            (
                ["download"],
                f"{REPOSITORY} has no model.bin, so it is not a Whisper model in CTranslate2's format",
            ),
            (["download", "gigantic"], "There is no speech model 'gigantic'. Known names: tiny, tiny.en,"),
            (["download", "/a/folder"], "The settings name a folder, so there is nothing to download"),
        ):
            done = await voice(tmp_path, *words, hub=hub.url)
            assert done.code in (1, 2)
            assert error in done.errors
    assert not (tmp_path / ".hermes" / "speech-models" / "Systran--faster-whisper-tiny").exists()


async def test_the_doctor_names_each_fault(tmp_path: Path, whisper: Path) -> None:
    uses(tmp_path, whisper)
    assert await doctor(tmp_path) == ("fine", "Spoken prompts are transcribed by little on this machine.")
    level, text = await doctor(tmp_path, "-c", WITHOUT_PACKAGE)
    assert (level, "its packages are not installed. Install it: " in text, "[voice]" in text) == (
        "problem",
        True,
        True,
    )
    damaged = shutil.copytree(whisper, tmp_path / "damaged")
    (damaged / "model.bin").write_bytes(b"nothing")
    for model, error in (
        (damaged, f"The speech model in {damaged} cannot be loaded: "),
        (tmp_path, f"`voice.model` names {tmp_path}, which does not contain model.bin."),
        ("small", "Run `hermes-acp voice download small`."),
    ):
        uses(tmp_path, model)
        level, text = await doctor(tmp_path)
        assert (level, error in text) == ("problem", True)
    configure(tmp_path, "voice: {transcription: provider, provider: anthropic}\nproviders: {anthropic: {}}\n")
    assert (await doctor(tmp_path))[0] == "problem"


async def test_without_settings_nothing_is_reported_and_nothing_is_tested(tmp_path: Path) -> None:
    done = await voice(tmp_path)
    assert (done.code, done.output) == (
        0,
        "Spoken prompts are off. docs/voice.md shows how to set them up.\n",
    )
    missing = await voice(tmp_path, "transcribe", "nothing.wav")
    assert (missing.code, missing.errors) == (
        2,
        "hermes-acp: nothing.wav cannot be read: No such file or directory.\n",
    )
