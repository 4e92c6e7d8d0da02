"""Orders to drop the rules, to hide or to tell secrets, in many languages.

Knows: `languages.toml`, and how its words must stand to each other. Does not know: lines, other rules, English.
A passage is looked at closely only where the begins of its words occur in the table.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct, convert

from hermes_acp.knowledge.folding import fold_pattern

SPACELESS = re.compile("[\u0590-\u07ff\ufb1d-\ufdff\ufe70-\ufefc\u0900-\u0dff\u0e00-\u0fff\u1000-\u10ff\u1200-\u137f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
STEM = 4
STARTS = re.compile(r"(?:^|\||\(\?:|\\b)([^\W\d_]{2,})(?!\(|\w)")
GROUPS = re.compile(r"(?:^|\|)([^\W\d_]+)\(\?:([^()]*)\)")
REDIRECTED = re.compile(
    r"docs?\b|readme|changelog|\bbuild|\.md\b|vendor|dist/|\u6587\u6863|\u6587\u6a94|\u6587\u66f8|\u30c9\u30ad\u30e5\u30e1\u30f3\u30c8"
    r"|\ubb38\uc11c|\ube4c\ub4dc|dokument|documenta|\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442"
)


ENGLISH = frozenset("the a an and or to of in is are for with on be it this that your you if when use not as by from all".split())


class Words(Struct, frozen=True, forbid_unknown_fields=True):
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


class Language(Struct, frozen=True):
    """One language, ready to match; two sets of `keys`, the begins of its words, must both occur to look closer."""

    name: str
    keys: tuple[tuple[frozenset[str], frozenset[str]], ...]
    letters: frozenset[str]
    words: Words


class Patterns(Struct, frozen=True):
    """One language's compiled patterns."""

    override: re.Pattern[str]
    scope: re.Pattern[str]
    hush: re.Pattern[str]
    user: re.Pattern[str]
    reveal: re.Pattern[str]
    free: re.Pattern[str]


class Library(Struct, frozen=True):
    """All languages, and which of them a word's begin belongs to."""

    by_key: dict[str, tuple[Language, ...]]
    spaceless: tuple[Language, ...]
    keys: frozenset[str]


@cache
def load_library() -> Library:
    """Read the table once; patterns are compiled when a language is first met."""
    source = Path(__file__).with_name("languages.toml").read_text("utf-8")
    tables = convert(tomllib.loads(source), dict[str, Words])
    by_key: dict[str, tuple[Language, ...]] = {}
    spaceless: list[Language] = []
    for name, words in tables.items():
        forget, orders, hush, user, reveal, prompt, free = map(
            keys_of, (words.forget, words.orders, words.hush, words.user, words.reveal, words.prompt, words.free)
        )
        keys = ((forget, orders), (hush, user), (reveal, prompt), (free, free))
        letters = frozenset("".join(forget | hush | reveal | free))
        language = Language(name, keys, letters, words)
        if not words.spaces:
            spaceless.append(language)
            continue
        for key in forget | hush | reveal | free:
            by_key[key] = (*by_key.get(key, ()), language)
    return Library(by_key, tuple(spaceless), frozenset(by_key))


def keys_of(alternatives: str) -> frozenset[str]:
    """Give the begins of the words that alternatives can begin with."""
    stems = {*STARTS.findall(alternatives)}
    for begin, ends in GROUPS.findall(alternatives):
        stems.update(begin + end for end in ends.split("|"))
    return frozenset(fold_pattern(stem)[:STEM] for stem in stems)


@cache
def patterns_of(language: Language) -> Patterns:
    """Compile one language's patterns."""
    words = language.words
    edge = r"(?<![^\W_])" if words.spaces else ""
    gap = r"[^.!?\n\u3002\u0964]{0,48}?"
    part = {
        name: f"{edge}(?:{fold_pattern(getattr(words, name))})"
        for name in ("forget", "orders", "scope", "hush", "user", "reveal", "prompt", "free")
    }

    def either(one: str, two: str) -> re.Pattern[str]:
        return re.compile(f"{part[one]}{gap}{part[two]}|{part[two]}{gap}{part[one]}")

    return Patterns(
        either("forget", "orders"),
        re.compile(part["scope"]),
        re.compile(part["hush"]),
        re.compile(part["user"]),
        either("reveal", "prompt"),
        re.compile(part["free"]),
    )


def is_english(tokens: list[str]) -> bool:
    """Tell by its small words that a passage is English throughout."""
    return sum(token in ENGLISH for token in tokens) * 10 >= len(tokens) * 3


def languages_in(words: set[str], passage: str) -> Iterator[Language]:
    """Give the languages a passage may be written in: by its words' begins, or by its script."""
    library = load_library()
    seen: set[str] = set()
    for key in library.keys.intersection(words):
        for language in library.by_key[key]:
            if language.name not in seen:
                seen.add(language.name)
                if any(not one.isdisjoint(words) and not two.isdisjoint(words) for one, two in language.keys):
                    yield language
    if not passage.isascii() and SPACELESS.search(passage):
        letters = set(SPACELESS.findall(passage))
        yield from (language for language in library.spaceless if not language.letters.isdisjoint(letters))


def judge_languages(passage: str, begins: set[str]) -> Iterator[tuple[str, int, int, bool]]:
    """Give rule, start, end and whether it is certain, for a passage and the begins of its words (`STEM` long)."""
    for language in languages_in(begins, passage):
        patterns = patterns_of(language)
        for found in patterns.override.finditer(passage):
            around = passage[max(0, found.start() - 24) : found.end() + 32]
            if patterns.scope.search(around):
                yield "override-other-language", *found.span(), REDIRECTED.search(passage) is None
        for found in patterns.hush.finditer(passage):
            if patterns.user.search(passage[max(0, found.start() - 32) : found.end() + 32]):
                yield "hide-other-language", *found.span(), True
        for certain, pattern in ((True, patterns.reveal), (False, patterns.free)):
            if found := pattern.search(passage):
                yield "unbound-other-language", *found.span(), certain
