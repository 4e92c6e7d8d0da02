"""Editing and writing files: what matches, what is preserved, what is rejected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import Diff
from hermes_acp.tools.editing.replacements import Replacement, replace
from tests.unit.tools.tool_calling import MemoryWorkspace, perform, propose

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\ntwo\nthree\n", b"one\n2\nzwei\nthree\n"),
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\nzwei\r\nthree\r\n"),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", b"\xef\xbb\xbfone\r\n2\r\nzwei\r\n"),
        ("\ufeffone\r\ntwo\r\né".encode("utf-16-le"), "\ufeffone\r\n2\r\nzwei\r\né".encode("utf-16-le")),
        (b"caf\xe9\ntwo\n\x80", b"caf\xe9\n2\nzwei\n\x80"),
        (b"caf\xe9\x81\ntwo\n", b"caf\xe9\x81\n2\nzwei\n"),
        (b"lf\ncrlf\r\ncrlf\r\ntwo\nlf\n", b"lf\ncrlf\r\ncrlf\r\n2\nzwei\nlf\n"),
    ],
)
async def test_an_edit_preserves_line_ends_encoding_and_byte_order_mark(before: bytes, after: bytes) -> None:
    workspace = MemoryWorkspace({"a": before})
    result = await perform("edit_file", workspace, path="a", old_text="two\n", new_text="2\nzwei\n")
    assert not result.is_error
    assert workspace.files["/project/a"] == after


async def test_an_edit_shows_what_it_will_do_and_what_it_did() -> None:
    workspace = MemoryWorkspace({"a": b"one\ntwo\n"})
    proposal = await propose("edit_file", workspace, path="a", old_text="two", new_text="2")
    assert proposal.title == "Edit a"
    assert proposal.diffs == (Diff("/project/a", "one\ntwo\n", "one\n2\n"),)
    assert [(place.path, place.line) for place in proposal.locations] == [("/project/a", 2)]
    workspace.written_as = b"one\nII\n"
    result = await perform("edit_file", workspace, path="a", old_text="two", new_text="2")
    assert result.diffs == (Diff("/project/a", "one\ntwo\n", "one\nII\n"),)
    assert "formatter" in result.text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("same", "same", "are the same"),
        ("", "x", "old_text is empty"),
        ("two", "2", "2 times in the file, at lines 2, 4"),
        ("    return valeu\n", "x", "lines 6-6:\n     6\t    return value"),
        ("def f():\n  return values", "x", "lines 5-6:\n     5\tdef f():\n     6\t    return value"),
        ("zzzzqqqq", "x", "The file has no similar text"),
    ],
)
async def test_an_edit_that_does_not_fit_says_why(old: str, new: str, said: str) -> None:
    workspace = MemoryWorkspace({"a": b"one\ntwo\nthree\ntwo\ndef f():\n    return value\n"})
    with pytest.raises(WorkspaceError) as caught:
        await propose("edit_file", workspace, path="a", old_text=old, new_text=new)
    assert said in caught.value.sentence()


async def test_replace_all_and_characters_the_encoding_lacks() -> None:
    workspace = MemoryWorkspace({"a": b"x x\nx\xe9"})
    arguments = {"path": "a", "old_text": "x", "replace_all": "true"}
    with pytest.raises(WorkspaceError, match="cp1252"):
        await propose("edit_file", workspace, new_text="\u4e2d", **arguments)
    await perform("edit_file", workspace, new_text="yy", **arguments)
    assert workspace.files["/project/a"] == b"yy yy\nyy\xe9"


async def test_writing_creates_and_replaces() -> None:
    workspace = MemoryWorkspace({"a": b"old\r\n"})
    proposal = await propose("write_file", workspace, path="new", content="é\n")
    assert (proposal.title, proposal.diffs) == ("Create new", (Diff("/project/new", None, "é\n"),))
    result = await perform("write_file", workspace, path="new", content="é\n")
    assert result.text == "Created new (3 bytes)."
    result = await perform("write_file", workspace, path="a", content="new\n")
    assert result.diffs == (Diff("/project/a", "old\r\n", "new\n"),)
    assert workspace.files["/project/a"] == b"new\n"


async def test_a_write_that_left_no_file_is_an_error() -> None:
    class Forgetful(MemoryWorkspace):
        async def write(self, path: str, content: bytes) -> None:
            return None

    result = await perform("write_file", Forgetful(), path="new", content="x")
    assert result.is_error
    assert "does not exist now" in result.text


TEXT = st.text(alphabet="ab\n", max_size=12)


@given(before=TEXT, old=st.text(alphabet="ab\n", min_size=1, max_size=3), new=TEXT, ends=st.data())
def test_replacing_equals_replacing_without_carriage_returns(
    before: str, old: str, new: str, ends: st.DataObject
) -> None:
    mixed = "".join(
        ends.draw(st.sampled_from(["\n", "\r\n"])) if character == "\n" else character for character in before
    )
    if old not in before:
        with pytest.raises(WorkspaceError):
            replace(mixed, Replacement(old, new, every=True), "\r\n")
        return
    result = replace(mixed, Replacement(old, new, every=True), "\r\n").text
    assert result.replace("\r\n", "\n") == before.replace(old, new)
    kept = before.index(old)
    assert result.startswith(_through(mixed, kept))


def _through(mixed: str, plain_length: int) -> str:
    """Return the start of `mixed` that has `plain_length` characters without carriage returns."""
    place = 0
    for _ in range(plain_length):
        place += 2 if mixed.startswith("\r\n", place) else 1
    return mixed[:place]
