"""How long which endpoint may be silent."""

from __future__ import annotations

import pytest

from hermes_acp.models.endpoints import Endpoint
from hermes_acp.models.silence import LOCAL, PLAIN, REASONING, Bounds, Ear, bounds_of, is_near


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "::1", "192.168.1.7", "10.0.0.2", "gpu", "gpu.local", "host.docker.internal"],
)
def test_a_neighbour_is_near(host: str) -> None:
    assert is_near(host)


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "2606:4700::1111", "local.example.com"])
def test_a_vendor_is_not(host: str) -> None:
    assert not is_near(host)


def test_local_and_reasoning_models_are_given_longer() -> None:
    endpoint = Endpoint()
    assert bounds_of(endpoint, "127.0.0.1", "gpt-4o", "ollama") == LOCAL
    assert bounds_of(endpoint, "api.openai.com", "gpt-6-sol", "openai") == REASONING
    assert bounds_of(endpoint, "api.openai.com", "gpt-4o", "openai") == PLAIN
    assert LOCAL.first_s > REASONING.first_s > PLAIN.first_s
    assert LOCAL.between_s > REASONING.between_s > PLAIN.between_s


def test_what_the_user_set_goes_before() -> None:
    both = bounds_of(Endpoint(silence_s=5.0), "h.example", "gpt-4o", "openai")
    assert both == Bounds(5.0, 5.0)
    apart = bounds_of(Endpoint(silence_s=5.0, first_word_s=50.0), "h.example", "gpt-4o", "openai")
    assert apart == Bounds(50.0, 5.0)


def test_the_first_word_ends_the_longer_patience() -> None:
    ear = Ear(Bounds(50.0, 5.0))
    assert ear.limit_s == 50.0
    ear.has_heard = True
    assert ear.limit_s == 5.0
