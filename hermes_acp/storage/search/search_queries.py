"""Parse search queries: words, "phrases", prefix*, OR; also for scripts without spaces.

User input is always quoted, so no query can be a syntax error. All words must match, with or without AND between them,
in one passage or at least in one session; OR between two words accepts either. Source: the FTS5 documentation,
"Full-text Query Syntax" and the unicode61 tokenizer.
"""

import re
import unicodedata
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.lazy_pattern import LazyPattern

MAX_TERMS: Final = 32
SNIPPET_CHARACTERS: Final = 240
WORD_SEPARATOR: Final = "\u200b"
OPEN, CLOSE = "\x02", "\x03"
_TERMS = LazyPattern(r'"([^"]*)(?:"(\*?)|$)|([^\s"]+)')
_SCRIPTS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = LazyPattern(f"(?<=[{_SCRIPTS}])(?=[^\\W_])|(?<=[^\\W_])(?=[{_SCRIPTS}])")
_CONTROLS = LazyPattern(r"[\x00-\x1f]")
_WORD = LazyPattern(r"[^\W_]+")


class Term(Struct, frozen=True):
    """One search term: consecutive words, of which the last may be a prefix."""

    text: str
    words: tuple[str, ...]
    is_prefix: bool = False

    def expression(self) -> str:
        """Return the term as an FTS5 expression; FTS5 splits the words itself."""
        return f'"{self.text}"{"*" if self.is_prefix else ""}'

    def pattern(self) -> str:
        """Return the term as a regular expression over folded text.

        The pattern starts with the word itself, so that a search can skip to it, and then checks what precedes it.
        """
        first = re.escape(self.words[0])
        pieces = [first] if _is_unspaced(self.words[0]) else [first, rf"(?<![^\W_]{first})"]
        for word in self.words[1:]:
            pieces += [r"[\W_]*" if _is_unspaced(word) else r"[\W_]+", re.escape(word)]
        if not (self.is_prefix or _is_unspaced(self.words[-1])):
            pieces.append(r"(?![^\W_])")
        return "".join(pieces)

    def compiled(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        return re.compile(self.pattern())


class SearchExpression(Struct, frozen=True):
    """A parsed query: every group must match, by any of its terms."""

    groups: tuple[tuple[Term, ...], ...]

    def expression(self) -> str:
        """Return the whole query as an FTS5 expression."""
        return " AND ".join(self.group_expressions())

    def group_expressions(self) -> tuple[str, ...]:
        """Return an FTS5 expression for each group."""
        return tuple(f"({' OR '.join(term.expression() for term in group)})" for group in self.groups)

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches any of the terms in folded text."""
        return re.compile("|".join(term.pattern() for group in self.groups for term in group))


def parse(text: str) -> SearchExpression:
    """Parse what a person typed. Raises BadRequest if it contains no word."""
    groups: list[tuple[Term, ...]] = []
    joins = False
    for count, found in enumerate(_TERMS.compiled.finditer(text.encode("utf-8", "replace").decode())):
        if count >= MAX_TERMS:
            break
        if found[3] in ("OR", "AND"):
            joins = found[3] == "OR" and bool(groups)
            continue
        plain = found[3] if found[3] is not None else found[1]
        is_prefix = found[2] == "*" if found[3] is None else plain.endswith("*")
        plain = separate_words(_CONTROLS.compiled.sub(" ", plain))
        words = tuple(fold(word) for word in _WORD.compiled.findall(plain))
        if not words:
            continue
        term = Term(plain.removesuffix("*"), words, is_prefix and len(words[-1]) > 1)
        if joins:
            groups[-1] = (*groups[-1], term)
        else:
            groups.append((term,))
        joins = False
    if not groups:
        raise BadRequest(
            f"There is no word to search for in {text[:80]!r}.", hint='Use words, "a phrase" or a prefix*.'
        )
    return SearchExpression(tuple(groups))


def separate_words(text: str) -> str:
    """Separate the characters of scripts written without spaces by an invisible character, so that each can be
    found.
    """
    return text if text.isascii() else _UNSPACED.compiled.sub(WORD_SEPARATOR, text)


def _is_unspaced(word: str) -> bool:
    return re.match(f"[{_SCRIPTS}]", word) is not None


def fold(text: str) -> str:
    """Return text in lower case without accents, with the same length."""
    if text.isascii():
        return text.lower()
    return "".join(_fold(character) for character in text)


def _fold(character: str) -> str:
    if character.isascii():
        return character.lower()
    plain = unicodedata.normalize("NFD", character)[0].lower()
    return plain if len(plain) == 1 else character


def snippet(text: str, query: SearchExpression) -> str:
    """Return the excerpt that covers most of the query, on one line, with each match between OPEN and CLOSE."""
    plain = text.replace(WORD_SEPARATOR, "").replace(OPEN, "").replace(CLOSE, "")
    finds = [found.span() for found in query.pattern().finditer(fold(plain))]
    start, end = _window(plain, finds)
    pieces: list[str] = ["…"] if start else []
    at = start
    for first, last in finds:
        if first >= at and last <= end:
            pieces += (plain[at:first], OPEN, plain[first:last], CLOSE)
            at = last
    pieces.append(plain[at:end])
    if end < len(plain):
        pieces.append("…")
    return " ".join("".join(pieces).split())


def excerpt(text: str) -> str:
    """Return the start of a string on one line."""
    plain = " ".join(text.replace(WORD_SEPARATOR, "").replace(OPEN, "").replace(CLOSE, "").split())
    return plain if len(plain) <= SNIPPET_CHARACTERS else f"{plain[: SNIPPET_CHARACTERS - 1]}…"


def _window(text: str, finds: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the span with the most matches, which starts at a word boundary slightly before the first match."""
    best, most = 0, 0
    right = 0
    for left, (first, _) in enumerate(finds):
        while right < len(finds) and finds[right][1] - first <= SNIPPET_CHARACTERS - 40:
            right += 1
        if right - left > most:
            best, most = first, right - left
    start = max(0, best - 40)
    if start and (space := text.find(" ", start, best)) >= 0:
        start = space + 1
    return start, min(len(text), start + SNIPPET_CHARACTERS)
