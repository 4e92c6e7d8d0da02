"""Control characters in a card's output are shown without affecting the terminal."""

import pytest

from hermes_acp.frontends.acp.translation.output_markdown import fenced, inert


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[32m+ added\x1b[0m\r\n\tnext", "+ added\n\tnext"),
        ("safe\x1b[2K\rrm -rf /", "safe␛[2K␍rm -rf /"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b]8;;https://evil.example\x1b\\here", "␛]8;;https://evil.example␛\\here"),
        ("a\x9b2Jb\x7f", "a\\u009b2Jb␡"),
        ("user\u202egpj.exe\u2066", "user\\u202egpj.exe\\u2066"),
        ("naïve — 👩\u200d💻 שלום", "naïve — 👩\u200d💻 שלום"),
    ],
)
def test_control_characters_are_shown_as_symbols_and_colours_are_omitted(output: str, shown: str) -> None:
    assert inert(output) == shown
    assert shown in fenced(f"{output}\nsecond line")
