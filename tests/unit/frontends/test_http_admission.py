"""Admission of HTTP requests by host, origin and token."""

import base64

import pytest
from starlette.datastructures import Headers

from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.acp.http.request_admission import (
    LOCAL_NAMES,
    AdmissionPolicy,
    agreed_protocol,
    host_name,
)
from hermes_acp.frontends.acp.http.serve_settings import check_origin, check_token, read_address

TOKEN = "0123456789abcdef"
TERMS = AdmissionPolicy(TOKEN, LOCAL_NAMES | {"agent.example"}, frozenset({"https://app.example"}))


def judge(terms: AdmissionPolicy = TERMS, **headers: str) -> int:
    given = {"host": "127.0.0.1:8722", "authorization": f"Bearer {TOKEN}"} | headers
    refusal = terms.check(Headers({name.replace("_", "-"): value for name, value in given.items()}))
    return refusal.status if refusal else 0


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:1", "localhost:8722", "LOCALHOST", "[::1]:8722", "agent.example"]
)
def test_our_hosts_are_admitted(host: str) -> None:
    assert judge(host=host) == 0


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8722", "10.0.0.1", "[::2]"]
)
def test_foreign_hosts_are_rejected(host: str) -> None:
    assert judge(host=host) == 421


def test_a_remote_server_accepts_any_address_but_not_any_name() -> None:
    remote = AdmissionPolicy(TOKEN, takes_any_address=True)
    assert judge(remote, host="10.0.0.1:8722") == 0
    assert judge(remote, host="[fe80::1]:8722") == 0
    assert judge(remote, host="evil.example") == 421


def test_origins() -> None:
    assert judge(origin="https://app.example") == 0
    for origin in ("https://app.example.evil", "http://app.example", "null", "", "https://app.example/"):
        assert judge(origin=origin) == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8722", "localhost:8722", "[::1]:8722", "agent.example"])
def test_only_the_page_of_this_very_address_is_admitted(host: str) -> None:
    for scheme in ("http", "https"):
        assert judge(host=host, origin=f"{scheme}://{host}") == 0
    for origin in (
        f"http://{host}1",
        f"http://{host}.evil",
        "http://127.0.0.1:9",
        f"ftp://{host}",
        host,
        "http://",
    ):
        assert judge(host=host, origin=origin) == 403
    assert judge(host="evil.example:8722", origin="http://evil.example:8722") == 421


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"Bearer {TOKEN}", 0),
        (f"bearer  {TOKEN} ", 0),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Token {TOKEN}", 401),
        ("Bearer", 401),
        ("Bearer é", 401),
        ("", 401),
    ],
)
def test_tokens(line: str, status: int) -> None:
    assert judge(authorization=line) == status


def test_a_browsers_socket_carries_the_token_among_its_subprotocols() -> None:
    def offer(token: str) -> str:
        return "acp, base64url.bearer." + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")

    assert judge(authorization="", sec_websocket_protocol=offer(TOKEN)) == 0
    assert judge(authorization="", sec_websocket_protocol=offer(TOKEN + "x")) == 401
    assert judge(authorization="", sec_websocket_protocol="acp, base64url.bearer.a") == 401
    assert agreed_protocol(["base64url.bearer.x", "acp"]) == "acp"
    assert agreed_protocol(["base64url.bearer.x"]) is None


def test_names_without_ports() -> None:
    assert [host_name(host) for host in ("A.b:1", "[::1]:2", "::1", "x")] == ["a.b", "::1", "::1", "x"]


def test_addresses_to_listen_on() -> None:
    assert read_address("127.0.0.1:0", allow_remote=False) == ("127.0.0.1", 0)
    assert read_address("localhost:80", allow_remote=False) == ("127.0.0.1", 80)
    assert read_address("[::1]:80", allow_remote=False) == ("::1", 80)
    assert read_address("0.0.0.0:80", allow_remote=True) == ("0.0.0.0", 80)
    for bad in (
        "0.0.0.0:80",
        "[::]:80",
        "10.0.0.1:80",
        "127.0.0.1",
        ":80",
        "127.0.0.1:x",
        "127.0.0.1:65536",
        "a.b:1",
    ):
        with pytest.raises(ConfigError):
            read_address(bad, allow_remote=False)


def test_invalid_tokens_and_origins_are_rejected() -> None:
    assert check_token("") == ""
    assert check_token(TOKEN) == TOKEN
    for bad in ("short", "with a space in it", "ümlaut-0123456789", "control\n0123456789"):
        with pytest.raises(ConfigError) as info:
            check_token(bad)
        assert bad not in info.value.sentence()
    assert check_origin("HTTPS://App.example/") == "https://app.example"
    for bad in ("app.example", "https://", "https://a/b", "null"):
        with pytest.raises(ConfigError):
            check_origin(bad)
