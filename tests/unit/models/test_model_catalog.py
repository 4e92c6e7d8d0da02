"""Built-in facts about models, looked up by name."""

from __future__ import annotations

import pytest

from hermes_acp.config.settings import ModelSettings
from hermes_acp.core.messages import Effort, ModelRequest, Usage
from hermes_acp.core.ports.model_ports import ModelInfo
from hermes_acp.models.model_catalog import (
    MODELS,
    UNKNOWN,
    cost_usd,
    default_model,
    effort_for,
    efforts_of,
    level_of,
    model_info_of,
    thinks_adaptively,
)
from hermes_acp.models.providers import PROVIDERS


@pytest.mark.parametrize(
    "name",
    [
        "claude-haiku-4-5",
        "claude-haiku-4-5-20251001",
        "claude-haiku-4-5@20251001",
        "anthropic/claude-haiku-4.5",
        "anthropic/claude-haiku-4.5:free",
        "Claude-Haiku-4-5-latest",
    ],
)
def test_a_model_is_found_by_all_its_spellings(name: str) -> None:
    assert model_info_of(name, "openai_compatible") == ModelInfo(200_000, 64_000, 1, 5, 0.1, sees=True)


def test_the_longer_name_takes_precedence() -> None:
    assert model_info_of("gpt-4o-mini-2024-07-18", "openai_compatible").input_usd == 0.15
    assert model_info_of("gpt-4o-2024-08-06", "openai_compatible").input_usd == 2.5


def test_an_unlisted_relative_has_a_window_and_no_price() -> None:
    facts = model_info_of("gpt-5.4-nano", "openai_compatible")
    assert facts.window_tokens > 128_000
    assert facts.input_usd is None


def test_an_unknown_model_has_a_modest_window_and_no_price() -> None:
    assert model_info_of("qwen2.5-coder", "openai_compatible") == UNKNOWN
    assert (UNKNOWN.window_tokens, UNKNOWN.input_usd) == (128_000, None)


def test_a_provider_does_not_use_another_vendors_prices() -> None:
    assert model_info_of("gpt-4o", "anthropic") == UNKNOWN


def test_every_provider_has_a_default_with_a_price() -> None:
    # What Amazon offers, and under which name, depends on the region and the account.
    for leaf in set(PROVIDERS) - {"bedrock"}:
        model = default_model(leaf)
        assert model, leaf
        assert model_info_of(model, leaf).input_usd is not None, leaf
    assert default_model("nobody") is None
    assert default_model("openrouter") is None


def test_every_row_is_found_by_its_own_name() -> None:
    assert [model_info_of(row.name, row.provider) for row in MODELS] == [row.facts for row in MODELS]


def test_only_models_that_always_think_are_asked_to_show_it() -> None:
    assert thinks_adaptively("claude-sonnet-5-5")
    assert not thinks_adaptively("claude-haiku-4-5")
    assert not thinks_adaptively("scripted-large")


def test_cached_tokens_are_priced_separately() -> None:
    facts = ModelInfo(1000, input_usd=2, output_usd=10, cached_usd=0.2)
    assert cost_usd(Usage(1_000_000, 100_000, 500_000), facts) == pytest.approx(1 + 0.1 + 1)


def test_cached_tokens_without_a_price_cost_as_much_as_others() -> None:
    assert cost_usd(Usage(1_000_000, 0, 500_000), ModelInfo(1, input_usd=2, output_usd=1)) == pytest.approx(2)


def test_without_a_price_there_is_no_cost() -> None:
    assert cost_usd(Usage(1, 1), UNKNOWN) is None


@pytest.mark.parametrize(
    ("wanted", "efforts", "given"),
    [
        (None, ("low", "high"), None),
        ("max", (), None),
        ("high", ("low", "high"), "high"),
        ("medium", ("low", "high"), "low"),
        ("max", ("none", "low", "high"), "high"),
        ("none", ("low", "high"), "low"),
        ("minimal", ("low", "high"), "low"),
        ("xhigh", ("max", "none", "high"), "high"),
    ],
)
def test_an_unsupported_level_becomes_the_nearest_lower_one(
    wanted: Effort | None, efforts: tuple[Effort, ...], given: str | None
) -> None:
    assert effort_for(wanted, efforts) == given


@pytest.mark.parametrize(
    ("model", "provider", "most"),
    [
        ("gpt-6-sol", "openai_responses", "max"),
        ("gpt-5.4", "openai_compatible", "xhigh"),
        ("gpt-4.1", "openai_compatible", None),
        ("claude-opus-4-6", "anthropic", "max"),
        ("claude-opus-4-5", "anthropic", "high"),
        ("claude-haiku-4-5", "anthropic", None),
        ("gemini-3.5-flash", "gemini", "high"),
        ("deepseek-v4-pro", "deepseek", "max"),
        ("anything", "openai_compatible", "high"),
        ("anything", "minimax", None),
        ("openai/gpt-6-sol", "openrouter", "xhigh"),
    ],
)
def test_levels_depend_on_the_model_and_its_endpoint(model: str, provider: str, most: str | None) -> None:
    efforts = efforts_of(model, provider)
    assert (efforts[-1] if efforts else None) == most


def test_the_users_facts_take_precedence() -> None:
    own = {"qwen3": ModelSettings(window_tokens=40_000, input_usd=1, efforts=("low",))}
    assert model_info_of("qwen3", "vllm", own) == ModelInfo(40_000, input_usd=1)
    assert efforts_of("qwen3", "vllm", own) == ("low",)
    assert model_info_of("qwen4", "vllm", own) == UNKNOWN
    dear = {"gpt-4o": ModelSettings(output_usd=99)}
    assert model_info_of("gpt-4o", "openai", dear) == ModelInfo(128_000, 16_384, 2.5, 99, 1.25, sees=True)


@pytest.mark.parametrize(
    "name",
    [
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "anthropic.claude-haiku-4-5-v1:0",
        "global.anthropic.claude-haiku-4-5",
    ],
)
def test_amazons_names_are_recognised_too(name: str) -> None:
    assert model_info_of(name, "bedrock") == ModelInfo(200_000, 64_000, 1, 5, 0.1, sees=True)


def test_a_known_model_gets_a_supported_level_and_an_unknown_one_the_requested_level() -> None:
    assert level_of(ModelRequest("gpt-5.4", (), (), effort="max"), "openai") == "xhigh"
    assert level_of(ModelRequest("gpt-4.1", (), (), effort="max"), "openai") is None
    assert level_of(ModelRequest("anything", (), (), effort="max"), "openai_compatible") == "max"
    assert level_of(ModelRequest("anything", (), ()), "openai_compatible") is None
