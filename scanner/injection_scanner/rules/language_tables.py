"""The tables of languages: their words, and the word prefixes that make a language worth checking."""

from functools import cache

from msgspec import Struct

from injection_scanner.tables.compiled_tables import load_table

PREFIX = 3
"""Begins of words are looked up by so many letters of theirs; shorter ones by all they have."""

LONG_PREFIX = 4
PAIRS = 4
"""So many pairs a language has: override, hide, reveal, free."""


class LanguageWords(Struct, frozen=True, forbid_unknown_fields=True):
    """One language's table, as `languages.toml` explains it."""

    forget: str
    orders: str
    scope: str
    hush: str
    user: str
    reveal: str
    prompt: str
    free: str
    spaces: bool = True
    lapsed: str = ""


class Language(Struct, frozen=True):
    """One language; `letters` are those its words begin with."""

    name: str
    letters: frozenset[str]
    words: LanguageWords


class LanguageTable(Struct, frozen=True):
    """All languages, in the order of their names; by first letters, begins of words with the bits of their sides.

    A pair of a language has a bit for its one side, and `width` bits above it one for the other. The bits are kept as
    bytes, the lowest first.
    """

    spaced: tuple[Language, ...]
    spaceless: tuple[Language, ...]
    begins: dict[str, tuple[tuple[str, bytes], ...]]
    width: int


@cache
def load_language_table() -> LanguageTable:
    """Read the table once."""
    return load_table("languages", LanguageTable, build_language_table)


def pair_bits_of(token: str) -> int:
    """Return the bits of the languages' pairs of which a word may be one side or the other."""
    begins = load_language_table().begins
    ended = token + " "
    bits = 0
    for begin, more in (*begins.get(ended[:2], ()), *begins.get(ended[:PREFIX], ())):
        if ended.startswith(begin):
            bits |= int.from_bytes(more, "little")
    return bits


def has_pair(sides: int) -> bool:
    """Return whether both sides of a pair of some language are among these bits."""
    return sides & sides >> load_language_table().width != 0


def is_foreign_word(token: str) -> bool:
    """Return whether a word begins as a word of a language does, by letters enough."""
    begins = load_language_table().begins.get(token[:PREFIX], ())
    return any(len(begin) >= LONG_PREFIX and token.startswith(begin) for begin, _ in begins)


def build_language_table(source: str) -> LanguageTable:
    """Make the library of the text of `languages.toml`."""
    import tomllib

    from msgspec import convert

    tables = convert(tomllib.loads(source), dict[str, LanguageWords])
    languages = sorted(tables.items())
    spaced = [(name, words) for name, words in languages if words.spaces]
    width = len(spaced) * PAIRS
    bits: dict[str, int] = {}
    for place, (_, words) in enumerate(spaced):
        for number, (one, other) in enumerate(pairs_of(words), place * PAIRS):
            for begin in one:
                bits[begin] = bits.get(begin, 0) | 1 << number
            for begin in other:
                bits[begin] = bits.get(begin, 0) | 1 << number + width
    begins: dict[str, tuple[tuple[str, bytes], ...]] = {}
    for begin, sides in sorted(bits.items()):
        known = begins.get(begin[:PREFIX], ())
        begins[begin[:PREFIX]] = (*known, (begin, sides.to_bytes((sides.bit_length() + 7) // 8, "little")))
    return LanguageTable(
        tuple(language_of(name, words) for name, words in spaced),
        tuple(language_of(name, words) for name, words in languages if not words.spaces),
        begins,
        width,
    )


def language_of(name: str, words: LanguageWords) -> Language:
    """Make one language of its table."""
    letters = "".join(begin for one, _ in pairs_of(words) for begin in one)
    return Language(name, frozenset(letters), words)


def pairs_of(words: LanguageWords) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return two sets of begins of words for each pair; both must occur to look closer."""
    from injection_scanner.tables.pattern_prefixes import prefixes_of

    forget, orders, hush, user, reveal, prompt, free = map(
        prefixes_of,
        (words.forget, words.orders, words.hush, words.user, words.reveal, words.prompt, words.free),
    )
    if words.lapsed:
        forget |= prefixes_of(words.lapsed)
    return (forget, orders), (hush, user), (reveal, prompt), (free, free)
