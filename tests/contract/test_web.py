"""Web pages and searches over real connections."""

import gzip
import json
from collections.abc import AsyncGenerator, Sequence

import anyio
import pytest

from hermes_acp.core.errors import BadRequest, WorkspaceError
from hermes_acp.core.ports.web_ports import WebSearchHit
from hermes_acp.web.page_fetcher import FetchLimits, PageFetcher
from hermes_acp.web.search_client import SearchClient
from hermes_acp.web.search_services.brave import SERVICE as BRAVE
from hermes_acp.web.search_services.tavily import SERVICE as TAVILY
from tests.contract.web_server import PAUSE, WebServer, web_server

pytestmark = pytest.mark.anyio
NAMES = ("a.test", "b.test", "127.0.0.1")
HERE = FetchLimits(private_hosts=frozenset(NAMES))


@pytest.fixture
async def server() -> AsyncGenerator[WebServer]:
    async with web_server() as running:
        yield running


async def here(host: str, port: int) -> Sequence[str]:
    """Resolve every name to this machine."""
    return ["127.0.0.1"]


def stay(host: str, url: str) -> bool:
    return False


def go(host: str, url: str) -> bool:
    return True


async def test_a_page_is_returned_as_markdown_and_the_request_does_not_identify_us(server: WebServer) -> None:
    server.serve("/x", "<h1>Top</h1><p><a href='y'>link</a></p>")
    page = await PageFetcher(HERE, here).fetch(server.url("/x?q=1#f", "a.test"), stay)
    assert (page.status, page.text) == (200, f"# Top\n\n[link]({server.url('/y', 'a.test')})")
    (asked,) = server.asked
    assert asked.line == "GET /x?q=1 HTTP/1.1"
    assert asked.headers["host"] == f"a.test:{server.port}"
    assert {"cookie", "authorization", "referer"}.isdisjoint(asked.headers)


async def test_an_error_page_is_returned_with_its_status(server: WebServer) -> None:
    server.serve("/gone", "<p>It moved away.</p>", status="410 Gone")
    page = await PageFetcher(HERE, here).fetch(server.url("/gone"), stay)
    assert (page.status, page.text) == (410, "It moved away.")


@pytest.mark.parametrize("status", ["301", "302", "303", "307", "308"])
async def test_a_redirect_on_the_same_host_is_followed(server: WebServer, status: str) -> None:
    server.serve("/old", "", "location: /new", status=f"{status} Elsewhere")
    server.serve("/new", "<p>here</p>")
    page = await PageFetcher(HERE, here).fetch(server.url("/old", "a.test"), stay)
    assert (page.text, page.url) == ("here", server.url("/new", "a.test"))


async def test_a_redirect_to_another_host_is_reported_and_followed_only_if_allowed(
    server: WebServer,
) -> None:
    server.serve("/old", "", f"location: {server.url('/new', 'b.test')}", status="302 Found")
    server.serve("/new", "<p>there</p>")
    retrieval = PageFetcher(HERE, here)
    reported = await retrieval.fetch(server.url("/old", "a.test"), stay)
    assert (reported.moved_to, reported.text, len(server.asked)) == (server.url("/new", "b.test"), "", 1)
    asked: list[tuple[str, str]] = []

    def may(host: str, url: str) -> bool:
        asked.append((host, url))
        return True

    assert (await retrieval.fetch(server.url("/old", "a.test"), may)).text == "there"
    assert asked == [("b.test", server.url("/new", "b.test"))]


async def test_redirects_in_a_circle_end(server: WebServer) -> None:
    server.serve("/a", "", "location: /a", status="302 Found")
    with pytest.raises(WorkspaceError, match="more than 5 times"):
        await PageFetcher(HERE, here).fetch(server.url("/a"), go)
    assert len(server.asked) == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://u:p@b.test/", "gopher://b.test/"])
async def test_a_redirect_to_a_non_web_address_is_rejected(server: WebServer, location: str) -> None:
    server.serve("/a", "", f"location: {location}", status="302 Found")
    with pytest.raises(BadRequest):
        await PageFetcher(HERE, here).fetch(server.url("/a"), go)


@pytest.mark.parametrize(
    "found",
    [["127.0.0.1"], ["8.8.8.8", "169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"], ["64:ff9b::7f00:1"]],
)
async def test_c03_a_name_that_resolves_to_a_private_address_is_rejected(
    server: WebServer, found: list[str]
) -> None:
    async def look_up(host: str, port: int) -> Sequence[str]:
        return found

    with pytest.raises(WorkspaceError, match="not on the public network"):
        await PageFetcher(FetchLimits(), look_up).fetch(server.url("/", "public.test"), go)
    assert server.asked == []


async def test_c03_an_allowed_redirect_to_a_private_address_is_rejected(server: WebServer) -> None:
    server.serve("/a", "", f"location: {server.url('/secret', 'inner.test')}", status="302 Found")
    with pytest.raises(WorkspaceError, match=r"inner\.test leads to 127\.0\.0\.1"):
        await PageFetcher(HERE, here).fetch(server.url("/a", "a.test"), go)
    assert [asked.path for asked in server.asked] == ["/a"]


