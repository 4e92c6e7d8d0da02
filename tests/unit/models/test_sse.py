"""The decoder of server-sent events: however the bytes are split, the events are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.errors import BadReply
from hermes_acp.models.wire.sse import SseDecoder

LINES = st.sampled_from(
    [
        "data: {}",
        "data:x",
        "data",
        "data:  two",
        ": note",
        "event: ping",
        "event:",
        "id: 7",
        "retry: 1",
        "datax: 1",
        "ü🌍",
        "",
    ]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"]))).map(
    lambda lines: "".join(line + end for line, end in lines).encode()
)


def decode(parts: list[bytes]) -> list[tuple[str, bytes]]:
    decoder = SseDecoder()
    return [event for part in parts for event in decoder.feed(part)]


@given(STREAMS, st.data())
def test_any_split_gives_the_same_events(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    parts = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decode(parts) == decode([stream])
    assert decode([stream[at : at + 1] for at in range(len(stream))]) == decode([stream])


@given(STREAMS)
def test_the_decoder_agrees_with_a_plain_reading_of_the_rules(stream: bytes) -> None:
    text = stream.decode().replace("\r\n", "\n").replace("\r", "\n")
    expected: list[tuple[str, bytes]] = []
    name, lines = "", list[str]()
    for line in text.split("\n")[:-1]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if lines:
                expected.append((name, "\n".join(lines).encode()))
            name, lines = "", []
        elif field == "data":
            lines.append(value)
        elif field == "event":
            name = value
    assert decode([stream]) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_event_is_emitted_at_its_blank_line(end: str) -> None:
    assert decode([f"event: ping{end}data: 1{end}data: 2{end}{end}".encode()]) == [("ping", b"1\n2")]


def test_an_unfinished_event_is_not_emitted() -> None:
    assert decode([b"data: 1\n\ndata: 2\n"]) == [("", b"1")]


def test_a_byte_order_mark_is_dropped_even_when_split() -> None:
    assert decode([b"\xef", b"\xbb", b"\xbfdata: 1\n\n"]) == [("", b"1")]
    assert decode([b"\xef\xbb\xbfdata: 1\n\n"]) == [("", b"1")]


@pytest.mark.parametrize(
    "flood", [b"x" * 100, b"data: 123456789\n", b"data\n", b"data: " + b"y" * 2000 + b"\n\n"]
)
def test_an_event_without_an_end_is_rejected(flood: bytes) -> None:
    decoder = SseDecoder(max_event_size_bytes=1000)
    with pytest.raises(BadReply, match="1000 bytes"):
        all(decoder.feed(flood) or True for _ in range(1001))


def test_many_small_events_may_together_exceed_the_limit() -> None:
    assert len(SseDecoder(max_event_size_bytes=1000).feed(b"data: 12345678\n\n" * 5000)) == 5000
