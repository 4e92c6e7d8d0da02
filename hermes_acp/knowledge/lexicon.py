"""What is known of a single word: which rules, languages and disguises it makes worth a closer look.

Knows: the begins that rules and languages name, the looks of disguised words. Does not know: passages.
A passage is looked at only by what the marks of its words call for; that is what makes most text cheap.
"""

from functools import cache

from hermes_acp.knowledge.languages import load_library
from hermes_acp.knowledge.marks import (
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
from hermes_acp.knowledge.rulebook import load_rulebook
from hermes_acp.knowledge.tokens import tokenize
from hermes_acp.knowledge.unscrambling import (
    cipher_words,
    is_jumbled,
    nato_words,
    padding_of,
    unvowelled_words,
)


@cache
def rule_begins() -> dict[str, tuple[tuple[str, str], ...]]:
    """Give, by its first three letters, each begin of a word that a rule needs, and the rule's mark."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for rule in load_rulebook().by_word:
        for need in rule.needs:
            word = max(tokenize(need), key=len)
            found[word[:3]] = (*found.get(word[:3], ()), (word, RULE + rule.id))
    return found


def marks_of(token: str) -> tuple[str, ...]:
    """Give the marks of a word; most words have none."""
    marks = [mark for begin, mark in rule_begins().get(token[:3], ()) if token.startswith(begin)]
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
    if token in unvowelled_words():
        marks.append(UNVOWELLED)
    if is_jumbled(token):
        marks.append(JUMBLED)
    return tuple(dict.fromkeys(marks))


def sides_of(token: str) -> int:
    """Give the bits of the languages' pairs of which a word may be one side or the other."""
    begins = load_library().begins
    ended = token + " "
    bits = 0
    for begin, more in (*begins.get(ended[:2], ()), *begins.get(ended[:3], ())):
        if ended.startswith(begin):
            bits |= more
    return bits
