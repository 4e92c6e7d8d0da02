"""Sign-in and access to models, as the unstable half of version 1 reports and changes them."""

import pytest

from hermes_protocol.errors import AUTH_REQUIRED, INVALID_PARAMS
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import step
from tests.conversations.shared_app import strangers
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


@pytest.fixture
def unstable(scene: Scene) -> Scene:
    scene.offer_unstable()
    return scene


def new(scene: Scene) -> Json:
    return {"cwd": str(scene.project), "mcpServers": []}


def states(editor: FakeEditor) -> list[str]:
    return [params["state"] for method, params in editor.notified if method == "auth/status_update"]


async def test_the_auth_status_follows_sign_out_and_sign_in(unstable: Scene) -> None:
    unstable.variables["OPENAI_API_KEY"] = "sk-hunter2"
    async with unstable.editor() as editor:
        account = {"label": "Key in OPENAI_API_KEY", "active": True}
        answer = await editor.call("auth/status", {})
        assert answer == {"state": "authenticated", "accounts": [account]}
        await editor.call("logout", {})
        await editor.call("authenticate", {"methodId": "hermes-configured"})
        await editor.call("authenticate", {"methodId": "hermes-configured"})
        assert states(editor) == ["unauthenticated", "authenticated"]
        assert "hunter2" not in str(editor.laws.frames)


async def test_an_endpoint_without_a_key_needs_no_sign_in(unstable: Scene) -> None:
    async with unstable.editor() as editor:
        assert (await editor.call("auth/status", {}))["state"] == "not_required"
    unstable.home.mkdir(exist_ok=True)
    (unstable.home / "config.yaml").write_text("nonsense: 1\n")
    async with unstable.editor() as editor:
        assert (await editor.call("auth/status", {}))["state"] == "unknown"


async def test_a_provider_is_routed_only_for_this_process(unstable: Scene) -> None:
    unstable.variables |= {"OPENAI_API_KEY": "sk-own", "OPENAI_BASE_URL": "http://me:pw@own.invalid/v1"}
    route: Json = {
        "providerId": "anthropic",
        "apiType": "anthropic",
        "baseUrl": "https://gate.invalid/",
        "headers": {"authorization": "Bearer hunter2"},
    }
    async with unstable.editor() as editor:
        session = await editor.new_session(unstable.project)
        before = (await editor.call("providers/list", {}))["providers"]
        assert {each["providerId"]: each["current"] for each in before} == {
            "openai_compatible": {"apiType": "openai", "baseUrl": "http://own.invalid/v1"},
            "anthropic": None,
        }
        assert await editor.call("providers/set", route) == {}
        unstable.provider.plays(step("Through the gate."))
        await editor.prompt(session)
        settings, choice = unstable.connected[-1]
        assert (choice.provider, choice.base_url, choice.api_key) == ("anthropic", "https://gate.invalid", "")
        assert settings.providers["anthropic"].headers == {"authorization": "Bearer hunter2"}
        after = (await editor.call("providers/list", {}))["providers"]
        assert after[1]["current"] == {"apiType": "anthropic", "baseUrl": "https://gate.invalid"}
        agent_said = str([frame for side, frame in editor.laws.frames if side == "agent"])
        assert "hunter2" not in agent_said
        assert "pw" not in agent_said
    assert not any("hunter2" in file.read_text() for file in unstable.home.rglob("*.jsonl"))
    async with unstable.editor() as editor:
        assert (await editor.call("providers/list", {}))["providers"] == before


async def test_our_own_key_is_not_sent_to_a_clients_address(unstable: Scene) -> None:
    unstable.variables["OPENAI_API_KEY"] = "sk-own"
    async with unstable.editor() as editor:
        route = {"providerId": "openai_compatible", "apiType": "openai", "baseUrl": "http://gate.invalid/v1"}
        await editor.call("providers/set", route)
        session = await editor.new_session(unstable.project)
        unstable.provider.plays(step("Hi."))
        await editor.prompt(session)
        _, choice = unstable.connected[-1]
        assert (choice.api_key, choice.base_url, choice.model) == ("", "http://gate.invalid/v1", "scripted-1")
        assert (await editor.call("auth/status", {}))["state"] == "not_required"


async def test_a_disabled_provider_is_no_longer_used(unstable: Scene) -> None:
    async with unstable.editor() as editor:
        session = await editor.new_session(unstable.project)
        for _ in range(2):
            await editor.call("providers/disable", {"providerId": "openai_compatible"})
        assert [each["current"] for each in (await editor.call("providers/list", {}))["providers"]] == [
            None,
            None,
        ]
        assert (await editor.prompt_refusal(session)).code == AUTH_REQUIRED
        assert (await editor.refusal("session/new", new(unstable))).code == AUTH_REQUIRED
        assert states(editor) == ["unauthenticated"]
        route = {"providerId": "openai_compatible", "apiType": "openai", "baseUrl": "http://gate.invalid/v1"}
        await editor.call("providers/set", route)
        unstable.provider.plays(step("Hi."))
        assert await editor.prompt(session) == "end_turn"


BAD_ROUTES: dict[str, Json] = {
    "an unknown provider": {"providerId": "main"},
    "another protocol": {"apiType": "bedrock"},
    "an address that is none": {"baseUrl": "ftp://hunter2"},
    "a header that is none": {"headers": {"x": "hunter2\nx"}},
}


@pytest.mark.parametrize("name", BAD_ROUTES)
async def test_an_invalid_route_is_rejected_without_quoting_it(unstable: Scene, name: str) -> None:
    good: Json = {"providerId": "anthropic", "apiType": "anthropic", "baseUrl": "http://a.invalid"}
    async with unstable.editor() as editor:
        before = await editor.call("providers/list", {})
        refusal = await editor.refusal("providers/set", good | BAD_ROUTES[name])
        assert refusal.code == INVALID_PARAMS
        assert "hunter2" not in str(refusal)
        assert await editor.call("providers/list", {}) == before
        assert (await editor.refusal("providers/disable", {"providerId": "main"})).code == INVALID_PARAMS


async def test_a_changed_status_is_reported_to_every_client_of_the_app(scene: Scene) -> None:
    scene.offer_unstable()
    async with strangers(scene, 3) as (first, second, silent):
        await first.initialize()
        await second.initialize()
        await second.call("auth/status", {})
        await first.call("logout", {})
        for editor in (first, second):
            await editor.until(lambda editor=editor: reported_states(editor))
            assert reported_states(editor) == ["unauthenticated"]
        await second.call("logout", {})
        await first.call("authenticate", {"methodId": "hermes-configured"})
        await second.until(lambda: len(reported_states(second)) == 2)
        assert reported_states(first) == reported_states(second)
        assert silent.notified == []


async def test_without_the_flag_no_client_is_told_about_the_status(scene: Scene) -> None:
    async with strangers(scene, 2) as (first, second):
        await first.initialize()
        await second.initialize()
        await first.call("logout", {})
        await second.call("session/list", {})
        assert reported_states(first) + reported_states(second) == []


def reported_states(editor: FakeEditor) -> list[str]:
    return [params["state"] for method, params in editor.notified if method == "auth/status_update"]
