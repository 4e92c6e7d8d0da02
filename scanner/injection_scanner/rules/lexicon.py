"""Determine from its single words which rules and deobfuscations a passage needs.

Only the checks that the marks of its words require are run on a passage, which makes most text cheap to scan.
"""

from collections.abc import Container

from injection_scanner.obfuscation.deobfuscation import (
    LEET_I,
    LEET_L,
    cipher_words,
    is_jumbled,
    nato_words,
    padding_of,
    revowelled,
)
from injection_scanner.rules.language_tables import is_foreign_word
from injection_scanner.rules.scanner_rules import BEGIN, load_scan_rules
from injection_scanner.text.word_marks import (
    CIPHER,
    DOUBLED,
    JUMBLED,
    LEET,
    LETTER,
    NATO,
    PADDED,
    RULE,
    UNVOWELLED,
)

FIGURES = (LEET_I, LEET_L)


def is_word(token: str, words: Container[str]) -> bool:
    """Return whether a possibly obfuscated word is in a list or belongs to a language with known orders."""
    return (
        token in words
        or token in cipher_words()
        or revowelled(token) != ""
        or is_foreign_word(token)
        or is_jumbled(token)
        or any(token.translate(figures) in words for figures in FIGURES)
    )


def marks_of(token: str) -> tuple[str, ...]:
    """Return the marks of a word; most words have none."""
    begins = load_scan_rules().by_word.get(token[:BEGIN], ())
    marks = [RULE + rule_id for begin, rule_id in begins if token.startswith(begin)]
    if token in cipher_words():
        marks.append(CIPHER)
    if token in nato_words():
        marks.append(NATO)
    if len(token) == 1 and token.isalpha():
        marks.append(LETTER)
    if not token.isalpha() and token.isalnum() and not token.isdigit():
        marks.append(LEET)
    if len(token) > 5 and token[::2] == token[1::2] and len(set(token)) > 1:
        marks.append(DOUBLED)
    if padding_of(token):
        marks.append(PADDED)
    if revowelled(token):
        marks.append(UNVOWELLED)
    if is_jumbled(token):
        marks.append(JUMBLED)
    return tuple(dict.fromkeys(marks))
