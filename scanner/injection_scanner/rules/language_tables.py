"""The language tables, with words, and with the word prefixes that make a language worth checking."""

from functools import cache

from msgspec import Struct

from injection_scanner.tables.compiled_tables import load_table

PREFIX = 3
"""The length of the prefixes by which words are looked up; shorter words are looked up whole."""

LONG_PREFIX = 4
PAIRS = 4
"""The number of pairs per language: override, hide, reveal, free."""


class LanguageWords(Struct, frozen=True, forbid_unknown_fields=True):
    """One language's table; `languages.toml` explains the fields."""

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
    """One language; `letters` are the initial letters of its words."""

    name: str
    letters: frozenset[str]
    words: LanguageWords


class LanguageTable(Struct, frozen=True):
    """All languages, sorted by name, and word prefixes with the bits of their sides, by first letters.

    Each pair of a language has one bit for one side and, `width` bits higher, one for the other. The bits are stored as
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
    """Return the bits of the language pairs whose sides a word may belong to."""
    begins = load_language_table().begins
    ended = token + " "
    bits = 0
    for begin, more in (*begins.get(ended[:2], ()), *begins.get(ended[:PREFIX], ())):
        if ended.startswith(begin):
            bits |= int.from_bytes(more, "little")
    return bits


def has_pair(sides: int) -> bool:
    """Return whether the bits include both sides of a pair of any language."""
    return sides & sides >> load_language_table().width != 0


def is_foreign_word(token: str) -> bool:
    """Return whether a word has a sufficiently long prefix in common with a word of a known language."""
    begins = load_language_table().begins.get(token[:PREFIX], ())
    return any(len(begin) >= LONG_PREFIX and token.startswith(begin) for begin, _ in begins)


def build_language_table(source: str) -> LanguageTable:
    """Build the table from the text of `languages.toml`."""
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
    """Build one language from its table."""
    letters = "".join(begin for one, _ in pairs_of(words) for begin in one)
    return Language(name, frozenset(letters), words)


def pairs_of(words: LanguageWords) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return two sets of word prefixes for each pair; both must occur for a closer look."""
    from injection_scanner.tables.pattern_prefixes import prefixes_of

    forget, orders, hush, user, reveal, prompt, free = map(
        prefixes_of,
        (words.forget, words.orders, words.hush, words.user, words.reveal, words.prompt, words.free),
    )
    if words.lapsed:
        forget |= prefixes_of(words.lapsed)
    return (forget, orders), (hush, user), (reveal, prompt), (free, free)
