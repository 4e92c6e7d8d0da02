"""Find sessions that contain every word of a query although no single passage does.

To limit reading, only the sessions that contain the rarest word are searched for the other words.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from hermes_acp.storage.search.search_queries import SearchExpression
from hermes_acp.storage.search.search_window import IS_WITHIN, SearchWindow

if TYPE_CHECKING:
    import sqlite3

MAX_OCCURRENCES: Final = 200
MAX_SESSIONS_SCANNED: Final = 40
WINDOW_CONDITION: Final = f""" AND EXISTS (SELECT 1 FROM passages JOIN records ON number = key >> :bits
    WHERE key = words.rowid AND {IS_WITHIN})"""


class SearchSpan:
    """The passages to search: those of one or all folders, except one session's, optionally within a window."""

    def __init__(
        self, place: str, left_out: int, position_bits: int, window: SearchWindow | None = None
    ) -> None:
        self._place = f'"{place}" AND ' if place else ""
        self._left_out = left_out
        self._bits = position_bits
        self._window = window

    def newest(self, connection: "sqlite3.Connection", expression: str, most: int) -> list[int]:
        """Return the keys of matching passages, newest first."""
        first, last = self._keys_of(self._left_out)
        values: dict[str, Any] = {"first": first, "last": last, "most": most}
        condition = "rowid NOT BETWEEN :first AND :last"
        if self._window:
            condition += " AND rowid <= :newest"
            values["newest"] = self._keys_of(self._window.last_number(connection))[1]
        return self._select(connection, expression, condition, values)

    def first_in(self, connection: "sqlite3.Connection", expression: str, number: int) -> int:
        """Return the key of a session's newest matching passage, or -1 if there is none."""
        first, last = self._keys_of(number)
        values: dict[str, Any] = {"first": first, "last": last, "most": 1}
        rows = self._select(connection, expression, "rowid BETWEEN :first AND :last", values)
        return rows[0] if rows else -1

    def _select(
        self, connection: "sqlite3.Connection", expression: str, condition: str, values: dict[str, Any]
    ) -> list[int]:
        if self._window:
            condition += WINDOW_CONDITION
            values |= {"bits": self._bits, "since": self._window.since, "until": self._window.until}
        rows = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH :match AND {condition} ORDER BY rowid DESC LIMIT :most",
            {"match": self._place + expression, **values},
        )
        return [row[0] for row in rows]

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
    """Return the keys of up to `most` passages, one for each word, newest session first.

    Skips the sessions of the `known` keys, which have already been found.
    """
    if len(query.groups) < 2 or most <= 0:
        return []
    by_group = {group: span.newest(connection, group, MAX_OCCURRENCES) for group in query.group_expressions()}
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
