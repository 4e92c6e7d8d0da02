"""Endpoints and their secrets."""

from __future__ import annotations

import pytest
from msgspec import structs

from hermes_acp.core.errors import ConfigError
from hermes_acp.models.providers import PROVIDERS
from hermes_acp.models.wire.endpoints import Endpoint

KEY = "sk-Zq9wverysecretXk42"
FULL = Endpoint("https://user:pa55word@host.example/v1?key=hush", KEY, headers={"X-Auth": "hidden-value"})


@pytest.mark.parametrize(
    "shown", [repr(FULL), str(FULL), f"{FULL!r}", repr(FULL.__rich_repr__()), repr([FULL])]
)
def test_no_representation_shows_a_secret(shown: str) -> None:
    assert not any(secret in shown for secret in (KEY, "pa55word", "hush", "hidden-value"))
    assert "host.example/v1" in shown
    assert "X-Auth" in shown


def test_all_secrets_are_listed() -> None:
    assert {KEY, "pa55word", "hidden-value", "user:pa55word"} <= set(FULL.secrets())


@pytest.mark.parametrize("leaf", tuple(PROVIDERS))
@pytest.mark.parametrize(
    "url", ["host:8080", "ftp://host/v1", "http://", "http://host:notaport", "http://[::1", " "]
)
def test_an_invalid_address_is_a_settings_error(leaf: str, url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        PROVIDERS.open(leaf).connect(Endpoint(url))


@pytest.mark.parametrize("leaf", tuple(PROVIDERS))
@pytest.mark.parametrize("key", ["sk-abc\ndef", "sk-schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_contain_is_a_settings_error_and_not_shown(leaf: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PROVIDERS.open(leaf).connect(Endpoint("http://host", api_key=key, key_variable="MY_KEY"))
    assert key not in caught.value.message
    assert "MY_KEY" in caught.value.message


@pytest.mark.parametrize("leaf", tuple(PROVIDERS))
def test_a_trailing_newline_in_a_key_file_is_ignored(leaf: str) -> None:
    endpoint = Endpoint("http://host", api_key=f"{KEY}\n")
    assert PROVIDERS.open(leaf).connect(endpoint).name == leaf
    assert PROVIDERS.open(leaf).connect(structs.replace(endpoint, name="ours")).name == "ours"


def test_the_parts_of_a_key_are_secrets_too() -> None:
    assert {"AKIAIOSFODNN7EXAMPLE", "very/secret", "a-token"} <= set(
        Endpoint("http://h", "AKIAIOSFODNN7EXAMPLE:very/secret:a-token").secrets()
    )


def test_the_provider_plugins_are_these() -> None:
    assert tuple(PROVIDERS) == ("anthropic", "bedrock", "gemini", "openai_compatible", "openai_responses")
