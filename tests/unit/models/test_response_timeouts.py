"""Timeouts for a silent endpoint, by endpoint, model and settings."""

from __future__ import annotations

import pytest

from hermes_acp.models.wire.endpoints import Endpoint
from hermes_acp.models.wire.response_timeouts import (
    LOCAL,
    PLAIN,
    REASONING,
    IdleTimer,
    ResponseTimeouts,
    is_local_network,
    timeouts_for,
)


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "::1", "192.168.1.7", "10.0.0.2", "gpu", "gpu.local", "host.docker.internal"],
)
def test_an_endpoint_on_the_local_network_is_local(host: str) -> None:
    assert is_local_network(host)


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "2606:4700::1111", "local.example.com"])
def test_a_vendors_endpoint_is_not_local(host: str) -> None:
    assert not is_local_network(host)


def test_local_and_reasoning_models_get_more_time() -> None:
    endpoint = Endpoint()
    assert timeouts_for(endpoint, "127.0.0.1", "gpt-4o", "ollama") == LOCAL
    assert timeouts_for(endpoint, "api.openai.com", "gpt-6-sol", "openai") == REASONING
    assert timeouts_for(endpoint, "api.openai.com", "gpt-4o", "openai") == PLAIN
    assert LOCAL.first_s > REASONING.first_s > PLAIN.first_s
    assert LOCAL.between_s > REASONING.between_s > PLAIN.between_s


def test_the_users_setting_takes_precedence() -> None:
    both = timeouts_for(Endpoint(silence_s=5.0), "h.example", "gpt-4o", "openai")
    assert both == ResponseTimeouts(5.0, 5.0)
    apart = timeouts_for(Endpoint(silence_s=5.0, first_word_s=50.0), "h.example", "gpt-4o", "openai")
    assert apart == ResponseTimeouts(50.0, 5.0)


def test_the_first_token_ends_the_longer_timeout() -> None:
    idle_timer = IdleTimer(ResponseTimeouts(50.0, 5.0))
    assert idle_timer.limit_s == 50.0
    idle_timer.has_started = True
    assert idle_timer.limit_s == 5.0
