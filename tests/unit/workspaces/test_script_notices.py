"""A script's output and its notices are distinguished wherever the stream is split."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.workspaces.remote.script_notices import Notice, NoticeReader

TOKEN = "0123456789abcdef"
NOTICE = b"\036" + TOKEN.encode() + b" ended 3\036"


def read(stream: bytes, cuts: list[int]) -> tuple[bytes, list[Notice]]:
    reader = NoticeReader(TOKEN)
    output, notices = b"", list[Notice]()
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    for start, end in pairwise(edges):
        piece, found = reader.feed(stream[start:end])
        output += piece
        notices += found
    return output + reader.rest(), notices


@given(st.binary(), st.binary(), st.lists(st.integers(0, 10_000), max_size=12))
def test_a_notice_is_found_and_nothing_else_is_lost(before: bytes, after: bytes, cuts: list[int]) -> None:
    output, notices = read(before + NOTICE + after, cuts)
    assert output == before + after
    assert notices == [Notice("ended", "3")]


@given(
    st.lists(st.sampled_from([b"\036", TOKEN.encode(), b" ", b"x"])),
    st.lists(st.integers(0, 10_000), max_size=12),
)
def test_an_incomplete_notice_is_output(pieces: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(pieces).replace(b"\036" + TOKEN.encode() + b" ", b"")
    assert read(stream, cuts) == (stream, [])


def test_endless_data_is_not_a_notice_and_is_not_held_back_forever() -> None:
    reader = NoticeReader(TOKEN)
    stream = b"\036" + TOKEN.encode() + b" " + b"x" * 20_000
    output, notices = reader.feed(stream)
    assert (len(output) >= 10_000, notices) == (True, [])
    assert output + reader.rest() == stream
