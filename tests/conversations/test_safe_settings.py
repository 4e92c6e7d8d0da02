"""Settings that clients can change: which ones they are, how they are validated, and that the next turn uses them."""

import pytest
import yaml

from hermes_acp.config.safe_settings import SAFE_SETTINGS
from hermes_acp.frontends.acp.messages.settings import SETTING_TEXTS
from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import Scene
from tests.conversations.scripted_provider import Step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
HERMES: Json = {"hermes": {}}
WIDENING = (
    "mode", "allow_bypass", "rules", "sandbox.mode", "sandbox.network", "web.allow_private", "model", "provider",
    "hooks", "mcp_servers", "checks", "backend", "serve.port", "browser.is_offered", "budget", "", "a.b", "titles.x",
)  # fmt: skip


def test_each_of_these_settings_has_a_description() -> None:
    assert set(SETTING_TEXTS) == set(SAFE_SETTINGS)
    assert not set(WIDENING) & set(SAFE_SETTINGS)


async def test_a_setting_is_listed_changed_and_reset_and_comments_stay(scene: Scene) -> None:
    file = scene.home / "config.yaml"
    scene.configure("# mine\nbudget:\n  max_steps: 7  # few\n")
    async with scene.editor(_meta=HERMES) as editor:

        async def listed() -> dict[str, Json]:
            found = await editor.call("_hermes/settings/list", {})
            return {each["name"]: each for each in found["settings"]}

        async def change(name: str, value: str) -> None:
            await editor.call("_hermes/settings/change", {"name": name, "value": value})

        before = await listed()
        assert tuple(before) == SAFE_SETTINGS
        steps = before["budget.max_steps"]
        assert (steps["kind"], steps["value"], steps["fallback"], steps["isSet"]) == (
            "integer",
            "7",
            "100",
            True,
        )
        titles = before["titles"]
        assert (titles["kind"], titles["value"], titles["choices"]) == (
            "choice",
            "first_line",
            ["first_line", "model"],
        )
        assert not titles.get("isSet")
        assert (before["budget.max_cost_usd"]["kind"], before["budget.max_cost_usd"]["value"]) == (
            "number",
            "",
        )

        await change("budget.max_steps", "9")
        await change("compaction.at", "0.5")
        await change("titles", "model")
        assert file.read_text().startswith("# mine\nbudget:\n  max_steps: 9  # few\n")
        assert yaml.safe_load(file.read_text())["compaction"] == {"at": 0.5}
        after = await listed()
        assert [after[name]["value"] for name in ("budget.max_steps", "compaction.at", "titles")] == [
            "9",
            "0.5",
            "model",
        ]
        await change("titles", "")
        assert (await listed())["titles"]["value"] == "first_line"


async def test_invalid_values_and_wider_permissions_are_rejected_and_nothing_is_written(
    scene: Scene,
) -> None:
    file = scene.home / "config.yaml"
    scene.configure("mode: plan\n")
    async with scene.editor(_meta=HERMES) as editor:

        async def refusal(name: str, value: str) -> str:
            with pytest.raises(PeerError) as refused:
                await editor.call("_hermes/settings/change", {"name": name, "value": value})
            return str(refused.value)

        for name in WIDENING:
            assert "cannot change the setting" in await refusal(name, "auto")
        assert "whole number" in await refusal("budget.max_steps", "many")
        assert "whole number" in await refusal("budget.max_steps", "1.5")
        await refusal("budget.max_steps", "0")
        await refusal("budget.timeout_s", "nan")
        await refusal("compaction.at", "7")
        await refusal("titles", "model\nmode: bypass")
        assert file.read_text() == "mode: plan\n"


async def test_the_next_turn_respects_a_changed_limit(scene: Scene) -> None:
    scene.provider.plays(Step(("One.",)), Step(("Two.",)))
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(scene.project)
        await editor.prompt(session_id, "first")
        await editor.call("_hermes/settings/change", {"name": "max_output_tokens", "value": "300"})
        await editor.prompt(session_id, "second")
    first, second = scene.provider.requests
    assert (first.max_output_tokens, second.max_output_tokens) == (None, 300)
