"""What is known of models by name."""

from __future__ import annotations

import pytest

from hermes_acp.core.messages import Usage
from hermes_acp.core.ports import ModelFacts
from hermes_acp.models.catalog import (
    DEFAULT_MODELS,
    MODELS,
    UNKNOWN,
    cost_usd,
    default_model,
    facts_of,
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
def test_a_model_is_known_by_all_its_spellings(name: str) -> None:
    assert facts_of(name, "openai_compatible") == ModelFacts(200_000, 64_000, 1, 5, 0.1)


def test_the_longer_name_wins() -> None:
    assert facts_of("gpt-4o-mini-2024-07-18", "openai_compatible").input_usd == 0.15
    assert facts_of("gpt-4o-2024-08-06", "openai_compatible").input_usd == 2.5


def test_an_unlisted_relative_has_a_window_and_no_price() -> None:
    facts = facts_of("gpt-5.4-nano", "openai_compatible")
    assert facts.window_tokens > 128_000
    assert facts.input_usd is None


def test_an_unknown_model_has_a_modest_window_and_no_price() -> None:
    assert facts_of("qwen2.5-coder", "openai_compatible") == UNKNOWN
    assert (UNKNOWN.window_tokens, UNKNOWN.input_usd) == (128_000, None)


def test_one_vendors_leaf_knows_not_the_other_vendors_prices() -> None:
    assert facts_of("gpt-4o", "anthropic") == UNKNOWN


def test_every_leaf_has_a_default_that_is_priced() -> None:
    assert {provider for provider, _ in DEFAULT_MODELS} == set(PROVIDERS)
    for provider, model in DEFAULT_MODELS:
        assert default_model(provider) == model
        assert facts_of(model, provider).input_usd is not None
    assert default_model("nobody") is None


def test_every_row_is_found_under_its_own_name() -> None:
    assert [facts_of(row.name, row.provider) for row in MODELS] == [row.facts for row in MODELS]


def test_only_models_that_think_anyway_are_asked_to_show_it() -> None:
    assert thinks_adaptively("claude-sonnet-5-5")
    assert not thinks_adaptively("claude-haiku-4-5")
    assert not thinks_adaptively("scripted-large")


def test_cached_tokens_are_priced_apart() -> None:
    facts = ModelFacts(1000, input_usd=2, output_usd=10, cached_usd=0.2)
    assert cost_usd(Usage(1_000_000, 100_000, 500_000), facts) == pytest.approx(1 + 0.1 + 1)


def test_cached_tokens_without_a_price_cost_what_others_do() -> None:
    assert cost_usd(Usage(1_000_000, 0, 500_000), ModelFacts(1, input_usd=2, output_usd=1)) == pytest.approx(
        2
    )


def test_no_price_no_cost() -> None:
    assert cost_usd(Usage(1, 1), UNKNOWN) is None
