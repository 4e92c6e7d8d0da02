"""Detect orders to drop the rules, or to hide or reveal secrets, in many languages.

A passage is examined closely only if the table contains prefixes of its words.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from injection_scanner.rules.language_tables import PAIRS, Language, load_language_table
from injection_scanner.tables.lazy_patterns import compiled
from injection_scanner.text.text_folding import fold_pattern

SPACELESS = (
    "[\u0590-\u07ff\ufb1d-\ufdff\ufe70-\ufefc\u0900-\u0dff\u0e00-\u0fff\u1000-\u10ff"
    "\u1200-\u137f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
OVERRIDE, HIDE, REVEAL, FREE = range(PAIRS)
ALL_PAIRS = frozenset((OVERRIDE, HIDE, REVEAL, FREE))
REDIRECTED: Final = (
    r"docs?\b|readme|changelog|\bbuild|\.md\b|vendor|dist/|\u6587\u6863|\u6587\u6a94"
    r"|\u6587\u66f8|\u30c9\u30ad\u30e5\u30e1\u30f3\u30c8"
    r"|\ubb38\uc11c|\ube4c\ub4dc|dokument|documenta|\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442"
)

FORBIDDEN: Final = fold_pattern(
    r"\u3057\u306a\u3044|\u306a\u3044\u3067|\u3055\u306a\u3044|\ud558\uc9c0 ?[\ub9c8\ub9d0]"
    r"|\u4e0d\u8981|\u8bf7\u52ff|\u8acb\u52ff|\u5207\u52ff|\u4e0d\u5f97|\u52ff|\b\u043d\u0435 "
    r"|\bnicht|niemals|\bkeine?\b"
    r"|\bne \w+ (?:pas|jamais)|\bno\b|\bnunca\b|\bnao\b|\bnon\b|\bnie\b|\bnigdy\b|\bniet\b"
    r"|\binte\b|\bikke\b|\bala\b|\u0645\u062a |\u0644\u0627 |\u05d0\u05dc |\u092e\u0924 "
    r"|\u0e2b\u0e49\u0e32\u0e21|\u0e2d\u0e22\u0e48\u0e32|\bjangan\b|\bdung\b|\bkhong\b"
)
"""Matches nearby words that forbid rather than request."""

ADDRESSED: Final = fold_pattern(
    r"admin|\bagent|asist|assist|\bbots?\b|\bai\b|\bdan\b|\broot\b|gpt"
    r"|\u043c\u043e\u0434\u0435\u043b|\u0430\u0433\u0435\u043d\u0442"
    r"|\u0430\u0434\u043c\u0438\u043d|\u0441\u043a\u0440\u0431\u043d\u0438\u043a"
    r"|\u0645\u062f\u064a\u0631|\u0648\u0643\u064a\u0644"
    r"|\u0645\u0633\u0627\u0639\u062f|\u0645\u062f\u06cc\u0631|\u7ba1\u7406|\u52a9\u624b"
    r"|\u4ee3\u7406|\u667a\u80fd|\u4f60|\u60a8|\u3042\u306a\u305f|\u541b"
    r"|\u30a8\u30fc\u30b8\u30a7\u30f3\u30c8|\u30a2\u30b7\u30b9\u30bf\u30f3\u30c8"
    r"|\uad00\ub9ac\uc790|\uc5d0\uc774\uc804\ud2b8|\ub2f9\uc2e0|\ub108\ub294"
    r"|\u05de\u05e0\u05d4\u05dc|\u05d0\u05ea\u05d4|\u0906\u092a|\u0924\u0941\u092e"
    r"|\u098f\u0996\u09a8|\u09a4\u09c1\u09ae\u09bf|\u0b89\u0ba9"
    r"|\u0b87\u0baa\u0bcd\u0baa\u0bcb\u0ba4\u0bc1|\u0e04\u0e38\u0e13|\b\u0622\u067e\b|\b\u062a\u0645\b"
    r"|\b(?:sen|ban|kamu|anda|ikaw|wewe|jij|du|tu|ty|te|jy|vi|esi|oled|si|olet)\b|spravc"
    r"|spravce|yonetici|beheerder|\u03b4\u03b9\u03b1\u03c7\u03b5\u03b9\u03c1"
)
"""Matches words that address the reader as an agent."""


class Patterns(Struct, frozen=True):
    """One language's compiled patterns."""

    override: re.Pattern[str]
    lapsed: re.Pattern[str] | None
    scope: re.Pattern[str]
    hush: re.Pattern[str]
    user: re.Pattern[str]
    reveal: re.Pattern[str]
    free: re.Pattern[str]