async def test_c03_the_connection_goes_to_the_address_that_was_checked(server: WebServer) -> None:
    """A name that resolves differently a moment later is not resolved a second time."""
    answers = [["127.0.0.1"], ["10.255.255.1"]]

    async def look_up(host: str, port: int) -> Sequence[str]:
        return answers.pop(0)

    server.serve("/", "<p>one</p>")
    page = await PageFetcher(HERE, look_up).fetch(server.url("/", "a.test"), stay)
    assert (page.text, answers) == ("one", [["10.255.255.1"]])


async def test_the_next_address_is_tried_if_one_does_not_answer(server: WebServer) -> None:
    async def look_up(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    server.serve("/", "<p>one</p>")
    assert (await PageFetcher(HERE, look_up).fetch(server.url("/", "a.test"), stay)).text == "one"


async def test_a_long_page_is_truncated_and_not_loaded_completely(server: WebServer) -> None:
    server.serve("/", b"x" * 30_000_000, "content-type: text/plain")
    page = await PageFetcher(FetchLimits(most_bytes=100_000, private_hosts=frozenset(NAMES)), here).fetch(
        server.url(), stay
    )
    assert (len(page.text), page.is_cut) == (100_000, True)
    assert server.sent_bytes < 20_000_000


async def test_f09_a_gzip_bomb_is_rejected(server: WebServer) -> None:
    server.serve(
        "/", gzip.compress(bytes(200_000_000), 9), "content-encoding: gzip", "content-type: text/plain"
    )
    with pytest.raises(WorkspaceError, match="200 times"):
        await PageFetcher(FetchLimits(most_bytes=16 << 20, private_hosts=frozenset(NAMES)), here).fetch(
            server.url(), stay
        )


async def test_other_media_types_are_not_even_loaded(server: WebServer) -> None:
    server.serve("/", b"%PDF" + bytes(20_000_000), "content-type: application/pdf")
    with pytest.raises(WorkspaceError, match="application/pdf"):
        await PageFetcher(HERE, here).fetch(server.url(), stay)
    assert server.sent_bytes < 20_000_000


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        (b"", "closed the connection early"),
        (b"nonsense\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort", "closed the connection early"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n" + PAUSE, "within 0.5 s"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-type: text/plain\r\n\r\nx", "not requested"),
    ],
    ids=["nothing", "nonsense", "short", "silence", "brotli"],
)
async def test_failing_servers_are_reported(server: WebServer, answer: bytes, reported: str) -> None:
    server.answers["/"] = answer
    bounds = FetchLimits(timeout_s=0.5 if answer.endswith(PAUSE) else 15, private_hosts=frozenset(NAMES))
    with anyio.fail_after(60), pytest.raises(WorkspaceError, match=reported):
        await PageFetcher(bounds, here).fetch(server.url(), stay)


async def test_unknown_hosts_are_reported() -> None:
    with pytest.raises(WorkspaceError, match="There is no host"):
        await PageFetcher(FetchLimits()).fetch("http://nowhere.invalid/", stay)
    with pytest.raises(WorkspaceError, match="cannot be reached"):
        await PageFetcher(HERE).fetch("http://127.0.0.1:1/", stay)


async def test_a_service_is_searched(server: WebServer) -> None:
    found = {"results": [{"title": "T", "url": "https://t.test/", "content": "C"}] * 9}
    server.serve("/search", json.dumps(found), "content-type: application/json")
    hits = await SearchClient(TAVILY, server.url("/"), "tvly-key").search("two words", 3)
    assert hits == [WebSearchHit("T", "https://t.test/", "C")] * 3
    (asked,) = server.asked
    assert (asked.line, asked.headers["authorization"]) == ("POST /search HTTP/1.1", "Bearer tvly-key")
    assert json.loads(asked.body) == {"query": "two words", "max_results": 3, "search_depth": "basic"}


async def test_the_query_of_a_service_that_uses_get_is_quoted(server: WebServer) -> None:
    server.serve("/res/v1/web/search", "{}", "content-type: application/json")
    assert await SearchClient(BRAVE, server.url(""), "key").search("a&b=c", 3) == []
    assert server.asked[0].path == "/res/v1/web/search?q=a%26b%3Dc&count=3&text_decorations=false"


@pytest.mark.parametrize(
    ("status", "body", "reported"),
    [
        ("401 Unauthorized", "{}", "refused the query"),
        ("429 Too Many Requests", "{}", "does not accept more queries"),
        ("500 Oh", "{}", "failed"),
        ("302 Found", "{}", "failed"),
        ("200 OK", "<html>", "did not answer with JSON"),
    ],
)
async def test_a_failing_service_is_reported_without_the_key(
    server: WebServer, status: str, body: str, reported: str
) -> None:
    server.serve("/search", body, "location: http://evil.test/", status=status)
    with pytest.raises(WorkspaceError, match=reported) as trouble:
        await SearchClient(TAVILY, server.url(""), "tvly-secret").search("x", 3)
    assert "tvly-secret" not in trouble.value.sentence()
