"""The time span that a search is limited to, and the user's prompts within it.

A passage without a time, from a version that recorded none, matches any time between its session's start and last
change.
"""

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.core.ports.recall_ports import RecallQuery

if TYPE_CHECKING:
    import sqlite3

MAX_PASSAGES_READ: Final = 5_000
END_OF_TIME: Final = 1e15
IS_WITHIN: Final = """CASE WHEN at IS NULL THEN created_at < :until AND updated_at >= :since
    ELSE at >= :since AND at < :until END"""


class SearchWindow(Struct, frozen=True):
    """The times from `since` until before `until`, in seconds since the epoch."""

    since: float
    until: float

    def last_number(self, connection: "sqlite3.Connection") -> int:
        """Return the number of the newest session that started before the end of the window, or -1."""
        (number,) = connection.execute(
            "SELECT max(number) FROM records WHERE created_at < ?", (self.until,)
        ).fetchone()
        return -1 if number is None else number


def window_of(asked: RecallQuery) -> SearchWindow | None:
    """Return the window of a query, or None if it has none."""
    if not asked.has_dates:
        return None
    since = 0.0 if asked.since is None else asked.since
    return SearchWindow(since, END_OF_TIME if asked.until is None else asked.until)


def requests_within(
    connection: "sqlite3.Connection", window: SearchWindow, asked: RecallQuery, position_bits: int
) -> tuple[list[int], bool]:
    """Return the keys of the user's prompts in a window, newest first, and whether the list is complete.

    For a session in which only the agent wrote within the window, return the agent's last passage.
    """
    rows = connection.execute(
        f"""SELECT key, speaker, number FROM passages JOIN records ON number = key >> :bits
            WHERE speaker IN ('user', 'agent') AND id <> :excluded AND (:cwd IS NULL OR cwd = :cwd)
            AND {IS_WITHIN} ORDER BY coalesce(at, updated_at) DESC, key DESC LIMIT :most""",
        {
            "bits": position_bits,
            "excluded": asked.excluded,
            "cwd": asked.cwd,
            "since": window.since,
            "until": window.until,
            "most": MAX_PASSAGES_READ,
        },
    ).fetchall()
    prompted = {number for _, speaker, number in rows if speaker == "user"}
    keys: list[int] = []
    taken = set(prompted)
    for key, speaker, number in rows:
        if speaker == "user" or number not in taken:
            taken.add(number)
            keys.append(key)
    return keys, len(rows) < MAX_PASSAGES_READ
