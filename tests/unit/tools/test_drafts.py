"""Drafts of edits, read from incomplete arguments."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.tools.editing.edit_drafts import EditDraft, parse_edit_draft

TEXTS = st.text(
    st.sampled_from('a"\\\n{}:,u00é😀\ud83d'.encode("utf-16", "surrogatepass").decode("utf-16", "replace")),
    max_size=30,
)


@given(TEXTS, st.booleans())
def test_a_draft_only_grows_until_it_is_the_whole_text(content: str, is_ascii: bool) -> None:
    arguments = json.dumps({"path": "a.txt", "content": content}, ensure_ascii=is_ascii)
    for length in range(len(arguments)):
        draft = parse_edit_draft("write_file", arguments[:length])
        if draft is not None:
            assert content.startswith(draft.new_text)
            assert draft.path == "a.txt"
            assert not draft.is_whole or draft.new_text == content
    assert parse_edit_draft("write_file", arguments) == EditDraft("a.txt", content, None, is_whole=True)


def test_the_old_text_is_known_before_its_replacement() -> None:
    arguments = '{"path": "a.py", "old_text": "one\\ntwo", "new_text": "ON'
    assert parse_edit_draft("edit_file", arguments) == EditDraft("a.py", "ON", "one\ntwo")
    assert parse_edit_draft("edit_file", arguments[:25]) is None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("terminal", '{"path": "a", "content": "x"}'),
        ("write_file", '{"content": "x"}'),
        ("write_file", '{"path": "a'),
        ("write_file", "[1, 2"),
        ("edit_file", '{"path": "a", "edits": [{"old_text": "x"'),
        ("edit_file", '{"path": "a", "old_text": "", "new_text": "x"}'),
    ],
)
def test_unreadable_arguments_give_no_draft(tool: str, arguments: str) -> None:
    assert parse_edit_draft(tool, arguments) is None
