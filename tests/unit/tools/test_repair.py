"""Invalid JSON is repaired if it is unambiguous, and distinguished from truncated input."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.tools.json_repair import json_shape, repair_json

CERTAIN = {
    "a comma too many": ('{"path": "a",}', {"path": "a"}),
    "a comma too many in a list": ('{"paths": ["a", "b",]}', {"paths": ["a", "b"]}),
    "single quotes": ("{'path': 'a \"b\"'}", {"path": 'a "b"'}),
    "an escaped single quote": (r"{'text': 'it\'s'}", {"text": "it's"}),
    "names without quotes": ('{path: "a", limit: 3}', {"path": "a", "limit": 3}),
    "Python's constants": ("{'all': True, 'none': None}", {"all": True, "none": None}),
    "line breaks in a string": ('{"text": "one\n\ttwo"}', {"text": "one\n\ttwo"}),
    "a fence around it": ('```json\n{"path": "a",}\n```', {"path": "a"}),
    "a fence around JSON": ('```\n{"path": "a"}\n```', {"path": "a"}),
    "an object written as a string": (r'"{\"path\": \"a \\\"b\\\"\"}"', {"path": 'a "b"'}),
    "braces in strings": ("{'text': '}{][,:'}", {"text": "}{][,:"}),
}
UNCERTAIN = {
    "a quote inside a string": '{"text": "say "hi" there",}',
    "quotes inside a string, with commas": '{"text": "f("x", "y")",}',
    "an apostrophe inside single quotes": "{'text': 'it's'}",
    "words around it": 'Here it is: {"path": "a",}',
    "words behind it": '{"path": "a",} Done.',
    "two objects": '{"path": "a",}{"path": "b"}',
    "brackets that do not match": '{"paths": ["a"}',
    "a list": '["a",]',
    "nothing": "",
    "words": "read a",
    "a comment": '{"path": "a" /* the first */}',
    "a word without quotes": '{"path": src/a.py}',
    "no number": '{"limit": NaN}',
    "half a surrogate pair": '{"text": "\\ud800",}',
    "a string": '"read a"',
    "a list written as a string": '"[1]"',
    "an object written as a string twice": json.dumps(json.dumps("{}")),
    "half a surrogate pair within a string": json.dumps('{"text": "\\ud800"}'),
    "nested too deep": "{" * 100 + "}" * 100,
}
CUT_OFF = (
    '{"path": "a',
    '{"path": "a"',
    '{"path": ',
    "{",
    '{"a": [1, 2',
    '```json\n{"a": {"b": 1}',
    "{'a': 'b\\'",
)


@pytest.mark.parametrize("name", CERTAIN)
def test_unambiguous_json_is_repaired(name: str) -> None:
    text, meant = CERTAIN[name]
    assert repair_json(text) == meant


@pytest.mark.parametrize("name", UNCERTAIN)
def test_ambiguous_json_is_left_alone(name: str) -> None:
    assert repair_json(UNCERTAIN[name]) is None


@pytest.mark.parametrize("text", CUT_OFF)
def test_truncated_json_is_distinguished_and_never_completed(text: str) -> None:
    assert json_shape(text)[0] == "cut_off"
    assert repair_json(text) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)


@settings(max_examples=60, deadline=None)
@given(OBJECTS, st.booleans())
def test_a_repair_never_changes_the_content(plain: dict[str, object], spoiled: bool) -> None:
    text = json.dumps(plain, ensure_ascii=False)
    faulty = text[:-1] + ",}" if spoiled and plain else text
    assert repair_json(faulty) in (plain, None)


@settings(max_examples=60, deadline=None)
@given(OBJECTS, st.data())
def test_a_prefix_of_an_object_is_never_taken_for_the_whole(
    plain: dict[str, object], data: st.DataObject
) -> None:
    text = json.dumps(plain)
    assert repair_json(text[: data.draw(st.integers(0, len(text) - 1))]) is None


def test_a_huge_text_is_left_alone() -> None:
    assert repair_json('{"text": "' + "a" * 300_000 + '",}') is None
    assert repair_json("[" * 100_000) is None
