"""Ways to models that have a name: what the file says, and what is chosen by it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from hermes_acp.config.environment import KEY_VARIABLES, MODEL_VARIABLES, environment_of
from hermes_acp.config.model_choice import ModelChoice, choose_model
from hermes_acp.config.presets import presets
from hermes_acp.config.settings import ProviderSettings, Settings, load_settings
from hermes_acp.core.errors import AuthRequired, BadConfig
from hermes_acp.models.providers import PROVIDERS
from hermes_acp.models.switchboard import open_connection


def chosen(settings: dict[str, object] | None = None, /, **variables: str) -> ModelChoice | None:
    return choose_model(Settings.model_validate(settings or {}), variables)


def test_every_leaf_has_a_preset_and_every_preset_a_leaf() -> None:
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


def test_what_chooses_a_provider_is_known_without_reading_the_file() -> None:
    choosing = {
        variable for preset in presets().values() if preset.found_by_key for variable in preset.key_variables
    }
    assert choosing <= set(MODEL_VARIABLES)
    assert {name: presets()[name].key_variables[0] for name in KEY_VARIABLES} == dict(KEY_VARIABLES)


@pytest.mark.parametrize("name", tuple(presets()))
def test_every_preset_opens(name: str) -> None:
    variables = {"HERMES_PROVIDER": name, "AWS_REGION": "eu-west-3"}
    variables |= dict.fromkeys(presets()[name].key_variables[:1], "k")
    choice = chosen({}, **variables)
    assert choice is not None
    assert choice.base_url == presets()[name].base_url.format(region="eu-west-3")
    # Without encryption no certificates are loaded.
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


def test_a_wrong_name_is_answered_with_all_names(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"HERMES_PROVIDER is 'deepseak'\.") as caught:
        chosen(HERMES_PROVIDER="deepseak")
    assert "anthropic, openai_compatible" in caught.value.hint
    assert "lmstudio" in caught.value.hint
    (tmp_path / "config.yaml").write_text("provider: deepseak\nproviders:\n  nobody: {}\n", encoding="utf-8")
    with pytest.raises(BadConfig, match=r"`provider`: .*must be one of: .*deepseek") as caught:
        load_settings(environment_of({"HERMES_HOME": str(tmp_path)}))
    assert "`providers.nobody.[key]`" in caught.value.message


def test_a_named_provider_without_its_key_says_which_is_missing() -> None:
    with pytest.raises(AuthRequired, match="DeepSeek wants a key") as caught:
        chosen({"provider": "deepseek"})
    assert caught.value.hint == "Set DEEPSEEK_API_KEY."
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
def test_what_is_there_for_other_ends_chooses_nothing(variables: dict[str, str]) -> None:
    assert chosen({}, **variables) is None


def test_anthropic_and_openai_come_before_all_others() -> None:
    choice = chosen(OPENROUTER_API_KEY="r", OPENAI_API_KEY="o")
    assert choice is not None
    assert choice.provider == "openai_compatible"
    choice = chosen(HERMES_MODEL="claude-sonnet-5-5", OPENAI_API_KEY="o", ANTHROPIC_API_KEY="a")
    assert choice is not None
    assert choice.provider == "anthropic"


def test_a_local_server_wants_no_key() -> None:
    choice = chosen({"provider": "ollama"})
    assert choice is not None
    assert (choice.base_url, choice.api_key, choice.key_variable) == ("http://127.0.0.1:11434/v1", "", "")
    choice = chosen({"provider": "ollama"}, OLLAMA_BASE_URL="http://box:1/v1")
    assert choice is not None
    assert choice.base_url == "http://box:1/v1"


def test_amazon_wants_a_region_and_a_key_in_one_piece_or_in_parts() -> None:
    parts = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "s"}
    with pytest.raises(BadConfig, match="needs a region"):
        chosen({"provider": "bedrock"}, **parts)
    with pytest.raises(BadConfig, match="needs a region"):
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


def test_the_newer_format_is_spoken_with_openai_itself_alone() -> None:
    preset = presets()["openai_compatible"]
    assert preset.wire_at("https://api.openai.com/v1") == "openai_responses"
    assert preset.wire_at("https://gate.invalid/v1") == "openai_compatible"


def test_the_second_variable_of_a_key_counts_too() -> None:
    choice = chosen(GOOGLE_API_KEY="g")
    assert choice is not None
    assert (choice.provider, choice.api_key, choice.key_variable) == ("gemini", "g", "GOOGLE_API_KEY")
