"""Prompts of MCP servers: text after a name becomes arguments; names; delays between connection attempts."""

import pytest

from hermes_acp.mcp.exposed_names import prompt_names
from hermes_acp.mcp.server_definitions import ServerTimeouts
from hermes_acp.mcp.server_prompts import ListedArgument, arguments_of
from hermes_acp.sessions.session_commands import split_command

ONE = (ListedArgument("text", True),)
TWO = (ListedArgument("path", True), ListedArgument("tone", False))


@pytest.mark.parametrize(
    ("words", "known", "given"),
    [
        ("", TWO, {}),
        ("a.py", TWO, {"path": "a.py"}),
        ("a.py very kind indeed", TWO, {"path": "a.py", "tone": "very kind indeed"}),
        ("tone=kind a.py", TWO, {"path": "a.py", "tone": "kind"}),
        ("\"my file.py\" tone='very kind'", TWO, {"path": "my file.py", "tone": "very kind"}),
        ("x=1 kind", TWO, {"path": "x=1", "tone": "kind"}),
        ("tone=kind a.py b.py", TWO, {"path": "a.py b.py", "tone": "kind"}),
        ("it's unbalanced", TWO, {"path": "it's", "tone": "unbalanced"}),
        ('say "this"  as it is', ONE, {"text": 'say "this"  as it is'}),
        ("text='a b'", ONE, {"text": "a b"}),
        ("anything", (), {}),
    ],
)
def test_words_become_arguments(words: str, known: tuple[ListedArgument, ...], given: dict[str, str]) -> None:
    assert arguments_of(words, known) == given


def test_names_can_be_typed_and_are_unique() -> None:
    names = prompt_names("srv", ["plain", "with space", "with/space"])
    assert names["plain"] == "srv:plain"
    assert len(set(names.values())) == 3
    assert not any(name.split()[1:] or "/" in name for name in names.values())


@pytest.mark.parametrize(
    ("prompt", "split"),
    [
        ("/a:b", ("a:b", "")),
        ("  /a:b  some  words\nmore ", ("a:b", "some  words\nmore")),
        ("/a:b\nwords", ("a:b", "words")),
        ("/ a", ("", "")),
        ("/", ("", "")),
        ("a /b", ("", "")),
    ],
)
def test_a_command_is_separated_from_its_arguments(prompt: str, split: tuple[str, str]) -> None:
    assert split_command(prompt) == split


def test_a_server_is_retried_with_doubling_delays_a_limited_number_of_times() -> None:
    timeouts = ServerTimeouts()
    assert [timeouts.wait_s(failures) for failures in range(1, 8)] == [1, 2, 4, 8, 16, None, None]
