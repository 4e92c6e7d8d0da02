"""Full-text search of skills.

There are few skills, so the index is built in memory for each search. Skills that match more words come first;
those that match none are left out. Source: the FTS5 documentation, "The bm25() function".
"""

from collections.abc import Sequence
from contextlib import closing
from typing import Final

from hermes_acp.skills.skill_collection import Skill
from hermes_acp.storage.search.search_queries import parse, spaced

WEIGHTS: Final = "8.0, 4.0, 1.0"
MAX_RESULTS: Final = 10


def search_skills(skills: Sequence[Skill], words: str) -> list[Skill]:
    """Return the skills that contain any of the words, best first. Raises BadRequest for a query without words."""
    import sqlite3

    query = " OR ".join(parse(words).group_expressions())
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            """CREATE VIRTUAL TABLE skills USING fts5(
                name, about, body, tokenize = "porter unicode61 remove_diacritics 2"
            )"""
        )
        connection.executemany(
            "INSERT INTO skills (rowid, name, about, body) VALUES (?, ?, ?, ?)",
            [
                (
                    number,
                    each.name.replace("-", " "),
                    spaced(each.document.description),
                    spaced(each.document.body),
                )
                for number, each in enumerate(skills)
            ],
        )
        rows = connection.execute(
            f"SELECT rowid FROM skills WHERE skills MATCH ? ORDER BY bm25(skills, {WEIGHTS}), rowid LIMIT ?",
            (query, MAX_RESULTS),
        )
        return [skills[number] for (number,) in rows]
