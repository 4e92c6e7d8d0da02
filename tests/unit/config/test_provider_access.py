"""A client's changes to the connection to a model, on top of the configuration."""

from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.config.provider_access import ProviderAccess, ProviderEndpoint, ProviderStatus
from hermes_acp.core.errors import BadRequest

BOTH = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "HERMES_MODEL": "gpt-6-sol"}
GATE = ProviderEndpoint("https://gate.invalid/v1/", (("authorization", "Bearer hunter2"),))


def access(home: Path, **variables: str) -> ProviderAccess:
    return ProviderAccess(environment_of({"HERMES_HOME": str(home), **variables}), {})


def chosen(access: ProviderAccess) -> tuple[str, str, str, str] | None:
    _, choice = access.read()
    return choice and (choice.provider, choice.model, choice.base_url, choice.api_key)


def test_a_route_is_preferred_until_it_is_removed(tmp_path: Path) -> None:
    ours = access(tmp_path, **BOTH)
    openai = ("openai_compatible", "gpt-6-sol", "https://api.openai.com/v1", "sk-o")
    assert chosen(ours) == openai
    ours.route("anthropic", GATE)
    assert chosen(ours) == ("anthropic", "", "https://gate.invalid/v1", "")
    ours.route("openai_compatible", GATE)
    assert chosen(ours) == ("openai_compatible", "gpt-6-sol", "https://gate.invalid/v1", "")
    ours.disable("openai_compatible")
    assert chosen(ours) == ("anthropic", "", "https://gate.invalid/v1", "")
    ours.disable("anthropic")
    assert chosen(ours) is None
    assert ours.provider_statuses() == (ProviderStatus("openai_compatible"), ProviderStatus("anthropic"))


def test_a_disabled_provider_leaves_the_other_with_its_own_model(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("provider: openai_compatible\n", encoding="utf-8")
    ours = access(tmp_path, **BOTH, HERMES_PROVIDER="openai_compatible")
    ours.disable("openai_compatible")
    assert chosen(ours) == ("anthropic", "", "https://api.anthropic.com", "sk-a")
    assert not ours.may_detect()
    assert ours.provider_statuses() == (
        ProviderStatus("openai_compatible"),
        ProviderStatus("anthropic", "https://api.anthropic.com", "Key in ANTHROPIC_API_KEY", is_used=True),
    )


def test_a_key_under_another_name_is_not_sent_to_a_clients_address_either(tmp_path: Path) -> None:
    settings = "providers:\n  openai_compatible:\n    api_key_variable: MY_KEY\n    connect_timeout_s: 3\n"
    (tmp_path / "config.yaml").write_text(settings, encoding="utf-8")
    ours = access(tmp_path, MY_KEY="sk-mine")
    assert chosen(ours) == ("openai_compatible", "", "https://api.openai.com/v1", "sk-mine")
    ours.route("openai_compatible", GATE)
    section = ours.read()[0].providers["openai_compatible"]
    assert chosen(ours) == ("openai_compatible", "", "https://gate.invalid/v1", "")
    assert (section.connect_timeout_s, section.headers) == (3, dict(GATE.headers))
    assert ours.provider_statuses()[0] == ProviderStatus(
        "openai_compatible", "https://gate.invalid/v1", "Set by the editor", True
    )


@pytest.mark.parametrize(
    "route",
    [
        ProviderEndpoint("gate.invalid"),
        ProviderEndpoint("http://a b"),
        ProviderEndpoint("http://ä"),
        ProviderEndpoint("http://a", (("", "x"),)),
    ],
    ids=["no scheme", "a space", "no ASCII", "no name"],
)
def test_an_unusable_change_changes_nothing(tmp_path: Path, route: ProviderEndpoint) -> None:
    ours = access(tmp_path, **BOTH)
    with pytest.raises(BadRequest):
        ours.route("anthropic", route)
    assert not ours.is_changed
    assert "hunter2" not in repr(GATE)
