"""Framing of messages: lines, and bodies with a Content-Length header."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_protocol.framing import (
    BadHeader,
    ContentLengthReader,
    Frame,
    FrameReader,
    LineReader,
    TooLong,
    add_length,
)


def feed_in_pieces(reader: FrameReader, data: bytes, size: int) -> list[Frame]:
    frames: list[Frame] = []
    for start in range(0, len(data), size):
        frames += reader.feed(data[start : start + size])
    return frames


def test_lines_are_frames_with_any_line_end() -> None:
    data = b'{"a":1}\n{"b":2}\r\n\n\r\n  \t\n{"c":\xe2\x80\xa8}\nrest'
    assert LineReader().feed(data) == [b'{"a":1}', b'{"b":2}', b'{"c":\xe2\x80\xa8}']


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    mark = b"\xef\xbb\xbf"
    for size in (1, 2, 100):
        assert feed_in_pieces(LineReader(), mark + b"{}\n" + mark + b"{}\n", size) == [b"{}", mark + b"{}"]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_over_the_limit_is_reported_once_and_the_next_one_read(size: int, end: bytes) -> None:
    data = end.join([b"x" * 10, b"y" * 11, b"z", b"w" * 500, b" " * 40, b"v", b""])
    long = TooLong(10)
    assert feed_in_pieces(LineReader(10), data, size) == [b"x" * 10, long, b"z", long, long, b"v"]


def test_a_pasted_file_and_34_megabytes() -> None:
    reader = LineReader()
    pasted = b"p" * (31 << 20)
    too_much = b"q" * (34 << 20)
    frames = feed_in_pieces(reader, pasted + b"\n" + too_much + b"\n{}\n", 1 << 16)
    assert frames == [pasted, TooLong(32 << 20), b"{}"]


@given(
    st.lists(
        st.sampled_from([b"\n", b"\r", b" ", b"\xef\xbb\xbf", b"a", b"bc", b"0123456789"]) | st.binary(),
        max_size=30,
    ),
    st.lists(st.integers(min_value=0, max_value=200), max_size=30),
    st.integers(min_value=1, max_value=20),
)
def test_lines_do_not_depend_on_how_the_stream_is_split(
    parts: list[bytes], cuts: list[int], limit: int
) -> None:
    data = b"".join(parts) + b"\n"
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    reader = LineReader(limit)
    split = [frame for start, end in pairwise(edges) for frame in reader.feed(data[start:end])]
    assert split == LineReader(limit).feed(data)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1]
    bare = [line.removesuffix(b"\r") for line in lines]
    assert split == [
        TooLong(limit) if len(line) > limit else line for line in bare if len(line) > limit or line.strip()
    ]


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(min_value=1, max_value=50))
def test_bodies_with_a_content_length_are_read_unchanged(bodies: list[bytes], size: int) -> None:
    data = b"".join(add_length(body) for body in bodies)
    assert feed_in_pieces(ContentLengthReader(), data, size) == bodies


@pytest.mark.parametrize("size", [1, 5, 10_000])
def test_other_headers_case_and_bare_newlines_are_accepted(size: int) -> None:
    data = b"Content-Type: application/json\r\ncontent-length:2\r\n\r\n{}Content-Length: 2\n\n[]\r\n"
    assert feed_in_pieces(ContentLengthReader(), data, size) == [b"{}", b"[]"]


@pytest.mark.parametrize("size", [1, 5, 10_000])
@pytest.mark.parametrize(
    "bad",
    [
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"h" * 9000 + b"\r\n\r\n",
    ],
    ids=lambda bad: bad[:20].decode(),
)
def test_a_bad_header_is_reported_once_and_the_next_frame_read(bad: bytes, size: int) -> None:
    assert feed_in_pieces(ContentLengthReader(), bad + add_length(b"{}"), size) == [BadHeader(), b"{}"]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_body_over_the_limit_is_skipped(size: int) -> None:
    data = add_length(b"x" * 10) + add_length(b"y" * 999) + add_length(b"z")
    assert feed_in_pieces(ContentLengthReader(10), data, size) == [b"x" * 10, TooLong(10), b"z"]


@given(st.lists(st.binary() | st.sampled_from([b"Content-Length: 3\r\n\r\n", b"\r\n", b"\n"]), max_size=20))
def test_no_bytes_make_the_header_reader_raise(parts: list[bytes]) -> None:
    reader = ContentLengthReader(20)
    for part in parts:
        reader.feed(part)
