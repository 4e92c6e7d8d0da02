"""Push-to-talk on the web page: a real Chromium records speech, and the text can be read before it is sent."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page

from tests.contract.json_server import Asked, json_server
from tests.e2e.web_page import PHONE, Visit, ask, findings, require_page, visiting
from tests.model_server import Reply, ToolCall
from tests.speech.sounds import speech, wav
from tests.speech.whisper_model import SAID, make_whisper

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
WATCH = """
window.tracks = [];
const devices = Object.getPrototypeOf(navigator.mediaDevices);
const open = devices.getUserMedia;
devices.getUserMedia = async function (...given) {
    const stream = await open.apply(this, given);
    window.tracks.push(...stream.getTracks());
    return stream;
};
"""
"""Records every microphone track that the page opens."""
STATES = "window.tracks.map((track) => track.readyState)"


@pytest.fixture
def browser(require_all: bool) -> str:
    return require_page(is_required=require_all, has_microphone=True)


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the arguments of a browser whose microphone plays a voice."""
    sound = tmp_path_factory.mktemp("sound") / "voice.wav"
    sound.write_bytes(wav(speech(8)))
    return "--use-fake-device-for-media-stream", f"--use-file-for-fake-audio-capture={sound}"


def by_endpoint(url: str) -> str:
    return (
        "voice: {transcription: provider, provider: heard}\n"
        f"providers: {{heard: {{wire: openai_compatible, base_url: '{url}/v1'}}}}\n"
    )


def hears(text: str) -> Any:
    def answer(asked: Asked) -> tuple[int, Any]:
        return 200, {"text": text}

    return answer


async def begin(visit: Visit, *, may_record: bool = True) -> tuple[Page, Locator]:
    """Open a session on a page that may use the microphone; return the page and its button."""
    await visit.context.add_init_script(WATCH)
    if may_record:
        await visit.context.grant_permissions(["microphone"], origin=visit.address.rstrip("/"))
    page = await visit.begin()
    return page, page.locator(".talk")


async def speak(page: Page, button: Locator) -> None:
    """Hold the button for one second with the microphone on."""
    await button.hover()
    await page.mouse.down()
    await page.get_by_role("button", name="Recording").wait_for()
    assert await page.evaluate(STATES) == [
        *["ended"] * (await page.evaluate("window.tracks.length") - 1),
        "live",
    ]
    await page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 1000))")
    await page.mouse.up()


def sound_of(body: bytes) -> bytes:
    """Return the recording in an uploaded form."""
    start = body.index(b"\x1a\x45\xdf\xa3")
    return body[start : body.rindex(b"\r\n--")]


async def test_speech_recorded_with_the_button_held_waits_in_the_prompt(
    tmp_path: Path, browser: str, microphone: tuple[str, ...]
) -> None:
    async with (
        json_server(hears("fix the tests.")) as server,
        visiting(
            tmp_path, browser, Reply("Done."), config=by_endpoint(server.url), arguments=microphone
        ) as visit,
    ):
        page, button = await begin(visit)
        prompt = page.get_by_label("Prompt", exact=True)
        await prompt.fill("Please:")
        assert await page.evaluate(STATES) == []
        await speak(page, button)
        await page.wait_for_function(
            "() => document.querySelector('textarea').value === 'Please: fix the tests.'"
        )
        assert await page.evaluate(STATES) == ["ended"]
        assert visit.model.requests == [], "nothing is sent before it was read"
        await button.focus()
        await page.keyboard.down("Space")
        await page.get_by_role("button", name="Recording").wait_for()
        await page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 500))")
        await page.keyboard.up("Space")
        await page.wait_for_function(
            "() => document.querySelector('textarea').value.endsWith('tests. fix the tests.')"
        )
        assert await page.evaluate(STATES) == ["ended", "ended"]
        assert await findings(page) == []
        await prompt.press("Enter")
        await page.get_by_text("Done.").wait_for()
        assert visit.complaints == []
    assert [asked.path for asked in server.asked] == ["/v1/audio/transcriptions"] * 2
    recording = sound_of(server.asked[0].body)
    decode: Any = import_module("faster_whisper").decode_audio
    vad: Any = import_module("faster_whisper.vad").get_speech_timestamps
    samples = decode(io.BytesIO(recording))
    assert 0.5 < len(samples) / 16000 < 10
    assert vad(samples), "what was recorded is the voice that the microphone heard"


async def test_the_page_works_with_a_local_transcription_model(
    tmp_path: Path, browser: str, microphone: tuple[str, ...]
) -> None:
    model = make_whisper(tmp_path / "little", SAID)
    config = f"voice: {{transcription: faster_whisper, model: '{model}'}}\n"
    async with visiting(tmp_path, browser, config=config, arguments=microphone, viewport=PHONE) as visit:
        page, button = await begin(visit)
        await speak(page, button)
        await page.wait_for_function(f"() => document.querySelector('textarea').value === '{SAID}'")
        assert await findings(page) == []
        assert visit.complaints == []


async def test_without_a_transcription_there_is_no_button(tmp_path: Path, browser: str) -> None:
    async with visiting(tmp_path, browser) as visit:
        _, button = await begin(visit)
        assert await button.count() == 0


async def test_a_failed_recording_is_explained(
    tmp_path: Path, browser: str, microphone: tuple[str, ...]
) -> None:
    async with json_server(hears(" ")) as server:
        config = by_endpoint(server.url)
        async with visiting(tmp_path, browser, config=config, arguments=microphone) as visit:
            page, button = await begin(visit, may_record=False)
            await button.hover()
            await page.mouse.down()
            await page.get_by_role("alert").get_by_text("may not use the microphone").wait_for()
            await page.mouse.up()
            assert await page.evaluate(STATES) == []
            await visit.context.grant_permissions(["microphone"], origin=visit.address.rstrip("/"))
            await button.click()
            await page.get_by_role("alert").get_by_text("Hold the button while you speak").wait_for()
            await page.wait_for_function(f"() => {STATES}.every((state) => state === 'ended')")
            assert server.asked == []
            await speak(page, button)
            await page.get_by_text("No words were found in the recording").wait_for()
            await page.get_by_role("button", name="Hold to speak").wait_for()
            assert await page.get_by_label("Prompt", exact=True).input_value() == ""


async def test_speech_answers_no_question(tmp_path: Path, browser: str, microphone: tuple[str, ...]) -> None:
    replies = (Reply("I will.", tool_calls=(READ, EDIT)), Reply("Not done."))
    async with (
        json_server(hears("Yes, allow once.")) as server,
        visiting(tmp_path, browser, *replies, config=by_endpoint(server.url), arguments=microphone) as visit,
    ):
        page, button = await begin(visit)
        await ask(page, "change a.py")
        question = page.get_by_role("group", name="Hermes asks")
        await question.wait_for()
        await speak(page, button)
        await page.wait_for_function("() => document.querySelector('textarea').value === 'Yes, allow once.'")
        assert await question.count() == 1
        assert (visit.workspace / "a.py").read_text().startswith("x = 1")
        await question.get_by_role("button", name="Reject").first.click()
        await page.get_by_text("Not done.").wait_for()
        assert (visit.workspace / "a.py").read_text().startswith("x = 1")
