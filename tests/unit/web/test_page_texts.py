"""Decompressing the bodies of responses, and converting pages to text."""

import gzip
import zlib

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.web.body_decoding import DecodedBody
from hermes_acp.web.page_text import encoding_of, markdown_of, read_page, require_text


def in_pieces(content: bytes, size: int = 1000) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


CONTENT = b"".join(b"%d hello\n" % number for number in range(2000))


def feed_all(body: DecodedBody, content: bytes) -> None:
    for piece in in_pieces(content):
        assert body.feed(piece)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("", CONTENT),
        ("identity", CONTENT),
        ("gzip", gzip.compress(CONTENT)),
        ("x-gzip", gzip.compress(CONTENT)),
        ("deflate", zlib.compress(CONTENT)),
        ("deflate", zlib.compress(CONTENT)[2:-4]),
    ],
    ids=["none", "identity", "gzip", "x-gzip", "deflate", "bare"],
)
def test_bodies_are_decompressed(encoding: str, packed: bytes) -> None:
    body = DecodedBody(encoding, 1_000_000)
    feed_all(body, packed)
    assert (bytes(body.content), body.is_cut) == (CONTENT, False)


def test_a_long_body_is_truncated_at_its_limit() -> None:
    body = DecodedBody("", 5000)
    taken = [body.feed(piece) for piece in in_pieces(b"x" * 20_000, 3000)]
    assert taken[:2] == [True, False]
    assert (len(body.content), body.is_cut) == (5000, True)


def test_f09_a_decompression_bomb_is_rejected_and_never_decompressed_whole() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    body = DecodedBody("gzip", 16 << 20)
    with pytest.raises(WorkspaceError, match="200 times"):
        feed_all(body, bomb)
    assert len(body.content) < (17 << 20)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_requested_is_rejected(encoding: str) -> None:
    with pytest.raises(WorkspaceError, match="not requested"):
        DecodedBody(encoding, 1000)


def test_a_broken_body_is_reported() -> None:
    with pytest.raises(WorkspaceError, match="cannot be decoded"):
        DecodedBody("gzip", 1000).feed(b"no gzip at all")


@pytest.mark.parametrize(
    ("content", "content_type", "encoding"),
    [
        (b"plain", "text/plain", "utf-8"),
        ("ä".encode(), "text/html", "utf-8"),
        (b"\xe4", "text/html", "cp1252"),
        (b"x", "text/html; charset=ISO-8859-1", "cp1252"),
        (b"x", 'text/html; charset="shift_jis"', "shift_jis"),
        (b"<meta charset='koi8-r'>", "text/html", "koi8-r"),
        (b'<meta http-equiv="x" content="text/html; charset=euc-jp">', "text/html", "euc_jp"),
        (b"\xef\xbb\xbfx", "text/html; charset=shift_jis", "utf-8-sig"),
        (b"x", "text/html; charset=no-such", "utf-8"),
        (b"x", "text/html; charset=idna", "utf-8"),
        (b"x", "text/html; charset=unicode_escape", "utf-8"),
        (b"x", "text/html; charset=utf-7", "utf-8"),
    ],
)
def test_the_encoding_is_found(content: bytes, content_type: str, encoding: str) -> None:
    assert encoding_of(content, content_type) == encoding


def test_html_becomes_markdown() -> None:
    html = (
        "<html><head><title>T</title><style>x</style><script>alert(1)</script></head><body><h1>Top</h1>"
        "<p hidden>unseen order</p><p style='display:none'>unseen too</p><iframe src=x>unseen</iframe>"
        "<div style='Color: red; VISIBILITY : hidden'>unseen <i style='display:none'>twice</i></div>"
        "<img alt='A chart' src='data:image/png;base64,AAAA'>"
        "<p>One <b>two</b> <a href='/three'>three</a></p><pre><code>a = 1</code></pre>"
        "<table><tr><th>k</th></tr><tr><td>v</td></tr></table></body></html>"
    )
    text = read_page(html.encode(), "text/html; charset=utf-8", "https://a.test/x")
    for piece in ("# Top", "One **two** [three](https://a.test/three)", "a = 1", "| k |", "A chart"):
        assert piece in text
    for piece in ("alert", "unseen", "twice", "base64", "<"):
        assert piece not in text


@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "application/atom+xml", "text/markdown", ""]
)
def test_other_text_is_unchanged(kind: str) -> None:
    assert read_page(b'{"a":\r\n "<b>"}', kind) == '{"a":\n "<b>"}'


def test_the_type_of_a_page_without_one_is_detected() -> None:
    assert read_page(b"<!DOCTYPE html><p>x <i>y</i></p>", "") == "x *y*"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "deep words",
        "<b>" * 50_000 + "deep words" + "</b>" * 50_000,
        "<script>hidden" + "<" * 100_000 + "</script>deep words",
        "<ul><li>" * 2_000 + "deep words",
        "<br> " * 200_000 + "deep words",
        "<table><tr><td colspan=100000000 rowspan=100000000>" * 1_000 + "deep words",
    ],
)
def test_f09_endless_nesting_does_no_harm(html: str) -> None:
    text = markdown_of(html)
    assert "deep words" in text
    assert "hidden" not in text
    assert len(text) < 5 * len(html)


def test_names_are_not_escaped() -> None:
    assert markdown_of("<p>snake_case 2*3 a&lt;b [x]</p>") == "snake_case 2*3 a<b [x]"


def test_deeply_nested_text_is_not_lost() -> None:
    assert markdown_of("<div>" * 100_000 + "deep words") == "deep words"


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "video/mp4", "application/zip"])
def test_other_media_types_are_rejected_by_their_name(kind: str) -> None:
    with pytest.raises(WorkspaceError, match=kind):
        require_text(kind)


def test_other_media_types_are_rejected_by_their_bytes() -> None:
    with pytest.raises(WorkspaceError, match="not text"):
        read_page(b"PK\x03\x04\0\0", "text/plain")
