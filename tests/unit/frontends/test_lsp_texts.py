"""Text positions, differences and changed documents, counted as the protocol does for any text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from hermes_acp.frontends.lsp.documents.open_documents import OpenDocuments, path_of
from hermes_acp.frontends.lsp.documents.text_positions import Positions
from hermes_acp.frontends.lsp.edits.line_hunks import hunks_of

TEXTS = st.text(alphabet="ab\n\r\x0c\u2028é😀 ", max_size=40)
URI = "file:///project/a.py"


@pytest.mark.parametrize(
    ("encoding", "column"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2), ("no such encoding", 3)]
)
def test_columns_are_counted_in_the_agreed_units(encoding: str, column: int) -> None:
    text = "x = 1\né😀b\n"
    positions = Positions(text, encoding)
    assert positions.place(text.index("b")) == (1, column)
    assert positions.offset(1, column) == text.index("b")


def test_a_form_feed_and_a_line_separator_end_no_line() -> None:
    positions = Positions("a\x0cb\u2028c\r\nd\re")
    assert positions.place(9) == (2, 0)
    assert positions.place(7) == (1, 0)
    assert positions.offset(0, 99) == 5


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_a_position_converts_back_to_its_offset(text: str, encoding: str) -> None:
    positions = Positions(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert positions.offset(*positions.place(offset)) == offset


@given(TEXTS, TEXTS)
def test_differing_parts_turn_one_text_into_the_other(before: str, after: str) -> None:
    positions, text = Positions(before), before
    hunks = hunks_of(before, after)
    for hunk in reversed(hunks):
        start, end = positions.offset(hunk.first, 0), positions.offset(hunk.last, 0)
        assert text[start:end] == hunk.old
        text = text[:start] + hunk.new + text[end:]
    assert text == after
    assert all(one.last < other.first for one, other in pairwise(hunks))


@given(
    st.text(st.sampled_from("a\r\n👍\u2028"), max_size=30),
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 30), st.text(st.sampled_from("b\r\n👍"), max_size=5)),
        max_size=4,
    ),
)
def test_positions_in_a_changed_text_refer_to_that_text(
    text: str, changes: list[tuple[int, int, str]]
) -> None:
    positions = Positions(text)
    for start, end, new in changes:
        start, end = min(start, len(text)), min(max(start, end), len(text))
        text = text[:start] + new + text[end:]
        positions = positions.changed(start, end, new)
        fresh = Positions(text)
        assert positions.text == text
        assert [positions.place(at) for at in range(len(text) + 1)] == [
            fresh.place(at) for at in range(len(text) + 1)
        ]


def test_huge_differences_are_one_part() -> None:
    before = "".join(f"{number}\n" for number in range(3_000))
    hunks = hunks_of("same\n" + before, "same\n" + before.replace("1", "x"))
    assert len(hunks) == 1
    assert hunks[0].first == 2


def change(
    *changes: types.TextDocumentContentChangeEvent, version: int = 2
) -> types.DidChangeTextDocumentParams:
    document = types.VersionedTextDocumentIdentifier(uri=URI, version=version)
    return types.DidChangeTextDocumentParams(text_document=document, content_changes=changes)


def part(first: tuple[int, int], last: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    start, end = types.Position(*first), types.Position(*last)
    return types.TextDocumentContentChangePartial(range=types.Range(start=start, end=end), text=text)


def test_changes_to_a_document_are_applied_in_order() -> None:
    documents, seen = OpenDocuments(), list[str]()
    documents.watch(seen.append)
    documents.take(types.TextDocumentItem(uri=URI, language_id="python", version=1, text="a\x0cb\nc😀d\n"))
    documents.change(change(part((1, 3), (1, 4), "!"), part((0, 0), (0, 1), "A")))
    document = documents.get(URI)
    assert document
    assert (document.text, document.version) == ("A\x0cb\nc😀!\n", 2)
    documents.change(change(types.TextDocumentContentChangeWholeDocument(text="new"), version=3))
    assert documents.text_of(document.path) == "new"
    documents.drop(URI)
    assert documents.text_of(document.path) is None
    assert seen == [URI] * 3


def test_changes_to_an_unknown_document_are_ignored() -> None:
    documents = OpenDocuments()
    documents.change(change(part((0, 0), (0, 0), "x")))
    assert list(documents) == []


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "file://server/share/a.py", "file:relative", "file:///a%00b"]
)
def test_a_uri_that_is_no_local_file_has_no_path(uri: str) -> None:
    assert path_of(uri) == ""


def test_a_link_is_resolved_to_its_target(tmp_path: Path) -> None:
    target = (tmp_path / "a b.py").resolve()
    target.write_text("")
    (tmp_path / "link.py").symlink_to(target)
    assert path_of((tmp_path / "link.py").as_uri()) == str(target)
