"""Setting up a model from an editor: what is available, one trial call, and what is stored where."""

from pathlib import Path

import pytest

from hermes_protocol.errors import INVALID_PARAMS
from tests.conversations.app_scene import Scene
from tests.model_server import Fault, Reply, serve

pytestmark = pytest.mark.anyio
STATUS, CHECK, SAVE = "_hermes/setup/status", "_hermes/setup/check", "_hermes/setup/save"
KEY = "sk-secret-of-the-test-0123456789"


@pytest.fixture
def bare(scene: Scene) -> Scene:
    """Return a machine on which nothing is set up."""
    del scene.variables["HERMES_MODEL"], scene.variables["OPENAI_BASE_URL"]
    scene.is_connected_for_real = True
    return scene


def files_with(text: str, folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()}


async def test_setup_from_nothing_to_the_first_answer(bare: Scene) -> None:
    async with serve([Reply("OK."), Reply("Hello.")]) as model, bare.editor() as editor:
        status = await editor.call(STATUS, {})
        assert (status["isReady"], status["provider"]) == (False, "")
        assert "No model is set up" in status["problem"]
        offered = {each["name"]: each for each in status["providers"]}
        assert offered["openai_compatible"]["needsUrl"]
        assert not offered["anthropic"]["hasKey"]
        answers = {"provider": "openai_compatible", "baseUrl": model.openai_base_url, "apiKey": KEY}
        checked = await editor.call(CHECK, answers)
        assert checked == {
            "models": ["scripted-large", "scripted-small"],
            "model": "scripted-large",
            "isWorking": True,
            "text": "OK.",
        }
        assert not bare.home.exists() or not files_with(KEY, bare.home)
        saved = await editor.call(SAVE, {**answers, "model": "scripted-large"})
        assert saved == {"configFile": str(bare.home / "config.yaml"), "overriddenBy": []}
        assert (bare.home / ".env").stat().st_mode & 0o777 == 0o600
        status = await editor.call(STATUS, {})
        assert (status["isReady"], status["provider"], status["model"]) == (
            True,
            "openai_compatible",
            "scripted-large",
        )
        session = await editor.new_session(bare.project)
        assert await editor.prompt(session) == "end_turn"
    assert files_with(KEY, bare.home) == {".env"}


async def test_a_failure_is_reported_in_the_vendors_words_and_nothing_is_stored(bare: Scene) -> None:
    gone = Fault(status=404, message="That model is gone, says the vendor.")
    refused = Fault(status=401)
    async with serve([Reply(fault=gone), Reply(fault=refused)]) as model, bare.editor() as editor:
        answers = {"provider": "openai_compatible", "baseUrl": model.openai_base_url, "apiKey": KEY}
        checked = await editor.call(CHECK, {**answers, "model": "scripted-large"})
        assert not checked["isWorking"]
        assert "That model is gone, says the vendor." in checked["text"]
        checked = await editor.call(CHECK, {**answers, "model": "scripted-large"})
        assert "refused the key (status 401)" in checked["text"]
        assert KEY not in checked["text"]
    assert not (bare.home / ".env").exists()
    assert not (bare.home / "config.yaml").exists()


async def test_a_stored_key_is_not_sent_to_an_address_entered_in_a_form(bare: Scene) -> None:
    bare.variables["OPENAI_API_KEY"] = KEY
    async with serve([Reply("OK.")]) as model, bare.editor() as editor:
        answers = {
            "provider": "openai_compatible",
            "baseUrl": model.openai_base_url,
            "model": "scripted-large",
        }
        assert (await editor.call(CHECK, answers))["isWorking"]
        assert KEY not in str([request.headers for request in model.requests])
        bad = await editor.refusal(CHECK, {**answers, "baseUrl": "badkey"})
        assert bad.code == INVALID_PARAMS
        assert "must be a URL" in bad.message


async def test_broken_settings_are_named_and_do_not_prevent_the_answer(bare: Scene) -> None:
    bare.configure("provider: nobody\n")
    async with bare.editor() as editor:
        status = await editor.call(STATUS, {})
        assert not status["isReady"]
        assert "config.yaml" in status["problem"]
        assert status["providers"]
