"""Find sessions that contain some of the words of a query, for questions that no session repeats word by word.

Words are weighted by rarity, whatever their ending; function words do not count. Only the newest occurrences of
each word are read, so a very common word costs no more than a rare one.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.storage.search.cross_passage_search import SearchSpan
from hermes_acp.storage.search.search_queries import SearchExpression, Term

if TYPE_CHECKING:
    import sqlite3

OCCURRENCES: Final = 200
MAX_SESSIONS_COMPARED: Final = 12
MIN_SHARE: Final = 0.5
"""The fraction of the best session's weight that other sessions must reach."""
MIN_STEM: Final = 4
ENDINGS: Final = ("ing", "ies", "ed", "es", "s", "e", "y")
_FUNCTION_WORDS: Final = """
a about after again all also am an and any are as at be because been before being but by can could did do does doing
each few for from further get gets got had has have having he her here hers him his how i if in into is it its just me
more most must my no nor not now of off on once only or other our ours out over own same she should so some such than
that the their theirs them then there these they this those through to too under until up us very was we were what when
where which while who whom whose why will with would you your yours
"""
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())


class PartialMatches(Struct, frozen=True):
    """The keys of passages that contain some words of a query, best session first, and the words as searched for."""

    keys: tuple[int, ...]
    query: SearchExpression


def find_partial_matches(
    connection: "sqlite3.Connection",
    query: SearchExpression,
    span: SearchSpan,
    known: Sequence[int],
    most: int,
) -> PartialMatches:
    """Find up to `most` passages, one for each session, except in the sessions of the `known` keys."""
    as_asked, query = query, relaxed(query)
    groups = query.group_expressions() if most > 0 else ()
    exact = {SearchExpression((_relaxed_group(each),)).expression(): each for each in as_asked.groups}
    newest = {group: span.newest(connection, group, OCCURRENCES) for group in groups}
    newest = {group: keys for group, keys in newest.items() if keys}
    (sessions,) = connection.execute("SELECT count(*) FROM records").fetchone()
    weights = {group: math.log(1.0 + sessions / _sessions_with(keys, span)) for group, keys in newest.items()}
    left_out = {span.session_of(key) for key in known}
    found: dict[int, dict[str, int]] = {}
    for group, keys in newest.items():
        for key in reversed(keys):
            if (number := span.session_of(key)) not in left_out:
                found.setdefault(number, {})[group] = key
    ranked = sorted(found, key=lambda number: (_weight(found[number], weights), number), reverse=True)
    compared = ranked[:MAX_SESSIONS_COMPARED]
    for number in compared:
        for group, keys in newest.items():
            if group not in found[number] and len(keys) == OCCURRENCES:
                # Use the word as it was typed, because searching one session for all of its forms would take too long.
                key = span.first_in(connection, SearchExpression((exact[group],)).expression(), number)
                if key >= 0:
                    found[number][group] = key
    compared.sort(key=lambda number: (_weight(found[number], weights), number), reverse=True)
    return PartialMatches(tuple(_best_keys(compared, found, weights, most)), query)


def relaxed(query: SearchExpression) -> SearchExpression:
    """Return the query without function words, in a form where word endings do not matter."""
    kept = (group for group in query.groups if not all(_is_function_word(term) for term in group))
    return SearchExpression(tuple(dict.fromkeys(_relaxed_group(group) for group in kept)))


def _relaxed_group(group: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the group in a form where word endings do not matter."""
    return tuple(_relaxed_term(term) for term in group)


def _relaxed_term(term: Term) -> Term:
    word = term.words[0]
    if term.is_prefix or len(term.words) > 1 or not word.isascii() or not word.isalpha():
        return term
    endings = (each for each in ENDINGS if word.endswith(each) and len(word) - len(each) >= MIN_STEM)
    stem = word.removesuffix(next(endings, ""))
    return Term(stem, (stem,), is_prefix=True) if len(stem) >= MIN_STEM else term


def _is_function_word(term: Term) -> bool:
    return len(term.words) == 1 and term.words[0] in FUNCTION_WORDS


def _sessions_with(keys: Sequence[int], span: SearchSpan) -> int:
    return len({span.session_of(key) for key in keys})


def _weight(matched: dict[str, int], weights: dict[str, float]) -> float:
    return sum(weights[group] for group in matched)


def _best_keys(
    ranked: Sequence[int], found: dict[int, dict[str, int]], weights: dict[str, float], most: int
) -> list[int]:
    """Return for each session the passage with the most weight, as long as sessions are comparable to the best."""
    keys: list[int] = []
    for number in ranked[:most]:
        matched = found[number]
        if _weight(matched, weights) < MIN_SHARE * _weight(found[ranked[0]], weights):
            break
        by_key: dict[int, float] = {}
        for group, key in matched.items():
            by_key[key] = by_key.get(key, 0.0) + weights[group]
        keys.append(max(by_key, key=lambda key: (by_key[key], -key)))
    return keys
