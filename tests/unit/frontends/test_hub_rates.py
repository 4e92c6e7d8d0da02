"""The rate limits of a hub: which user or address a request counts for."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from hermes_acp.frontends.hub.authentication import Refusal
from hermes_acp.frontends.hub.client_address import network_of, public_address
from hermes_acp.frontends.hub.hub_endpoint import HubRates
from hermes_acp.users.hub_settings import RateSettings


def test_addresses_of_one_network_share_a_limit() -> None:
    """One IPv6 subscriber has 2^64 addresses."""
    rates = HubRates(RateSettings(sign_ins_per_minute=5), lambda: 0.0)
    for number in range(5):
        rates.count_sign_in(f"2001:db8:1:2::{number:x}")
    with pytest.raises(Refusal) as refused:
        rates.count_sign_in("2001:db8:1:2::5")
    assert refused.value.status == 429
    rates.count_sign_in("2001:db8:1:3::1")
    rates.count_sign_in("192.0.2.1")


def test_an_address_is_the_same_however_it_is_written() -> None:
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") == "192.0.2.1"
    assert network_of("2001:DB8::1") == network_of("2001:db8:0:0:0::2")
    assert network_of("fe80::1%eth0") == network_of("fe80::2")


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.9", "192.0.2.1", "203.0.113.9"),
        ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "10.0.0.1, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "192.0.2.1, 127.0.0.1", "192.0.2.1"),
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.1, not-an-address", "127.0.0.1"),
    ],
)
def test_only_a_trusted_proxy_can_state_where_a_request_comes_from(
    peer: str, forwarded: str, expected: str
) -> None:
    address = public_address("https://agents.example", "127.0.0.1", ["127.0.0.1"])
    assert address.client_address(peer, Headers({"x-forwarded-for": forwarded})) == expected
