"""Setting one member in a settings file with comments leaves everything else unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.frontends.cli.setup.jsonc_text import member, read_jsonc, with_member

ZED = """\
// Zed settings
{
  "theme": "One Dark", // dark
  /* the agents
     of this machine */
  "agent_servers": {
    "Other": { "command": "other" }, // theirs
  },
  "vim_mode": true // for good
}
"""
ENTRY: dict[str, Any] = {"command": "/bin/hermes-acp", "args": []}


def test_a_member_is_added_where_it_belongs_and_comments_stay() -> None:
    edited = with_member(ZED, ("agent_servers", "Hermes"), ENTRY)
    assert edited == ZED.replace(
        """"other" }, // theirs
""",
        """"other" }, // theirs
    "Hermes": {
      "command": "/bin/hermes-acp",
      "args": []
    },
""",
    )
    assert with_member(edited, ("agent_servers", "Hermes"), ENTRY) == edited


def test_a_member_after_a_comment_gets_its_comma_before_it() -> None:
    edited = with_member(ZED, ("new",), 1)
    assert edited == ZED.replace("true // for good\n", 'true, // for good\n  "new": 1\n')


def test_one_value_is_replaced() -> None:
    edited = with_member(ZED, ("agent_servers", "Other", "command"), "mine")
    assert edited == ZED.replace('"command": "other"', '"command": "mine"')


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '{\n  "a": 1\n}\n'),
        ("// nothing yet\n", '// nothing yet\n{\n  "a": 1\n}\n'),
        ("{}", '{\n  "a": 1\n}'),
        ("{ }\n", '{\n  "a": 1\n}\n'),
        ('{"b": 2}', '{"b": 2, "a": 1}'),
        ('{"b": 2,}', '{"b": 2, "a": 1}'),
        ('{\r\n\t"b": 2\r\n}\r\n', '{\r\n\t"b": 2,\r\n\t"a": 1\r\n}\r\n'),
        ('{\n    "b": [1, 2,], // x\n}\n', '{\n    "b": [1, 2,], // x\n    "a": 1,\n}\n'),
        ("{ // empty\n}\n", '{ // empty\n  "a": 1\n}\n'),
    ],
)
def test_each_layout_is_kept(text: str, after: str) -> None:
    assert with_member(text, ("a",), 1) == after


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a": \n}', 3),
        ("{'a': 1}", 1),
        ('{"a": 1} x', 1),
        ('{"a" 1}', 1),
        ("[1 2]", 1),
        ("[" * 200, 1),
    ],
)
def test_text_that_is_not_json_is_rejected_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"line {line} is not valid JSON"):
        with_member(text, ("a",), 1)


def test_a_member_cannot_be_added_to_something_else() -> None:
    with pytest.raises(ValueError, match="something else is there"):
        with_member('{"a": [1]}', ("a", "b"), 1)


CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.dictionaries(st.text(max_size=5), CONTENT, max_size=4), CONTENT, st.sampled_from([None, 2, 4, "\t"])
)
def test_any_document_contains_the_new_value_and_all_it_had(
    content: dict[str, Any], value: object, indent: int | str | None
) -> None:
    edited = with_member(json.dumps(content, indent=indent), ("x y",), value)
    assert read_jsonc(edited) == {**content, "x y": value}
    assert member(edited, ("x y",)) == value
