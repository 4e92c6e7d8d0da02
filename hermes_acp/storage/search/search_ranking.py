"""Rank the passages that match a query with BM25 over a few hundred candidates.

FTS5 can rank results itself, but it first counts the occurrences of each word in the whole index. For a very common
word, that alone exceeds the time limit of a search. Instead, a word's rarity is estimated from how far back its newest
occurrences reach. Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from hermes_acp.storage.search.search_queries import SearchExpression, Term, fold

if TYPE_CHECKING:
    import re
    import sqlite3

SATURATION: Final = 1.2
LENGTH_WEIGHT: Final = 0.75
READ_CHARACTERS: Final = 4_000
OCCURRENCES: Final = 200
MAX_PASSAGES_PER_SESSION: Final = 100


def relevances(
    connection: "sqlite3.Connection", query: SearchExpression, keys: Sequence[int], position_bits: int
) -> dict[int, float]:
    """Return a relevance above 0 for each key of a matching passage; higher is better."""
    rows: list[tuple[int, str, int]] = connection.execute(
        """SELECT key, substr(text, 1, ?), length(text) FROM passages
           WHERE key IN (SELECT value FROM json_each(?))""",
        (READ_CHARACTERS, msgspec.json.encode(keys).decode()),
    ).fetchall()
    if not rows:
        return {}
    weights = _weights(connection, query, position_bits)
    usual_length = sum(length for _, _, length in rows) / len(rows) or 1.0
    return {key: _relevance(fold(text), length / usual_length, weights) for key, text, length in rows}


def _relevance(text: str, relative_length: float, weights: "list[tuple[re.Pattern[str], float]]") -> float:
    """Weigh term frequencies against the text's length. A match beyond the part that was read counts once."""
    damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative_length)
    relevance = 0.0
    for pattern, rarity in weights:
        count = len(pattern.findall(text))
        relevance += rarity * count * (SATURATION + 1.0) / (count + damping)
    return relevance or min(rarity for _, rarity in weights) / (1.0 + damping)


def _weights(
    connection: "sqlite3.Connection", query: SearchExpression, position_bits: int
) -> "list[tuple[re.Pattern[str], float]]":
    """Return the pattern and the rarity of every term. Prefixes count as common, because they match many words."""
    terms = [term for group in query.groups for term in group]
    if len(terms) == 1:
        return [(terms[0].compiled(), 1.0)]
    rarities = [1.0 if term.is_prefix else _rarity(connection, term, position_bits) for term in terms]
    return [(term.compiled(), rarity) for term, rarity in zip(terms, rarities, strict=True)]


def _rarity(connection: "sqlite3.Connection", term: Term, position_bits: int) -> float:
    """Estimate the logarithm of the inverse passage frequency of the term."""
    keys = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?",
        (term.expression(), OCCURRENCES),
    ).fetchall()
    oldest = keys[-1][0] >> position_bits if len(keys) == OCCURRENCES else 0
    (sessions,) = connection.execute("SELECT count(*) FROM records WHERE number >= ?", (oldest,)).fetchone()
    return math.log(1.0 + sessions * MAX_PASSAGES_PER_SESSION / max(1, len(keys)))