def languages_of_pair_bits(sides: int) -> list[tuple[Language, frozenset[int]]]:
    """Return the languages for which both sides of a pair occur, with the indices of these pairs."""
    library = load_language_table()
    both = sides & sides >> library.width
    found: dict[int, set[int]] = {}
    while both:
        place, pair = divmod((both & -both).bit_length() - 1, PAIRS)
        found.setdefault(place, set()).add(pair)
        both &= both - 1
    return [(library.spaced[place], frozenset(pairs)) for place, pairs in found.items()]


@cache
def patterns_of(language: Language) -> Patterns:
    """Compile one language's patterns."""
    words = language.words
    edge = r"(?<![^\W_])" if words.spaces else ""
    gap = r"[^.!?,;:\n\u3001\u3002\u060c\u0964\uff0c\uff1b]{0,48}?"
    part = {
        name: f"{edge}(?:{getattr(words, name)})"
        for name in ("forget", "orders", "scope", "hush", "user", "reveal", "prompt", "free")
    }

    lapsed = f"{edge}(?:{words.lapsed})" if words.lapsed else ""
    if lapsed:
        part["forget"] += f"|{lapsed}"
        part["forget"] = f"(?:{part['forget']})"

    def either(one: str, two: str) -> re.Pattern[str]:
        return re.compile(f"{part[one]}{gap}{part[two]}|{part[two]}{gap}{part[one]}")

    return Patterns(
        either("forget", "orders"),
        re.compile(lapsed) if lapsed else None,
        re.compile(part["scope"]),
        re.compile(part["hush"]),
        re.compile(part["user"]),
        either("reveal", "prompt"),
        re.compile(part["free"]),
    )


@cache
def spaceless() -> re.Pattern[str]:
    """Compile, on first use, the pattern for letters of scripts without spaces."""
    return re.compile(SPACELESS)


def languages_of_script(passage: str) -> list[Language]:
    """Return the languages without spaces whose letters occur in a passage."""
    letters = set(spaceless().findall(passage))
    return [
        language for language in load_language_table().spaceless if not language.letters.isdisjoint(letters)
    ]


def check_languages(
    passage: str, languages: Iterable[tuple[Language, frozenset[int]]]
) -> Iterator[tuple[str, int, int, Literal["info", "warn", "block"]]]:
    """Yield the rule, start, end and maximum severity of each match in a passage that may be in the given languages.

    Each language comes with the indices of its pairs of `keys` that occur.
    """
    redirected: bool | None = None
    for language, pairs in languages:
        patterns = patterns_of(language)
        for found in patterns.override.finditer(passage) if OVERRIDE in pairs else ():
            around = passage[max(0, found.start() - 24) : found.end() + 32]
            if patterns.scope.search(around):
                if redirected is None:
                    redirected = compiled(REDIRECTED).search(passage) is not None
                is_open = patterns.lapsed and patterns.lapsed.search(found.group())
                most = "warn" if is_open and not patterns.hush.search(passage) else "block"
                yield "override-other-language", *found.span(), "info" if redirected else most
        for found in patterns.hush.finditer(passage) if HIDE in pairs else ():
            if patterns.user.search(passage[max(0, found.start() - 32) : found.end() + 32]):
                yield "hide-other-language", *found.span(), "block"
        if REVEAL in pairs and (found := patterns.reveal.search(passage)):
            around = passage[max(0, found.start() - 12) : found.end() + 12]
            yield (
                "unbound-other-language",
                *found.span(),
                "info" if compiled(FORBIDDEN).search(around) else "block",
            )
        elif FREE in pairs and (found := patterns.free.search(passage)):
            around = passage[max(0, found.start() - 40) : found.end() + 24]
            yield (
                "unbound-other-language",
                *found.span(),
                "warn" if compiled(ADDRESSED).search(around) else "info",
            )
