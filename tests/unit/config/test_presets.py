"""Presets of models: what their file contains, and what choosing one selects."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from hermes_acp.config.environment import KEY_VARIABLES, MODEL_VARIABLES, environment_of
from hermes_acp.config.model_choice import ModelChoice, choose_model
from hermes_acp.config.provider_presets import WIRES, presets
from hermes_acp.config.settings import ProviderSettings, Settings, load_settings
from hermes_acp.core.errors import AuthRequired, ConfigError
from hermes_acp.models.connection_factory import open_connection
from hermes_acp.models.providers import PROVIDERS


def chosen(settings: dict[str, object] | None = None, /, **variables: str) -> ModelChoice | None:
    return choose_model(Settings.model_validate(settings or {}), variables)


def named(settings: dict[str, object], /, **variables: str) -> ModelChoice:
    found = chosen(settings, **variables)
    assert found
    return found


def test_every_provider_has_a_preset_and_every_preset_a_provider() -> None:
    assert set(PROVIDERS) <= set(presets())
    for name, preset in presets().items():
        assert preset.wire in PROVIDERS, name
        assert set(preset.wires.values()) <= set(PROVIDERS), name
        assert ProviderSettings.model_validate({"wire": preset.wire}).wire == preset.wire


@pytest.mark.parametrize("name", tuple(presets()))
def test_every_fact_has_a_source_and_a_date(name: str) -> None:
    preset = presets()[name]
    assert preset.source
    assert date.fromisoformat(preset.read_on) > date(2026, 1, 1)
    assert preset.base_url.startswith("http://127.0.0.1:" if preset.is_local else "https://")


def test_the_names_that_select_a_provider_are_known_without_reading_the_file() -> None:
    choosing = {
        variable for preset in presets().values() if preset.found_by_key for variable in preset.key_variables
    }
    assert choosing <= set(MODEL_VARIABLES)
    assert {name: presets()[name].key_variables[0] for name in KEY_VARIABLES} == dict(KEY_VARIABLES)


@pytest.mark.parametrize("name", tuple(presets()))
def test_every_preset_opens(name: str) -> None:
    variables = {"HERMES_PROVIDER": name, "AWS_REGION": "eu-west-3", "GOOGLE_CLOUD_PROJECT": "p-1"}
    variables |= dict.fromkeys(presets()[name].key_variables[:1], "k")
    choice = chosen({}, **variables)
    assert choice is not None
    parts = {
        "region": "eu-west-3",
        "host": "aiplatform.googleapis.com",
        "project": "p-1",
        "location": "global",
    }
    assert choice.base_url == presets()[name].base_url.format_map(parts)
    # Without TLS, no certificates are loaded.
    near = choice.model_copy(update={"base_url": "http://127.0.0.1:1"})
    assert open_connection(near, ProviderSettings()).name == name


def test_a_preset_is_named_in_settings_or_in_the_environment() -> None:
    for choice in (
        chosen({"provider": "deepseek"}, DEEPSEEK_API_KEY="k"),
        chosen(HERMES_PROVIDER="deepseek", DEEPSEEK_API_KEY="k"),
        chosen(DEEPSEEK_API_KEY="k"),
    ):
        assert choice is not None
        assert (choice.provider, choice.base_url, choice.api_key, choice.key_variable) == (
            "deepseek",
            "https://api.deepseek.com",
            "k",
            "DEEPSEEK_API_KEY",
        )


def test_an_unknown_preset_is_answered_with_all_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"HERMES_PROVIDER is 'deepseak'\.") as caught:
        chosen(HERMES_PROVIDER="deepseak")
    assert "anthropic, openai_compatible" in caught.value.hint
    assert "lmstudio" in caught.value.hint
    for place, line, text in (
        ("provider", 2, "titles: first_line\nprovider: deepseak\n"),
        ("providers.nobody", 2, "providers:\n  nobody: {wire: anthropic}\n"),
        ("fallbacks.1", 3, "fallbacks:\n- anthropic/m\n- deepseak/m\n"),
        ("recall.provider", 2, "recall:\n  provider: deepseak\n  model: m\n"),
    ):
        (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(
            ConfigError, match=rf"line {line}: `{place}`: must be one of: .*deepseek.*base_url"
        ):
            load_settings(environment_of({"HERMES_HOME": str(tmp_path)}))
    (tmp_path / "config.yaml").write_text(
        "providers:\n  'a b': {base_url: 'http://h/v1'}\n", encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="up to 32 letters"):
        load_settings(environment_of({"HERMES_HOME": str(tmp_path)}))


def test_a_custom_endpoint_is_a_provider_like_any_other() -> None:
    gateway = {"base_url": "https://llm.example.org/v1/", "wire": "anthropic", "headers": {"x-team": "a"}}
    found = named({"providers": {"my-gateway": gateway}, "model": "m"}, MY_GATEWAY_API_KEY="sk-1")
    assert (found.provider, found.base_url, found.api_key) == (
        "my-gateway",
        "https://llm.example.org/v1",
        "sk-1",
    )
    found = named({"providers": {"my-gateway": gateway}, "model": "m"})
    assert (found.provider, found.api_key) == ("my-gateway", "")
    both: dict[str, object] = {
        "providers": {"my-gateway": gateway, "other": {"base_url": "http://localhost:9/v1"}}
    }
    assert named(both, HERMES_PROVIDER="other", HERMES_MODEL="m").base_url == "http://localhost:9/v1"
    assert named({**both, "provider": "other", "model": "m"}).provider == "other"
    with pytest.raises(ConfigError, match="HERMES_PROVIDER is 'third'") as caught:
        chosen(both, HERMES_PROVIDER="third")
    assert caught.value.hint.endswith("my-gateway, other.")


def test_the_keys_of_a_provider_are_used_by_its_strategy() -> None:
    variables = {"KEY_A": "sk-a", "KEY_B": "sk-b"}
    section = {"api_key_variables": ["KEY_A", "KEY_B"], "keys_by": "cheapest"}
    prices = {"key_prices": {"KEY_A": 2, "KEY_B": 0.5}}
    found = named({"provider": "deepseek", "providers": {"deepseek": {**section, **prices}}}, **variables)
    assert [key.variable for key in found.keys] == ["KEY_B", "KEY_A"]
    with pytest.raises(ValueError, match="key_prices names no price for KEY_A"):
        ProviderSettings.model_validate({**section, "key_prices": {"KEY_B": 1}})


def test_a_wire_format_is_built_in_or_added_by_a_package() -> None:
    assert sorted(WIRES) == list(PROVIDERS)
    with pytest.raises(ValueError, match="must be one of: anthropic"):
        ProviderSettings.model_validate({"wire": "nothing_of_the_kind"})


def test_a_chosen_provider_without_a_key_names_the_missing_variable() -> None:
    with pytest.raises(AuthRequired, match="DeepSeek needs an API key") as caught:
        chosen({"provider": "deepseek"})
    assert caught.value.hint == "Set DEEPSEEK_API_KEY, or run `hermes-acp setup`."
    with pytest.raises(AuthRequired) as caught:
        chosen({"provider": "bedrock"})
    assert "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in caught.value.hint


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"HF_TOKEN": "k"},
        {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"},
        {"COPILOT_GITHUB_TOKEN": "k"},
    ],
)
def test_variables_for_other_programs_select_no_provider(variables: dict[str, str]) -> None:
    assert chosen({}, **variables) is None


def test_anthropic_and_openai_take_precedence() -> None:
    choice = chosen(OPENROUTER_API_KEY="r", OPENAI_API_KEY="o")
    assert choice is not None
    assert choice.provider == "openai_compatible"
    choice = chosen(HERMES_MODEL="claude-sonnet-5-5", OPENAI_API_KEY="o", ANTHROPIC_API_KEY="a")
    assert choice is not None
    assert choice.provider == "anthropic"


def test_a_local_server_needs_no_key() -> None:
    choice = chosen({"provider": "ollama"})
    assert choice is not None
    assert (choice.base_url, choice.api_key, choice.key_variable) == ("http://127.0.0.1:11434/v1", "", "")
    choice = chosen({"provider": "ollama"}, OLLAMA_BASE_URL="http://box:1/v1")
    assert choice is not None
    assert choice.base_url == "http://box:1/v1"


def test_amazon_needs_a_region_and_a_key_in_one_or_two_parts() -> None:
    parts = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "s"}
    with pytest.raises(ConfigError, match="needs a region"):
        chosen({"provider": "bedrock"}, **parts)
    with pytest.raises(ConfigError, match="needs a region"):
        chosen({"provider": "bedrock"}, **parts, AWS_REGION="evil.example/")
    choice = chosen({"provider": "bedrock"}, **parts, AWS_DEFAULT_REGION="eu-west-3")
    assert choice is not None
    assert (choice.api_key, choice.base_url) == (
        "AKIAIOSFODNN7EXAMPLE:s",
        "https://bedrock-runtime.eu-west-3.amazonaws.com",
    )
    choice = chosen(
        {"provider": "bedrock"},
        **parts,
        AWS_SESSION_TOKEN="t",
        AWS_BEARER_TOKEN_BEDROCK="",
        AWS_REGION="us-east-1",
    )
    assert choice is not None
    assert choice.api_key == "AKIAIOSFODNN7EXAMPLE:s:t"
    choice = chosen(AWS_BEARER_TOKEN_BEDROCK="b", **parts, AWS_REGION="us-east-1")
    assert choice is not None
    assert choice.api_key == "b"


def test_the_responses_format_is_used_only_with_openai_itself() -> None:
    preset = presets()["openai_compatible"]
    assert preset.wire_at("https://api.openai.com/v1") == "openai_responses"
    assert preset.wire_at("https://gate.invalid/v1") == "openai_compatible"


def test_the_second_variable_for_a_key_counts_too() -> None:
    choice = chosen(GOOGLE_API_KEY="g")
    assert choice is not None
    assert (choice.provider, choice.api_key, choice.key_variable) == ("gemini", "g", "GOOGLE_API_KEY")


PROFILES = "[default]\nregion = us-east-1\n[profile work]\nregion = eu-west-3\ns3 =\n    max_queue_size = 9\n"


def test_a_profile_provides_the_region_and_a_key_if_none_is_set(tmp_path: Path) -> None:
    folder = tmp_path / ".aws"
    home = {"HOME": str(tmp_path)}
    with pytest.raises(AuthRequired, match="Bedrock needs an API key"):
        chosen({"provider": "bedrock"}, **home)
    folder.mkdir()
    (folder / "config").write_text(PROFILES)
    regions: dict[str, str] = {}
    for name, settings, more in (
        ("default", {}, {}),
        ("settings", {"profile": "work"}, {}),
        ("variable", {"profile": "other"}, {"AWS_PROFILE": "work"}),
        ("region", {"profile": "work"}, {"AWS_REGION": "ap-south-1"}),
    ):
        choice = chosen({"provider": "bedrock", "providers": {"bedrock": settings}}, **home, **more)
        assert choice is not None
        assert (choice.api_key, choice.credential_source["config_file"]) == ("", str(folder / "config"))
        regions[name] = choice.base_url.removeprefix("https://bedrock-runtime.").partition(".")[0]
    assert regions == {
        "default": "us-east-1",
        "settings": "eu-west-3",
        "variable": "eu-west-3",
        "region": "ap-south-1",
    }
    choice = chosen({"provider": "bedrock"}, **home, AWS_BEARER_TOKEN_BEDROCK="b", AWS_REGION="us-east-1")
    assert choice is not None
    assert (choice.api_key, choice.credential_source) == ("b", {})
    assert chosen({}, **home, AWS_PROFILE="work") is None
    (folder / "config").write_text("no section\n")
    with pytest.raises(ConfigError, match="not a valid AWS configuration file"):
        chosen({"provider": "bedrock"}, **home)


def test_vertex_needs_a_project_and_uses_its_location() -> None:
    with pytest.raises(ConfigError, match="needs a project"):
        chosen({"provider": "vertex"})
    with pytest.raises(ConfigError, match="needs a location"):
        chosen({"provider": "vertex"}, GOOGLE_CLOUD_PROJECT="p", GOOGLE_CLOUD_LOCATION="evil.example/x")
    assert chosen(GOOGLE_CLOUD_PROJECT="p") is None
    for location, host in (
        ("", "aiplatform.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ):
        choice = chosen({"provider": "vertex"}, GOOGLE_CLOUD_PROJECT="p", GOOGLE_CLOUD_LOCATION=location)
        assert choice is not None
        place = f"projects/p/locations/{location or 'global'}/publishers/google"
        assert choice.base_url == f"https://{host}/v1/{place}"
    section = {"project": "q", "location": "us-central1", "credentials_file": "~/key.json"}
    settings: dict[str, object] = {"provider": "vertex", "providers": {"vertex": section}}
    choice = chosen(settings, GOOGLE_VERTEX_BASE_URL="http://gate.example")
    assert choice is not None
    assert choice.base_url == "http://gate.example/v1/projects/q/locations/us-central1/publishers/google"
    assert choice.credential_source["credentials_file"] == "~/key.json"
