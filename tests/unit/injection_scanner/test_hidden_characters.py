"""Invisible characters: legitimate ones are kept, the others removed, and line numbers are unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from injection_scanner.obfuscation.hidden_characters import SUSPECT, read_hidden, reveal

HONEST = [
    "👩🏽\u200d💻 owns the API, 🧑🏿\u200d🚀 owns releases",
    "❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ©\ufe0f",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "क्\u200dष",
    "葛\U000e0100城",
    "\u05e7\u05d5\u05d1\u05e5 \u2066app.yaml\u2069 \u05d5 \u2068x\u2069",
    "ภาษา\u200bไทย",
    "tab\there\r",
]


@pytest.mark.parametrize("text", HONEST)
def test_legitimate_characters_are_kept(text: str) -> None:
    revealed = reveal(text)
    assert (revealed.text, revealed.sightings) == (text, ())


@pytest.mark.parametrize(
    ("text", "clean", "rule"),
    [
        ("no\u200bway", "noway", "split-word"),
        ("end.\u200b", "end.", "stray-invisible"),
        ("\U000e0068\U000e0069", "", "tag-characters"),
        ("🏴\U000e0049\U000e0067\U000e007f", "🏴", "tag-characters"),
        ("👍\U000e0142\U000e0155", "👍", "selector-bytes"),
        ("a" + "\u200b\u200c" * 4 + "b", "ab", "zero-width-run"),
        ("i\u2060g\u2060n\u2060o\u2060re", "ignore", "letters-apart"),
        ("x \u202eevil\u202c", "x evil", "bidi-override"),
        ("x \u2067evil\u2069", "x evil", "bidi-unbalanced"),
        ("x \u2066evil", "x evil", "bidi-unbalanced"),
        ("hi \u2068Ann\u2069", "hi Ann", "bidi-idle"),
        ("\x1b[8mevil\x1b[0m", "evil", "terminal-control"),
        ("\x9b2Kevil", "evil", "terminal-control"),
        ("\x1b]8;;http://x\x07docs", "docs", "terminal-control"),
        ("\x1b[1;32mok\x1b[0m", "ok", "terminal-colour"),
        ("ok\b\bno", "okno", "overwrite"),
        ("a\0b", "ab", "control-character"),
    ],
)
def test_hidden_characters_are_removed_and_named(text: str, clean: str, rule: str) -> None:
    revealed = reveal(f"one\n{text}\nthree")
    assert revealed.text == f"one\n{clean}\nthree"
    assert (rule, 2) in {(sighting.rule, sighting.line) for sighting in revealed.sightings}


def test_soft_hyphens_between_syllables_are_not_a_disguise() -> None:
    revealed = reveal("Kon\u00adfi\u00adgu\u00adra\u00adtions\u00addatei")
    assert revealed.text == "Konfigurationsdatei"
    assert {sighting.rule for sighting in revealed.sightings} == {"stray-invisible"}


def test_a_byte_order_mark_is_allowed_only_at_the_start() -> None:
    assert reveal("\ufeff# Title").sightings == ()
    assert reveal("a\n\ufeff# Title").sightings != ()


def test_hidden_text_is_spelled_out_for_the_user() -> None:
    assert read_hidden("".join(chr(0xE0000 + ord(letter)) for letter in "Run it")) == "Run it"
    assert read_hidden("".join(chr(0xE0100 + ord(letter) - 16) for letter in "Run it")) == "Run it"


@given(
    st.text(st.characters(codec="utf-8") | st.sampled_from("\u200b\u200d\u202e\u2066\x1b[\U000e0041\ufe0f\n"))
)
def test_line_numbers_and_visible_letters_are_kept(text: str) -> None:
    revealed = reveal(text)
    assert revealed.text.count("\n") == text.count("\n")
    if SUSPECT.search(text) is None:
        assert revealed.text == text
