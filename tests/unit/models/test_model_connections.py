"""A route uses the window that the endpoint reports, unless the user set one."""

from typing import Any

import anyio
import pytest

from hermes_acp.clock import SystemClock
from hermes_acp.config.model_choice import ModelChoice
from hermes_acp.config.settings import Settings
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.model_connections import ModelConnections
from tests.conversations.scripted_provider import ScriptedProvider


class ListedProvider(ScriptedProvider):
    """A provider whose model list states windows."""

    own: int | None = None

    async def models(self) -> tuple[ListedModel, ...]:
        return (ListedModel("known", 200_000), ListedModel("silent"))

    async def own_window(self, model: str) -> int | None:
        return self.own


def windows(model: str, own: int | None = None, **settings: Any) -> tuple[int, int]:
    """Return the window of the first route before and after the endpoint was queried."""
    provider = ListedProvider()
    provider.own = own
    choice = ModelChoice(provider="openai_compatible", model=model, base_url="http://127.0.0.1:9/v1")
    connections = ModelConnections(
        Settings.model_validate(settings), (choice,), SystemClock(), lambda _, __: provider
    )

    async def ask() -> tuple[int, int]:
        (route,) = connections.routing().routes
        before = route.window_tokens
        await connections.list_models()
        return before, route.window_tokens

    return anyio.run(ask)


@pytest.mark.parametrize(
    ("model", "own", "settings", "wanted"),
    [
        ("known", None, {}, (128_000, 200_000)),
        ("silent", None, {}, (128_000, 128_000)),
        ("silent", 16_384, {}, (128_000, 16_384)),
        ("known", 32_768, {}, (128_000, 32_768)),
        ("known", None, {"window_tokens": 50_000}, (50_000, 50_000)),
        ("known", None, {"models": {"known": {"window_tokens": 60_000}}}, (60_000, 60_000)),
        ("known", None, {"models": {"known": {"input_usd": 1}}}, (128_000, 200_000)),
    ],
)
def test_the_endpoints_window_is_used_unless_one_is_set(
    model: str, own: int | None, settings: dict[str, Any], wanted: tuple[int, int]
) -> None:
    assert windows(model, own, **settings) == wanted
