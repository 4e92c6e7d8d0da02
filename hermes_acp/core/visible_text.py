"""Escape characters in text that could deceive its reader.

Source: Unicode general categories; filler characters that are letters by category but blank on screen; letters of other
scripts that pass for Latin letters within a word (UTS 39, mixed scripts).
"""

import re
import unicodedata
from types import MappingProxyType

_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_LOOKALIKES = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "FULLWIDTH", "MATHEMATICAL")
_KEPT = re.compile("([\n\t])")
_WORD = re.compile(r"[^\W_]+")
_SHORT = MappingProxyType({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def escape_invisible(text: str) -> str:
    """Escape control, zero-width, direction-changing and look-alike characters."""
    if text.isascii() and text.isprintable():
        return text
    text = _WORD.sub(lambda word: _unmixed(word[0]), text)
    return "".join(_escape(character) if _is_hidden(character) else character for character in text)


def visible_lines(text: str) -> str:
    """Keep a text's line breaks and tabs, and escape everything else that is invisible."""
    return "".join(part if part in ("\n", "\t") else escape_invisible(part) for part in _KEPT.split(text))


def _unmixed(word: str) -> str:
    """Escape letters that pass for the Latin letters next to them, as in a spoofed `sudo`."""
    if word.isascii() or not any(letter.isascii() for letter in word):
        return word
    return "".join(
        _escape(letter) if unicodedata.name(letter, "").startswith(_LOOKALIKES) else letter for letter in word
    )


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    if category in _HIDDEN_CATEGORIES or character in _BLANKS:
        return True
    if category == "Zs":
        return character != " "
    return category == "Mn" and unicodedata.name(character, "").startswith(
        ("VARIATION SELECTOR", "MONGOLIAN FREE")
    )


def _escape(character: str) -> str:
    number = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
