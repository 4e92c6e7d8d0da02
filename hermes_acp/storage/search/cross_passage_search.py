"""Find sessions that contain every word of a query although no single passage does.

To limit reading, only the sessions with the rarest word are searched for the other words.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from hermes_acp.storage.search.search_queries import SearchExpression

if TYPE_CHECKING:
    import sqlite3

OCCURRENCES: Final = 200
MAX_SESSIONS_SCANNED: Final = 40


class SearchSpan:
    """The passages to search: those of a place, or all, excluding one session."""

    def __init__(self, place: str, left_out: int, position_bits: int) -> None:
        self._place = f'"{place}" AND ' if place else ""
        self._left_out = left_out
        self._bits = position_bits

    def newest(self, connection: "sqlite3.Connection", expression: str, most: int) -> list[int]:
        """Return the keys of matching passages, newest first."""
        rows = connection.execute(
            """SELECT rowid FROM words
               WHERE words MATCH ? AND rowid NOT BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?""",
            (self._place + expression, *self._keys_of(self._left_out), most),
        )
        return [row[0] for row in rows]

    def first_in(self, connection: "sqlite3.Connection", expression: str, number: int) -> int:
        """Return the key of a session's newest matching passage, or -1 if there is none."""
        row = connection.execute(
            """SELECT rowid FROM words
               WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 1""",
            (self._place + expression, *self._keys_of(number)),
        ).fetchone()
        return row[0] if row else -1

    def _keys_of(self, number: int) -> tuple[int, int]:
        return number << self._bits, (number + 1 << self._bits) - 1

    def session_of(self, key: int) -> int:
        """Return the session number of a passage."""
        return key >> self._bits


def find_across_passages(
    connection: "sqlite3.Connection",
    query: SearchExpression,
    span: SearchSpan,
    known: Sequence[int],
    most: int,
) -> list[int]:
    """Return the keys of up to `most` passages, newest session first, one for each word.

    Sessions of the `known` keys are already found.
    """
    if len(query.groups) < 2 or most <= 0:
        return []
    by_group = {group: span.newest(connection, group, OCCURRENCES) for group in query.group_expressions()}
    if not all(by_group.values()):
        return []
    rarest = min(by_group, key=lambda group: (len(by_group[group]), by_group[group][-1]))
    newest = {span.session_of(key): key for key in reversed(by_group[rarest])}
    for key in known:
        newest.pop(span.session_of(key), None)
    found: list[int] = []
    for number in sorted(newest, reverse=True)[:MAX_SESSIONS_SCANNED]:
        others = (span.first_in(connection, group, number) for group in by_group if group != rarest)
        keys = [newest[number], *takewhile(lambda key: key >= 0, others)]
        if len(keys) == len(by_group):
            found += dict.fromkeys(keys)
            if len(found) >= most:
                break
    return found[:most]
