"""Parsing of web addresses, and which network addresses belong to the public network."""

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.web.web_addresses import first_private, is_public, read_address

PRIVATE = """
127.0.0.1 127.255.255.254 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 169.254.170.2 100.64.0.1
100.100.100.200 0.0.0.0 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 192.0.0.192 192.0.2.1 192.88.99.1
198.18.0.1 198.51.100.7 203.0.113.9 168.63.129.16
::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 2001:db8::1 2001::1 100::1
::ffff:127.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1
2002:7f00:1:: 2002:c0a8:101::1 2002:a9fe:a9fe::
3fff::1 3fff:fff:ffff::1 5f00::1 100:0:0:1::1 2001:20::1 2001:30::1 2001:4:112::1 2620:4f:8000::1
192.31.196.1 192.52.193.1 192.175.48.1 2606:4700::5efe:a00:1 2606:4700::200:5efe:7f00:1 64:ff9b::a00:1
"""
PUBLIC = """
8.8.8.8 93.184.215.14 172.32.0.1 2606:4700::1111
::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808:: 2606:4700::5efe:808:808
"""


@pytest.mark.parametrize("ip", PRIVATE.split())
def test_private_addresses_are_recognised(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize("ip", PUBLIC.split())
def test_public_addresses_are_accepted(ip: str) -> None:
    assert is_public(ip)


def test_one_private_address_among_many_is_found() -> None:
    assert first_private(["8.8.8.8", "10.0.0.1"]) == "10.0.0.1"
    assert first_private(PUBLIC.split()) is None


@pytest.mark.parametrize(
    ("written", "host", "url"),
    [
        ("https://Example.COM", "example.com", "https://example.com/"),
        ("http://example.com.:80/a?b=c#d", "example.com", "http://example.com/a?b=c"),
        ("https://bücher.de:8443/ä", "xn--bcher-kva.de", "https://xn--bcher-kva.de:8443/%C3%A4"),
        ("http://exa\u200bmple.com/", "example.com", "http://example.com/"),
        ("http://0x7f.1/", "127.0.0.1", "http://127.0.0.1/"),
        ("http://2130706433/", "127.0.0.1", "http://127.0.0.1/"),
        ("http://017700000001/", "127.0.0.1", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]:8080/x", "127.0.0.1", "http://127.0.0.1:8080/x"),
        ("https://a.test/%2e%2e/b%20c", "a.test", "https://a.test/%2e%2e/b%20c"),
    ],
)
def test_an_address_has_one_interpretation(written: str, host: str, url: str) -> None:
    address = read_address(written)
    assert (address.host, address.url) == (host, url)
    assert read_address(address.url) == address


@pytest.mark.parametrize(
    "written",
    [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:///x",
        "http://user:secret@example.com/",
        "http://good.test\\@evil.test/",
        "http://good.test/\r\nHost: evil.test",
        "http://good.test /",
        "http://exa mple.com/",
        "http://a..b/",
        "http://%65vil.test/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://1.2.3.4.5/",
        "http://a.test:99999/",
        "https://a.test/" + "x" * 5000,
    ],
)
def test_an_ambiguous_address_is_rejected(written: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_address(written)
    assert "secret" not in refusal.value.sentence()


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:3000/", True),
        ("http://app.localhost/", True),
        ("http://127.0.0.1/", True),
        ("http://[::1]:8080/", True),
        ("http://192.168.0.7/", True),
        ("http://printer.local/", True),
        ("http://8.8.8.8/", False),
        ("http://localhost.evil.test/", False),
    ],
)
def test_an_address_in_this_network_is_reported_as_such(url: str, is_here: bool) -> None:
    assert read_address(url).is_private_address is is_here


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://a.test/b"),
        ("?q=1", "https://a.test/x/y?q=1"),
        ("//b.test/", "https://b.test/"),
        ("http://c.test", "http://c.test/"),
    ],
)
def test_a_redirect_is_resolved_against_its_page(location: str, url: str) -> None:
    assert read_address("https://a.test/x/y").follow(location).url == url


def test_a_request_goes_to_the_ip_address_that_was_looked_up() -> None:
    assert read_address("https://a.test/x?y").at("8.8.8.8") == "https://8.8.8.8:443/x?y"
    assert read_address("http://a.test:81/").at("2606:4700::1") == "http://[2606:4700::1]:81/"
