"""Rank a small set of short documents by the words they contain.

There are at most a few thousand documents, so the index is built in memory for each search. Words are stemmed, and rare
words count more. Source: the FTS5 documentation, "The bm25() function".
"""

from collections.abc import Sequence
from contextlib import closing
from typing import Final

from msgspec import Struct

TOKENIZER: Final = "porter unicode61 remove_diacritics 2"


class WeightedQuery(Struct, frozen=True):
    """An FTS5 expression and the weight of its matches."""

    expression: str
    weight: float = 1.0


def rank_documents(
    documents: Sequence[Sequence[str]],
    field_weights: Sequence[float],
    queries: Sequence[WeightedQuery],
    limit: int,
) -> list[int]:
    """Return the numbers of the documents that match any query, best first.

    Each document is given as the texts of its fields. Blocks.
    """
    import sqlite3

    fields = [f"field_{number}" for number in range(len(field_weights))]
    weights = ", ".join(map(str, field_weights))
    scores: dict[int, float] = {}
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            f'CREATE VIRTUAL TABLE documents USING fts5({", ".join(fields)}, tokenize = "{TOKENIZER}")'
        )
        marks = ", ".join("?" for _ in range(len(fields) + 1))
        connection.executemany(
            f"INSERT INTO documents (rowid, {', '.join(fields)}) VALUES ({marks})",
            [(number, *texts) for number, texts in enumerate(documents)],
        )
        for query in queries:
            rows = connection.execute(
                f"SELECT rowid, bm25(documents, {weights}) FROM documents WHERE documents MATCH ?",
                (query.expression,),
            )
            for number, score in rows:
                scores[number] = scores.get(number, 0.0) + query.weight * score
    return sorted(scores, key=lambda number: (scores[number], number))[:limit]
