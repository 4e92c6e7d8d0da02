"""Tool calls and thoughts in text: what is found, and that splitting the stream changes nothing."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.core.messages import TextFragment, ThoughtFragment
from hermes_acp.models.text_tools.tag_parser import TagParser

Found = tuple[str, str, list[tuple[str, str]]]
CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}\n</tool_call>'


def read(*pieces: str, takes_calls: bool = True, begins_thinking: bool = False) -> Found:
    reader = TagParser(takes_calls=takes_calls, begins_thinking=begins_thinking)
    fragments = [fragment for piece in pieces for fragment in reader.feed(piece)] + reader.close()
    text = "".join(each.text for each in fragments if isinstance(each, TextFragment))
    thought = "".join(each.text for each in fragments if isinstance(each, ThoughtFragment))
    assert (text, thought) == ("".join(reader.text), "".join(reader.thoughts))
    return text, thought, [(call.name, call.arguments) for call in reader.calls]


def test_text_thoughts_and_calls_are_distinguished() -> None:
    said = f"<think>\nLet me see.</think>\n\nI look.\n{CALL}\n{CALL}\n"
    call = ("read", '{"path": "a.py"}')
    assert read(said) == ("I look.", "Let me see.", [call, call])


SAID: Final[tuple[tuple[str, Found], ...]] = (
    ("plain", ("plain", "", [])),
    ("a < b <x> </y>", ("a < b <x> </y>", "", [])),
    ("<thin", ("<thin", "", [])),
    ("<think>never closed", ("", "never closed", [])),
    ("said</think>more", ("saidmore", "", [])),
    (f"```\n{CALL}\n```\nend", (f"```\n{CALL}\n```\nend", "", [])),
    (f"~~~~xml\n{CALL}\n~~~\n{CALL}", (f"~~~~xml\n{CALL}\n~~~\n{CALL}", "", [])),
    (f"```\nx\n```\n{CALL}", ("```\nx\n```", "", [("read", '{"path": "a.py"}')])),
    (f"     ```\n{CALL}", ("```", "", [("read", '{"path": "a.py"}')])),
    ("write `<tool_call>` first", ("write `<tool_call>` first", "", [])),
    ('<tool_call>{"name": "f"}', ("", "", [("f", "{}")])),
    ('<tool_call>{"name": "f", "parameters": {"a": 1}}</tool_call>', ("", "", [("f", '{"a": 1}')])),
    ('<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>', ("", "", [("f", '{"a": 1}')])),
    ("<tool_call></tool_call>done", ("done", "", [])),
)


@pytest.mark.parametrize(("said", "found"), SAID)
def test_calls_are_found_in_each_format(said: str, found: Found) -> None:
    assert read(said) == found


@pytest.mark.parametrize(
    ("content", "name", "arguments"),
    [
        ('{"name": "run", "arguments": {"command": "ls}', "run", '{"command": "ls'),
        ('{"name": "run", "arguments": {"a": 1,}}', "run", '{"a": 1,}'),
        ("ls -la", "tool_call", "ls -la"),
        ('[{"name": "run"}]', "run", '[{"name": "run"}]'),
        ('{"arguments": {"a": 1}}', "tool_call", '{"a": 1}'),
    ],
)
def test_a_malformed_call_is_a_call_with_its_arguments_as_written(
    content: str, name: str, arguments: str
) -> None:
    assert read(f"<tool_call>{content}</tool_call>")[2] == [(name, arguments)]


def test_an_end_tag_within_a_string_is_part_of_the_string() -> None:
    arguments = {"text": 'a </tool_call> "b" \\'}
    content = json.dumps({"name": "write", "arguments": arguments})
    ((name, found),) = read(f"<tool_call>{content}</tool_call>")[2]
    assert (name, json.loads(found)) == ("write", arguments)


def test_an_unclosed_quote_does_not_swallow_what_follows() -> None:
    text, _, calls = read(f'<tool_call>{{"name": "f", "arguments": {{"a": "b}}}}</tool_call>and{CALL}')
    assert text == "and"
    assert calls == [("f", '{"a": "b}'), ("read", '{"path": "a.py"}')]


def test_an_unclosed_call_ends_where_the_next_starts() -> None:
    calls = read(f'<tool_call>{{"name": "f"}}\n{CALL}')[2]
    assert calls == [("f", "{}"), ("read", '{"path": "a.py"}')]


def test_results_invented_by_the_model_are_dropped() -> None:
    assert read(f"{CALL}<tool_response>fine</tool_response>It worked.") == (
        "",
        "",
        [("read", '{"path": "a.py"}')],
    )


def test_calls_in_text_are_text_if_the_model_has_native_calls() -> None:
    assert read(f"<think>a</think>{CALL}", takes_calls=False) == (CALL, "a", [])


def test_a_thought_may_have_started_in_the_prompt() -> None:
    assert read("hm</think>so", begins_thinking=True) == ("so", "hm", [])


def test_text_that_cannot_start_a_tag_is_emitted_at_once() -> None:
    reader = TagParser()
    assert reader.feed("Hello <b") == [TextFragment("Hello <b")]
    assert reader.feed(" and <tool_ca") == [TextFragment(" and")]
    assert reader.feed("n") == [TextFragment(" <tool_can")]


PIECES = st.sampled_from(
    [
        "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", CALL, "```", "````", "~~~", "`", "\n",
        "   ", "    ", " ", "word", "<", "</", '"', "\\", '{"name": "f", "arguments": {"a": "b"}}', '{"name":', "ü🌍",
        "\n```py\n", "\n```\n", "<tool", "_call>",
    ]
)  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(said=st.lists(PIECES, max_size=14).map("".join), data=st.data())
def test_no_split_of_the_stream_changes_the_result(said: str, data: st.DataObject) -> None:
    whole = read(said)
    assert read(*said) == whole
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=6)))
    assert read(*(said[a:b] for a, b in zip([0, *cuts], [*cuts, len(said)], strict=True))) == whole


@settings(max_examples=100, deadline=None)
@given(words=st.text(alphabet="ab <>`\n~", max_size=40))
def test_text_without_tags_is_unchanged(words: str) -> None:
    assert read(words) == (words.strip(), "", [])
    assert not re.search("tool", read(words)[0])
